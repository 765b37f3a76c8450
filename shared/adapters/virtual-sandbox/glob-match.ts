// Globs as tools and ripgrep write them: `*`, `?`, `[…]`, `{a,b}`, `**`. No recursion into the pattern's own nesting beyond a cap,
// no backtracking over more than one star at a time: the time is bounded by pattern × path.

const ALTERNATIVES_MAX = 500;

/** Whether a path relative to the root matches; a pattern without a slash matches names at any depth. */
export function compileGlob(pattern: string): ((path: string) => boolean) | { readonly error: string } {
  const patterns = expandBraces(pattern);
  if (patterns === null) return { error: `the pattern has more than ${ALTERNATIVES_MAX} alternatives` };
  const compiled = patterns.map((one) =>
    (one.includes('/') ? one : `**/${one}`).split('/').filter((part) => part !== ''),
  );
  return (path) => {
    const segments = path.split('/');
    return compiled.some((parts) => matchSegments(parts, segments));
  };
}

/** All alternatives of `{a,b}`, or null where there are too many. Numeric ranges stay as they are: they are no globs. */
function expandBraces(pattern: string): readonly string[] | null {
  let open: readonly string[] = [pattern];
  const done: string[] = [];
  while (open.length > 0) {
    const next: string[] = [];
    for (const one of open) {
      const brace = findBrace(one);
      if (!brace) done.push(one);
      else for (const choice of brace.choices) next.push(one.slice(0, brace.start) + choice + one.slice(brace.end));
      if (done.length + next.length > ALTERNATIVES_MAX) return null;
    }
    open = next;
  }
  return done;
}

/** The first balanced brace group with a comma at its own level. */
function findBrace(pattern: string): { start: number; end: number; choices: readonly string[] } | undefined {
  for (let start = pattern.indexOf('{'); start >= 0; start = pattern.indexOf('{', start + 1)) {
    const choices: string[] = [];
    let depth = 0;
    let from = start + 1;
    for (let i = start; i < pattern.length; i++) {
      const char = pattern[i];
      if (char === '{') depth++;
      if (char === '}') depth--;
      if ((char === ',' && depth === 1) || depth === 0) {
        choices.push(pattern.slice(from, i));
        from = i + 1;
      }
      if (depth === 0 && choices.length > 1) return { start, end: i + 1, choices };
      if (depth === 0) break;
    }
  }
  return undefined;
}

/** Path segments against pattern segments; `**` stands for any number of them. Greedy with one fallback, as in `matchName`. */
function matchSegments(parts: readonly string[], segments: readonly string[]): boolean {
  let p = 0;
  let s = 0;
  let starAt = -1;
  let resume = 0;
  while (s < segments.length) {
    const part = parts[p];
    if (part === '**') {
      starAt = p++;
      resume = s;
    } else if (part !== undefined && matchName(part, segments[s] as string)) {
      p++;
      s++;
    } else if (starAt >= 0) {
      p = starAt + 1;
      s = ++resume;
    } else return false;
  }
  return p === parts.length;
}

/** One name against one pattern segment. */
function matchName(pattern: string, name: string): boolean {
  let p = 0;
  let n = 0;
  let starAt = -1;
  let resume = 0;
  while (n < name.length) {
    const step = pattern[p] === '*' ? 0 : matchOne(pattern, p, name[n] as string);
    if (pattern[p] === '*') {
      starAt = p++;
      resume = n;
    } else if (step > 0) {
      p += step;
      n++;
    } else if (starAt >= 0) {
      p = starAt + 1;
      n = ++resume;
    } else return false;
  }
  while (pattern[p] === '*') p++;
  return p === pattern.length;
}

/** Characters of the pattern used up by matching `char` at `at`; 0 where it does not match. */
function matchOne(pattern: string, at: number, char: string): number {
  const head = pattern[at];
  if (head === undefined) return 0;
  if (head === '?') return 1;
  if (head === '\\' && at + 1 < pattern.length) return pattern[at + 1] === char ? 2 : 0;
  const end = head === '[' ? pattern.indexOf(']', at + 2) : -1;
  if (end < 0) return head === char ? 1 : 0;
  const set = pattern.slice(at + 1, end);
  const negated = set[0] === '!' || set[0] === '^';
  return inSet(negated ? set.slice(1) : set, char) === negated ? 0 : end + 1 - at;
}

function inSet(set: string, char: string): boolean {
  for (let i = 0; i < set.length; i++) {
    const from = set[i] as string;
    const to = set[i + 1] === '-' && i + 2 < set.length ? (set[i + 2] as string) : from;
    if (char >= from && char <= to) return true;
    if (to !== from) i += 2;
  }
  return false;
}
