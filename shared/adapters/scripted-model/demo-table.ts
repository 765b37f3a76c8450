// Text as a table: CSV of the usual separators, or a JSON list of objects; and the arithmetic over its columns.

export interface Table {
  readonly name: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** null where the text is no table. */
export function parseTable(name: string, text: string): Table | null {
  const trimmed = text.replace(/^\uFEFF/, '').trim();
  if (trimmed.startsWith('[')) return parseJsonTable(name, trimmed);
  const firstLine = trimmed.split('\n', 1)[0] ?? '';
  const separator =
    [',', '\t', ';', '|'].toSorted((a, b) => firstLine.split(b).length - firstLine.split(a).length)[0] ?? ',';
  const isCsv = /\.(csv|tsv)$/i.test(name);
  if (!firstLine.includes(separator) && !isCsv) return null;
  const [header = [], ...rows] = parseCsv(trimmed, separator);
  const even = rows.filter((row) => row.length === header.length);
  if (!isCsv && (rows.length === 0 || even.length < rows.length)) return null;
  return { name, columns: header.map((c) => c.trim()), rows: rows.filter((row) => row.some((cell) => cell !== '')) };
}

function parseCsv(text: string, separator: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  let cell = '';
  let quoted = false;
  for (let i = 0; i < text.length; i++) {
    const char = text[i];
    if (quoted) {
      if (char !== '"') cell += char;
      else if (text[i + 1] === '"') cell += text[++i];
      else quoted = false;
    } else if (char === '"' && cell === '') quoted = true;
    else if (char === separator) {
      row.push(cell);
      cell = '';
    } else if (char === '\n') {
      rows.push([...row, cell.replace(/\r$/, '')]);
      row = [];
      cell = '';
    } else cell += char;
  }
  rows.push([...row, cell.replace(/\r$/, '')]);
  return rows;
}

function parseJsonTable(name: string, text: string): Table | null {
  try {
    const items: unknown = JSON.parse(text);
    if (!Array.isArray(items) || !items.every((i) => typeof i === 'object' && i !== null && !Array.isArray(i)))
      return null;
    const columns = [...new Set(items.flatMap((item) => Object.keys(item)))];
    const rows = items.map((item) =>
      columns.map((c) => (typeof item[c] === 'string' ? item[c] : JSON.stringify(item[c] ?? ''))),
    );
    return columns.length === 0 ? null : { name, columns, rows };
  } catch {
    return null;
  }
}

export const cells = (table: Table, column: string): readonly string[] => {
  const at = table.columns.indexOf(column);
  return table.rows.map((row) => row[at] ?? '');
};

/** A number as people write it in tables (`1,234.50`, `$12`, `7 %`), or null. */
export function toNumber(cell: string): number | null {
  const plain = cell.replaceAll(/[\s$€£%]/g, '').replaceAll(/(\d),(?=\d{3}(\D|$))/g, '$1');
  return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(plain) ? Number(plain) : null;
}

export const numbers = (table: Table, column: string): readonly number[] =>
  cells(table, column)
    .map(toNumber)
    .filter((n) => n !== null);

/** Whether nearly all filled cells of a column are numbers. */
export function isNumeric(table: Table, column: string): boolean {
  const filled = cells(table, column).filter((cell) => cell.trim() !== '');
  return filled.length > 0 && filled.filter((cell) => toNumber(cell) !== null).length >= 0.8 * filled.length;
}

/** A column of numbers that number things, and are not to be added up. */
export const isIdentifier = (column: string): boolean => /(^|[_ ])(id|no|nr|number|year)$/i.test(column);

export type Operation = 'count' | 'sum' | 'average' | 'median' | 'max' | 'min';

/** null where there is nothing to compute from. */
export function reduceNumbers(values: readonly number[], operation: Operation): number | null {
  if (operation === 'count') return values.length;
  if (values.length === 0) return null;
  const sum = values.reduce((a, b) => a + b, 0);
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  switch (operation) {
    case 'sum':
      return sum;
    case 'average':
      return sum / values.length;
    case 'median':
      return ((sorted[Math.ceil(middle) - 1] ?? 0) + (sorted[Math.floor(middle)] ?? 0)) / 2;
    case 'max':
      return sorted.at(-1) ?? null;
    case 'min':
      return sorted[0] ?? null;
    default:
      return operation satisfies never;
  }
}

/** Tables per value of a column, in the order of first appearance. */
export function groupBy(table: Table, column: string): ReadonlyMap<string, Table> {
  const at = table.columns.indexOf(column);
  const groups = Map.groupBy(table.rows, (row) => row[at] ?? '');
  return new Map([...groups].map(([value, rows]) => [value, { ...table, rows }]));
}

/** Each row of `left` with the first row of `right` that has the same value in the common column. */
export function joinTables(left: Table, right: Table, column: string): Table {
  const rightAt = right.columns.indexOf(column);
  const byValue = new Map<string, readonly string[]>();
  for (const row of right.rows) if (!byValue.has(row[rightAt] ?? '')) byValue.set(row[rightAt] ?? '', row);
  const added = right.columns.filter((c) => !left.columns.includes(c));
  const pick = (row: readonly string[] | undefined) => added.map((c) => row?.[right.columns.indexOf(c)] ?? '');
  const leftAt = left.columns.indexOf(column);
  return {
    name: `${left.name} with ${right.name}`,
    columns: [...left.columns, ...added],
    rows: left.rows.map((row) => [...row, ...pick(byValue.get(row[leftAt] ?? ''))]),
  };
}

/** At most two decimals for what was divided, six for what was added. */
export const formatNumber = (value: number, decimals = 6): string => String(Number(value.toFixed(decimals)));

export const toCsv = (columns: readonly string[], rows: readonly (readonly string[])[]): string =>
  [columns, ...rows].map((row) => `${row.map(quoteCell).join(',')}\n`).join('');

const quoteCell = (cell: string): string => (/[",\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);
