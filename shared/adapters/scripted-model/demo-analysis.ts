// The files of a question, read: which table each clause is about, joins and look-ups between tables, searches in plain text.

import { computeClause } from './demo-compute.ts';
import { describeRow, type Result } from './demo-figures.ts';
import type { ReadFile } from './demo-files.ts';
import { type Clause, clausesOf, filtersOf, mentionsOf } from './demo-question.ts';
import {
  cells,
  formatNumber,
  groupBy,
  isNumeric,
  joinTables,
  numbers,
  parseTable,
  reduceNumbers,
  type Table,
} from './demo-table.ts';

export interface Analysis {
  readonly lines: readonly string[];
  /** For the report: the last figures that came as a table. */
  readonly figures: { readonly columns: readonly string[]; readonly rows: readonly (readonly string[])[] } | null;
}

const SHOWN_MAX = 20;

export function analyseFiles(question: string, files: readonly ReadFile[]): Analysis {
  const parsed = files.map((file) => ({ file, table: parseTable(file.name, file.text) }));
  const tables = parsed.flatMap(({ table }) => table ?? []);
  const texts = parsed.filter(({ table }) => table === null).map(({ file }) => file);
  const results: Result[] = [];
  const lines: string[] = [];
  for (const clause of clausesOf(question)) {
    const before = results.findLast((r) => r.top !== null)?.top ?? null;
    const looked = clause.asks.has('lookup') && before !== null ? lookUp(clause, tables, before) : [];
    const compared = clause.asks.has('compare') && clause.operations.length === 0 ? compareTables(tables) : [];
    lines.push(...looked, ...compared);
    if (looked.length + compared.length > 0) continue;
    const table = chooseTable(clause, tables, results.at(-1)?.table);
    const result = table === null ? null : computeClause(clause, table);
    if (result === null) continue;
    results.push(result);
    lines.push(...result.lines);
  }
  for (const file of texts) lines.push(...searchText(question, file));
  if (lines.length === 0) for (const table of tables) lines.push(...describeTable(table));
  const last = results.findLast((r) => r.rows.length > 0);
  return { lines, figures: last ?? null };
}

/** The one file that a clause names, else the table with most of its columns, else the one spoken of before; joined where one table lacks columns. */
function chooseTable(clause: Clause, tables: readonly Table[], before: Table | undefined): Table | null {
  const named = tables.filter((t) => clause.files.includes(t.name));
  if (named.length === 1 && named[0] !== undefined) return named[0];
  const columnsOf = (table: Table) =>
    [...mentionsOf(table, clause.text), ...filtersOf(table, clause.text)].map((m) => m.column);
  const score = (table: Table) => new Set(columnsOf(table)).size + (table.name === before?.name ? 0.5 : 0);
  const [best, ...others] = (named.length > 0 ? named : tables).toSorted((a, b) => score(b) - score(a));
  if (best === undefined) return null;
  const lacks = (table: Table) => columnsOf(table).some((column) => !best.columns.includes(column));
  const other = others.find((table) => lacks(table) && commonColumn(best, table) !== undefined);
  if (other === undefined) return best;
  // Each row of the longer table is kept, with what the other one says about it.
  const [left, right] = best.rows.length >= other.rows.length ? [best, other] : [other, best];
  return joinTables(left, right, commonColumn(left, right) ?? '');
}

const commonColumn = (a: Table, b: Table): string | undefined =>
  a.columns.find((c) => c !== '' && b.columns.includes(c));

function lookUp(clause: Clause, tables: readonly Table[], top: NonNullable<Result['top']>): readonly string[] {
  const named = tables.find((t) => clause.files.includes(t.name));
  const table = named ?? tables.find((t) => mentionsOf(t, clause.text).some((m) => m.column !== top.column));
  if (table === undefined) return [];
  const column = table.columns.includes(top.column) ? top.column : table.columns[0];
  const rows = column === undefined ? [] : (groupBy(table, column).get(top.value)?.rows ?? []);
  if (rows.length === 0) return [`${table.name} has no row with ${column} = ${top.value}.`];
  return rows.slice(0, SHOWN_MAX).map((row) => `In ${table.name}: ${describeRow(table, row)}.`);
}

