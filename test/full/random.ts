// Random numbers that a seed repeats.

export interface Random {
  /** From `min` to `max`, both included. */
  int(min: number, max: number): number;
  /** True in this share of cases, 0 to 1. */
  share(part: number): boolean;
}

/** Mulberry32. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  return { int: (min, max) => min + Math.floor(next() * (max - min + 1)), share: (part) => next() < part };
}
