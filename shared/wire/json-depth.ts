// How deep a JSON value nests, without recursing deeper than asked: no input overflows the stack.

/** Levels of arrays and objects; `max` + 1 where it is deeper. */
export function depthOf(value: unknown, max: number): number {
  if (typeof value !== 'object' || value === null) return 0;
  if (max <= 0) return 1;
  let deepest = 0;
  for (const inner of Object.values(value)) {
    deepest = Math.max(deepest, depthOf(inner, max - 1));
    if (deepest >= max) break;
  }
  return deepest + 1;
}
