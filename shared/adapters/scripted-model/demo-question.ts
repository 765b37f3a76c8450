// A question taken apart by its words: clauses, what each asks for, and which columns and values of a table it names.

import { fileNamesIn } from './demo-files.ts';
import { cells, isNumeric, type Operation, type Table, toNumber } from './demo-table.ts';

export interface Clause {
  /** Without file names, whose words would look like columns. */
  readonly text: string;
  /** Names of files to look into; what is to be written is not among them. */
  readonly files: readonly string[];
  readonly operations: readonly Operation[];
  readonly asks: ReadonlySet<'mode' | 'list' | 'lookup' | 'compare' | 'distinct' | 'write'>;
}

const OPERATIONS: readonly (readonly [Operation, RegExp])[] = [
  ['count', /\b(how many|number of|counts?)\b/i],
  ['sum', /\b(sum|totals?|altogether|overall|how much|add up)\b/i],
  ['average', /\b(averages?|mean|avg)\b/i],
  ['median', /\bmedian\b/i],
  ['max', /\b(max|maximum|highest|largest|most|biggest|best|top|greatest|longest)\b/i],
  ['min', /\b(min|minimum|lowest|smallest|least|fewest|cheapest|shortest|worst)\b/i],
];
const ASKS = [
  ['mode', /\b(most (often|common|frequent(ly)?)|(occurs?|appears?|used) (the )?most)\b/i],
  ['list', /\b(list|show|which are|what are|name (all|the)|distinct|unique)\b/i],
  ['lookup', /\b(look(s|ed)? (it |that |this )?up|looks? up|its)\b/i],
  ['compare', /\b(compare|difference|in both|missing|only in|differ)\b/i],
  ['distinct', /\b(different|distinct|unique)\b/i],
  ['write', /\b(write|save|store|export|put|create|produce|report)\b/i],
] as const;

const SPLIT =
  /[.?!;:]+\s+|\n+|,?\s+(?:and|then)\s+(?=(?:then|also|which|what|how|list|look|write|save|show|compute|tell|find|give|compare|count|put|store|export|create)\b)/i;
