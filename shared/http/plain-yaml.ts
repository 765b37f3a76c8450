// Reads the YAML that `npm run openapi` writes, so that the page needs no package: maps, lists, one scalar per line.

interface Line {
  readonly indent: number;
  readonly text: string;
}
interface Read {
  readonly value: unknown;
  /** The index of the first line behind it. */
  readonly next: number;
}

const KEY = /^("(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^\s"'{[][^:]*):(?: (.*))?$/;
const isItem = (text: string): boolean => text.startsWith('- ');

/** The document; of text in another layout only what comes before the first line that does not fit. */
export function readPlainYaml(text: string): unknown {
  const lines = text.split('\n').flatMap((line): Line[] => {
    const trimmed = line.trim();
    return trimmed === '' ? [] : [{ indent: line.length - line.trimStart().length, text: trimmed }];
  });
  const [first] = lines;
  return first ? readBlock(lines, 0, first).value : null;
}

/** `first` stands in the place of the line at `at`: what follows the dash of a list's item is a block of its own. */
function readBlock(lines: readonly Line[], at: number, first: Line): Read {
  return isItem(first.text) ? readList(lines, at, first) : readMap(lines, at, first);
}

function readList(lines: readonly Line[], start: number, first: Line): Read {
  const items: unknown[] = [];
  let at = start;
  for (let line: Line | undefined = first; line?.indent === first.indent && isItem(line.text); line = lines[at]) {
    const inner = { indent: line.indent + 2, text: line.text.slice(2) };
    const { value, next } = KEY.test(inner.text)
      ? readMap(lines, at, inner)
      : { value: scalarOf(inner.text), next: at + 1 };
    items.push(value);
    at = next;
  }
  return { value: items, next: at };
}

function readMap(lines: readonly Line[], start: number, first: Line): Read {
  const entries: [string, unknown][] = [];
  let at = start;
  for (let line: Line | undefined = first; line?.indent === first.indent; line = lines[at]) {
    const [, key, rest] = KEY.exec(line.text) ?? [];
    if (key === undefined) break;
    const below = lines[at + 1];
    const nested = rest === undefined && below !== undefined && below.indent > first.indent;
    const { value, next } = nested
      ? readBlock(lines, at + 1, below)
      : { value: rest === undefined ? null : scalarOf(rest), next: at + 1 };
    entries.push([String(scalarOf(key, true)), value]);
    at = next;
  }
  return { value: Object.fromEntries(entries), next: at };
}

const WORDS: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ['true', true],
  ['false', false],
  ['null', null],
]);

function scalarOf(text: string, isKey = false): unknown {
  if (text.startsWith('"')) return JSON.parse(text);
  if (text.startsWith("'")) return text.slice(1, -1).replaceAll("''", "'");
  if (isKey) return text;
  if (text === '{}') return {};
  if (text === '[]') return [];
  if (WORDS.has(text)) return WORDS.get(text);
  return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text;
}
