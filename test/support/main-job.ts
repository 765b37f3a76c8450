// The files of the main job and the right answers, computed here by other means than the service's.

import { readFile } from 'node:fs/promises';

export const readFixture = (name: string): Promise<string> =>
  readFile(new URL(`../fixtures/main-job/${name}`, import.meta.url), 'utf8');

/** Rows of a CSV without line breaks inside fields, as records by column name. */
export function parseCsv(text: string): Record<string, string>[] {
  const [header = '', ...lines] = text.trimEnd().split('\n');
  const columns = header.split(',');
  return lines.map((line) => {
    const fields = [...line.matchAll(/("(?:[^"]|"")*"|[^,]*)(,|$)/g)].map(([, field = '']) =>
      field.startsWith('"') ? field.slice(1, -1).replaceAll('""', '"') : field,
    );
    return Object.fromEntries(columns.map((column, n) => [column, fields[n] ?? '']));
  });
}

/** Values of a column with their counts, the most frequent first. */
export function countByColumn(csv: string, column: string): [string, number][] {
  const counts = new Map<string, number>();
  for (const row of parseCsv(csv)) counts.set(row[column] ?? '', (counts.get(row[column] ?? '') ?? 0) + 1);
  return [...counts].toSorted((a, b) => b[1] - a[1]);
}
