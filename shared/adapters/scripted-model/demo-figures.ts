// Figures of a table as sentences and rows: per group, plain ones, lists of values.

import type { Clause, Mention } from './demo-question.ts';
import {
  cells,
  formatNumber,
  groupBy,
  isNumeric,
  numbers,
  type Operation,
  reduceNumbers,
  type Table,
} from './demo-table.ts';

export interface Result {
  readonly lines: readonly string[];
  /** The figures as a table, for a report. */
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** The value that came out first, for `look up its row`. */
  readonly top: { readonly column: string; readonly value: string } | null;
  readonly table: Table;
}

const LINES_MAX = 30;
export const NAMES: Readonly<Record<Operation, string>> = {
  count: 'number',
  sum: 'total',
  average: 'average',
  median: 'median',
  max: 'highest',
  min: 'lowest',
};

export interface Asked {
  readonly clause: Clause;
  readonly table: Table;
  /** `, where region = North`, or nothing. */
  readonly where: string;
  readonly group: string | undefined;
  readonly label: string | undefined;
  /** Columns of numbers to compute with. */
  readonly measures: readonly string[];
  readonly mentions: readonly Mention[];
  /** Aggregates; the extremes are `extreme`. */
  readonly operations: readonly Operation[];
  readonly extreme: 'max' | 'min' | undefined;
}

export function figuresPerGroup(asked: Asked, group: string): Result {
  const { table, where } = asked;
  const measures = asked.measures.filter((m) => m !== group);
  const operations: readonly Operation[] =
    asked.operations.length > 0 ? asked.operations : measures.length > 0 ? ['sum'] : ['count'];
  const figures = operations.flatMap((operation): { operation: Operation; measure: string | null }[] =>
    operation === 'count' || measures.length === 0
      ? [{ operation, measure: null }]
      : measures.map((measure) => ({ operation, measure })),
  );
  const figureOf = (part: Table, { operation, measure }: { operation: Operation; measure: string | null }) => {
    if (measure === null) return String(part.rows.length);
    const value = reduceNumbers(numbers(part, measure), operation);
    return value === null ? '' : show(value, operation);
  };
  const rows = [...groupBy(table, group)].map(([value, part]) => [value, ...figures.map((f) => figureOf(part, f))]);
  const names = figures.map((f) => (f.measure === null ? 'count' : `${NAMES[f.operation]} ${f.measure}`));
  const [only] = figures;
  const sorted = only?.measure === null ? rows.toSorted((a, b) => Number(b[1]) - Number(a[1])) : rows;
  const shown = sorted
    .slice(0, LINES_MAX)
    .map(([value, ...n]) => `- ${value}: ${n.map((x, i) => (names.length > 1 ? `${names[i]} ${x}` : x)).join(', ')}`);
  const more = sorted.length > LINES_MAX ? [`- and ${sorted.length - LINES_MAX} more`] : [];
  return {
    lines: [`${names.join(' and ')} per ${group} in ${table.name}${where}:`, ...shown, ...more],
    columns: [group, ...names],
    rows: sorted,
    top: null,
    table,
  };
}

export function plainFigures(asked: Asked): Result | null {
  const { table, measures, where, operations, clause } = asked;
  const found = operations.flatMap((operation): (readonly [string, string, string])[] => {
    if (operation === 'count') {
      const column = asked.mentions.find((m) => !isNumeric(table, m.column))?.column;
      const distinct =
        column === undefined || (where !== '' && !clause.asks.has('distinct'))
          ? null
          : new Set(cells(table, column)).size;
      const rows = `${table.name} has ${table.rows.length} rows${where}`;
      if (distinct === null) return [['rows', String(table.rows.length), `${rows}.`]];
      return [[`different ${column}`, String(distinct), `${rows}, with ${distinct} different values of ${column}.`]];
    }
    return measures.flatMap((measure): (readonly [string, string, string])[] => {
      const values = numbers(table, measure);
      const value = reduceNumbers(values, operation);
      if (value === null) return [];
      const name = `${NAMES[operation]} ${measure}`;
      return [
        [
          name,
          show(value, operation),
          `The ${name} is ${show(value, operation)} (${values.length} rows of ${table.name}${where}).`,
        ],
      ];
    });
  });
  if (found.length === 0) return measures[0] === undefined ? null : noFigures(asked, measures[0]);
  const rows = found.map(([name, value]) => [name, value]);
  return { lines: found.map(([, , line]) => line), columns: ['figure', 'value'], rows, top: null, table };
}

export function listValues({ table, mentions, where }: Asked): Result | null {
  const column = mentions[0]?.column;
  if (column === undefined) return null;
  const values = [...new Set(cells(table, column))];
  const shown = values.slice(0, LINES_MAX).join(', ');
  const more = values.length > LINES_MAX ? ` and ${values.length - LINES_MAX} more` : '';
  const lines = [`${column} in ${table.name} has ${values.length} different values${where}: ${shown}${more}.`];
  return { lines, columns: [column], rows: values.map((v) => [v]), top: null, table };
}

export const noFigures = ({ table, where }: Asked, measure: string): Result => ({
  lines: [`${table.name} has no numbers in ${measure}${where}.`],
  columns: [],
  rows: [],
  top: null,
  table,
});

export const show = (value: number, operation: Operation): string =>
  formatNumber(value, operation === 'average' || operation === 'median' ? 2 : 6);

export const describeRow = (table: Table, row: readonly string[]): string =>
  table.columns.map((column, i) => `${column} = ${row[i] ?? ''}`).join(', ');