function compareTables([a, b]: readonly Table[]): readonly string[] {
  if (a === undefined || b === undefined) return [];
  const sizes = [a, b].map((t) => `${t.name} has ${t.rows.length} rows with ${t.columns.join(', ')}.`);
  const column = commonColumn(a, b);
  if (column === undefined) return [...sizes, `${a.name} and ${b.name} have no column in common.`];
  const [inA, inB] = [new Set(cells(a, column)), new Set(cells(b, column))];
  const list = (values: ReadonlySet<string>) =>
    values.size === 0
      ? 'none'
      : `${values.size} (${[...values].slice(0, SHOWN_MAX).join(', ')}${values.size > SHOWN_MAX ? ', …' : ''})`;
  const shared = a.columns.filter((c) => b.columns.includes(c) && isNumeric(a, c) && isNumeric(b, c));
  const totals = shared.map((c) => {
    const [left, right] = [a, b].map((t) => reduceNumbers(numbers(t, c), 'sum') ?? 0);
    const difference = formatNumber((right ?? 0) - (left ?? 0));
    return `Total ${c}: ${formatNumber(left ?? 0)} in ${a.name}, ${formatNumber(right ?? 0)} in ${b.name}, difference ${difference}.`;
  });
  return [
    ...sizes,
    `Values of ${column} in both: ${inA.intersection(inB).size}; only in ${a.name}: ${list(inA.difference(inB))}; only in ${b.name}: ${list(inB.difference(inA))}.`,
    ...totals,
  ];
}

function describeTable(table: Table): readonly string[] {
  const columns = table.columns.map((column) => {
    if (!isNumeric(table, column)) return `- ${column}: ${new Set(cells(table, column)).size} different values`;
    const values = numbers(table, column);
    const [sum = 0, average = 0, min = 0, max = 0] = (['sum', 'average', 'min', 'max'] as const).map(
      (o) => reduceNumbers(values, o) ?? 0,
    );
    return `- ${column}: ${formatNumber(min)} to ${formatNumber(max)}, average ${formatNumber(average, 2)}, total ${formatNumber(sum)}`;
  });
  const [first] = table.rows;
  const example = first === undefined ? [] : [`The first row: ${describeRow(table, first)}.`];
  return [`${table.name} has ${table.rows.length} rows and ${table.columns.length} columns:`, ...columns, ...example];
}

/** Counts where they are asked for; else the lines that share rare words with the question, or the first ones. */
function searchText(question: string, file: ReadFile): readonly string[] {
  const lines = file.text.replace(/\n$/, '').split('\n');
  const words = file.text.split(/\s+/).filter((w) => w !== '');
  const occurring =
    /how (?:many times|often) (?:does|do|is|are)?\s*(?:the word\s+)?["'`“]?([^"'`”?]+?)["'`”]?\s+(?:occur|appear|mentioned|used)/i.exec(
      question,
    )?.[1];
  if (occurring !== undefined) {
    const count = file.text.toLowerCase().split(occurring.toLowerCase()).length - 1;
    return [`"${occurring}" occurs ${count} times in ${file.name}.`];
  }
  if (/\b(how many|number of|count).*\b(lines|words|characters)\b/i.test(question)) {
    return [`${file.name} has ${lines.length} lines, ${words.length} words and ${file.text.length} characters.`];
  }
  const asked = (question.toLowerCase().match(/[\p{L}\p{N}]{4,}/gu) ?? []).filter(
    (w) => !file.name.toLowerCase().includes(w),
  );
  const share = (line: string) => asked.filter((w) => line.toLowerCase().includes(w)).length;
  const ranked = lines.map((line, i) => ({ line, i, score: share(line) })).filter((l) => l.line.trim() !== '');
  const best = Math.max(0, ...ranked.map((l) => l.score));
  const chosen = best === 0 ? ranked.slice(0, 5) : ranked.filter((l) => l.score === best).slice(0, 10);
  return [`From ${file.name} (${lines.length} lines):`, ...chosen.map((l) => `- line ${l.i + 1}: ${l.line.trim()}`)];
}
