// The query of a request as an object for its schema: `name[]` collects, everything else is the last value given.

/** Arrays may be sent with and without the brackets. */
export function readQuery(url: string, arrays: ReadonlySet<string>): Record<string, string | string[]> {
  const at = url.indexOf('?');
  if (at < 0) return {};
  const query: Record<string, string | string[]> = Object.create(null);
  for (const [key, value] of new URLSearchParams(url.slice(at + 1))) {
    const name = arrays.has(`${key}[]`) ? `${key}[]` : key;
    if (!arrays.has(name)) {
      query[name] = value;
      continue;
    }
    const before = query[name];
    if (Array.isArray(before)) before.push(value);
    else query[name] = [value];
  }
  return query;
}

/** The names of a query schema that collect several values. */
export const arraysOf = (schema: unknown): ReadonlySet<string> => {
  const shape = (schema as { readonly shape?: Readonly<Record<string, unknown>> } | undefined)?.shape ?? {};
  return new Set(Object.keys(shape).filter((name) => name.endsWith('[]')));
};