const TARGET = /\b(?:to|into|in|as|file|called|named)\s+["'`]?(\/[\w./-]+|[\w-]+\.\w+)/gi;
const WRITING = /\b(?:write|save|store|export|put|create|produce)\b/i;

/** The file that the question wants written, or null; `report.md` where it gives no name. */
export function targetOf(question: string): string | null {
  const verb = WRITING.exec(question);
  if (verb === null) return null;
  const targets = [...question.slice(verb.index).matchAll(TARGET)].map((m) => (m[1] ?? '').replace(/[.,;]+$/, ''));
  const target = targets.find((t) => t.includes('/outputs')) ?? targets.find((t) => /\.\w+$/.test(t)) ?? targets[0];
  if (target === undefined)
    return /\b(report|summary|file|result)\b/i.test(question) ? '/mnt/session/outputs/report.md' : null;
  const path = target.startsWith('/') ? target : `/mnt/session/outputs/${target}`;
  return /\.\w+$/.test(path) ? path : `${path.replace(/\/$/, '')}/report.md`;
}

export function clausesOf(question: string): readonly Clause[] {
  const target = targetOf(question);
  return question
    .split(SPLIT)
    .filter((part) => part.trim() !== '')
    .map((part) => {
      const names = fileNamesIn(part);
      const text = names
        .reduce((rest, name) => rest.replaceAll(name, ' '), part)
        .replace(/\/mnt\/session\/\w*\/?/g, ' ');
      return {
        text,
        files: names.filter((name) => target === null || !target.endsWith(name)).map(baseName),
        operations: OPERATIONS.filter(([, words]) => words.test(text)).map(([operation]) => operation),
        asks: new Set(ASKS.filter(([, words]) => words.test(text)).map(([ask]) => ask)),
      };
    });
}

export interface Mention {
  readonly column: string;
  readonly at: number;
  /** How the column stands in the clause: `per region`, `which region`, or plainly. */
  readonly place: 'group' | 'label' | 'plain';
}

/** Columns of `table` that a text names, whole names before parts of names, then in the order of the text. */
export function mentionsOf(table: Table, text: string): readonly Mention[] {
  const whole = table.columns.flatMap((column) => findWords(text, wordsOf(column).join(' '), column));
  const taken = whole.map((m) => text.slice(m.at).toLowerCase());
  const parts = table.columns
    .filter((column) => !whole.some((m) => m.column === column))
    .flatMap((column) =>
      wordsOf(column)
        .filter((w) => w.length > 2)
        .flatMap((word) => findWords(text, word, column)),
    )
    .filter((m) => !taken.some((t) => t === text.slice(m.at).toLowerCase()));
  const byColumn = new Map<string, Mention>();
  for (const mention of [...whole.toSorted((a, b) => a.at - b.at), ...parts.toSorted((a, b) => a.at - b.at)]) {
    const known = byColumn.get(mention.column);
    if (known === undefined || (known.place === 'plain' && mention.place !== 'plain'))
      byColumn.set(mention.column, mention);
  }
  return [...byColumn.values()];
}

/** `unitPrice (EUR)` and `unit_price` are the words unit, price. */
const wordsOf = (column: string): readonly string[] =>
  column
    .replace(/\(.*?\)/g, ' ')
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');

function findWords(text: string, words: string, column: string): readonly Mention[] {
  if (words === '') return [];
  const stem = words.replace(/ies$/, 'y').replace(/(?<=..)s$/, '');
  const stemPattern = stem.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll(' ', '[ _-]');
  const plural = stemPattern.endsWith('y')
    ? `(?:${stemPattern}|${stemPattern.slice(0, -1)}ies)`
    : `${stemPattern}(?:e?s(?:es)?)?`;
  const quoted = words.length < 2 ? `["'\`]${plural}["'\`]` : plural;
  return [...text.matchAll(new RegExp(`(?<![\\p{L}\\p{N}])${quoted}(?![\\p{L}\\p{N}])`, 'giu'))].map((match) => ({
    column,
    at: match.index,
    place: placeOf(text.slice(0, match.index)),
  }));
}

function placeOf(before: string): Mention['place'] {
  if (/\b(per|by|each|every)\s+(the\s+)?["'`]?$/i.test(before)) return 'group';
  return /\b(which|what|whose)\s+(value of |values of |is the |the )?["'`]?$/i.test(before) ? 'label' : 'plain';
}

export interface Filter {
  readonly column: string;
  readonly words: string;
  readonly keeps: (cell: string) => boolean;
}

const MORE = /\b(?:over|above|more than|greater than|at least|after)\s+\$?(\d[\d,.]*)/i;
const LESS = /\b(?:under|below|less than|fewer than|at most|before)\s+\$?(\d[\d,.]*)/i;

/** Restrictions that a text puts on rows: a value of a column that it names, or a number that a column is to pass. */
export function filtersOf(table: Table, text: string): readonly Filter[] {
  const filters: Filter[] = [];
  const named = new Set(mentionsOf(table, text).map((m) => m.column.toLowerCase()));
  for (const column of table.columns) {
    if (isNumeric(table, column)) continue;
    const values = [...new Set(cells(table, column))].filter(
      (v) => v.length > 1 && v.length < 60 && !named.has(v.toLowerCase()),
    );
    if (values.length > 2000) continue;
    const found = values.filter((value) => namesValue(text, value, wordsOf(column).at(-1) ?? ''));
    if (found.length === 0) continue;
    filters.push({ column, words: `${column} = ${found.join(' or ')}`, keeps: (cell) => found.includes(cell) });
  }
  const measure = mentionsOf(table, text).find((m) => isNumeric(table, m.column))?.column;
  for (const [pattern, sign] of [
    [MORE, 1],
    [LESS, -1],
  ] as const) {
    const match = pattern.exec(text);
    const bound = toNumber(match?.[1]?.replace(/[.,]$/, '') ?? '');
    if (match === null || bound === null || measure === undefined) continue;
    const inclusive = /at (least|most)/i.test(match[0]);
    const keeps = (cell: string) => {
      const value = toNumber(cell);
      return value !== null && (inclusive ? (value - bound) * sign >= 0 : (value - bound) * sign > 0);
    };
    filters.push({ column: measure, words: `${measure} ${match[0]}`, keeps });
  }
  return filters;
}

/** Short values are words of a language too often: they count with their own capitals, in quotes, and beside their column's name. */
function namesValue(text: string, value: string, columnWord: string): boolean {
  const isBeside = (at: number) =>
    text.slice(0, at).toLowerCase().endsWith(`${columnWord} `) ||
    text
      .slice(at + value.length)
      .toLowerCase()
      .startsWith(` ${columnWord}`);
  const hay = value.length < 4 ? text : text.toLowerCase();
  const needle = value.length < 4 ? value : value.toLowerCase();
  for (let at = hay.indexOf(needle); at !== -1; at = hay.indexOf(needle, at + 1)) {
    const around = `${hay[at - 1] ?? ' '}${hay[at + needle.length] ?? ' '}`;
    if (!/[\p{L}\p{N}]/u.test(around)) {
      return value.length >= 4 || /["'`]/.test(around) || /[A-Z0-9]/.test(value) || isBeside(at);
    }
  }
  return false;
}

const baseName = (path: string): string => path.slice(path.lastIndexOf('/') + 1);
