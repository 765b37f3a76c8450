// Pages over rows in order of their ids: forward and back, with a filter that may look at each row.

import { decodeCursor, encodeCursor, type Order } from '../wire/pages.ts';

export interface PageSource<Row, T> {
  /** Names the list in its cursors. */
  readonly list: string;
  readonly order: Order;
  readonly limit: number;
  readonly page: string | undefined;
  /** Rows after `after` (exclusive), newest first when `reverse`. */
  readonly fetch: (options: { after?: string; reverse: boolean; limit: number }) => Promise<readonly Row[]>;
  readonly idOf: (row: Row) => string;
  /** What is shown for a row, or undefined where the filter leaves it out. */
  readonly show: (row: Row) => T | undefined | Promise<T | undefined>;
}

export interface Page<T> {
  readonly data: readonly T[];
  readonly next_page: string | null;
  readonly prev_page: string | null;
}

const BATCH_ROWS = 100;

/** One page. A cursor of another list or order is a 400. */
export async function readPage<Row, T>(source: PageSource<Row, T>): Promise<Page<T>> {
  const { list, order, limit, page } = source;
  const cursor = page === undefined ? undefined : decodeCursor(page, list, order);
  const back = cursor?.direction === 'prev';
  const reverse = (order === 'desc') !== back;
  const found = await collect(source, reverse, cursor?.at, limit + 1);
  const more = found.length > limit;
  const rows = found.slice(0, limit);
  if (back) rows.reverse();
  const at = (direction: 'next' | 'prev', id: string | undefined): string | null =>
    id === undefined ? null : encodeCursor({ list, order, direction, at: id });
  const first = rows[0]?.id;
  const last = rows.at(-1)?.id;
  const data = rows.map((r) => r.shown);
  if (back) return { data, next_page: at('next', last), prev_page: more ? at('prev', first) : null };
  const hasBefore = cursor !== undefined;
  return {
    data,
    next_page: more ? at('next', last) : null,
    prev_page: hasBefore ? at('prev', first ?? cursor.at) : null,
  };
}

async function collect<Row, T>(
  source: PageSource<Row, T>,
  reverse: boolean,
  start: string | undefined,
  count: number,
): Promise<{ readonly id: string; readonly shown: T }[]> {
  const found: { id: string; shown: T }[] = [];
  let after = start;
  for (;;) {
    const limit = Math.min(BATCH_ROWS, Math.max(count - found.length, 10));
    const rows = await source.fetch({ ...(after === undefined ? {} : { after }), reverse, limit });
    const shown = await Promise.all(rows.map((row) => source.show(row)));
    rows.forEach((row, i) => {
      const value = shown[i];
      if (value !== undefined && found.length < count) found.push({ id: source.idOf(row), shown: value });
    });
    const last = rows.at(-1);
    if (!last || rows.length < limit || found.length >= count) return found;
    after = source.idOf(last);
  }
}
