// The report: a table for people, or JSON whose fields stay.

import type { Row } from './measure.ts';

export interface Report {
  readonly version: 1;
  readonly node: string;
  readonly cpus: number;
  readonly pinned: boolean;
  readonly rounds: number;
  readonly rows: readonly (Row & { readonly ratio: number | null })[];
}

export const ratioOf = ({ raw, reprise }: Row): number | null =>
  raw === null || reprise === null || raw === 0 ? null : reprise / raw;

/** At most two digits behind the point, thousands apart. */
function number(value: number | null): string {
  if (value === null) return '–';
  const digits = Math.abs(value) >= 100 || Number.isInteger(value) ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return value.toLocaleString('en', { maximumFractionDigits: digits, minimumFractionDigits: digits });
}

const verdict = (pass: boolean | null): string => (pass === null ? '' : pass ? 'pass' : 'MISS');

/** One line per row, columns aligned. */
export function tableOf(rows: readonly Row[]): string {
  const head = ['', 'measure', 'unit', 'raw SDK loop', 'Reprise', 'ratio', 'target', '', 'disk sync ms'];
  const body = rows.map((row) => {
    const ratio = ratioOf(row);
    const sync = row.syncMs === undefined ? '' : row.syncMs.toFixed(1);
    const times = ratio === null ? '' : `${ratio.toFixed(2)} ×`;
    return [
      row.id,
      row.name,
      row.unit,
      number(row.raw),
      number(row.reprise),
      times,
      row.target,
      verdict(row.pass),
      sync,
    ];
  });
  const widths = head.map((title, i) => Math.max(title.length, ...body.map((cells) => cells[i]?.length ?? 0)));
  const numeric = new Set([3, 4, 5, 8]);
  return [head, ...body]
    .map((cells) =>
      cells
        .map((cell, i) => (numeric.has(i) ? cell.padStart(widths[i] ?? 0) : cell.padEnd(widths[i] ?? 0)))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
