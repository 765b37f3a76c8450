// A pure 64-bit hash of text, for fingerprints and derived ids; not for secrets.

/** Two 32-bit words. */
export type Hash = readonly [number, number];

export const NO_HASH: Hash = [0, 0];

/** cyrb53's mixing over UTF-16 units, both of its words kept. */
export function hashText(text: string, seed: Hash = NO_HASH): Hash {
  let a = 0xdeadbeef ^ seed[0];
  let b = 0x41c6ce57 ^ seed[1];
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    a = Math.imul(a ^ unit, 2654435761);
    b = Math.imul(b ^ unit, 1597334677);
  }
  return finish(a, b);
}

/** The hash of a sequence, from that of its beginning and that of the next item. */
export const chainHash = (before: Hash, next: Hash): Hash => {
  const a = Math.imul(Math.imul(before[0] ^ next[0], 2654435761) ^ next[1], 2246822507);
  const b = Math.imul(Math.imul(before[1] ^ next[1], 1597334677) ^ next[0], 3266489909);
  return finish(a ^ before[1], b ^ before[0]);
};

function finish(a: number, b: number): Hash {
  let x = Math.imul(a ^ (a >>> 16), 2246822507) ^ Math.imul(b ^ (b >>> 13), 3266489909);
  let y = Math.imul(b ^ (b >>> 16), 2246822507) ^ Math.imul(a ^ (a >>> 13), 3266489909);
  x ^= x >>> 15;
  y ^= y >>> 14;
  return [x >>> 0, y >>> 0];
}

/** Sixteen hex digits. */
export const hexOf = (hash: Hash): string => hash.map((word) => word.toString(16).padStart(8, '0')).join('');
