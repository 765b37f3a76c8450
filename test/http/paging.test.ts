// Pages over rows: forward and back meet the same rows, each once, whatever the limit and the filter.

import { describe, expect, test } from 'vitest';
import { type Page, readPage } from '../../shared/http/paging.ts';
import { decodeCursor, encodeCursor, type Order } from '../../shared/wire/pages.ts';

const idOf = (n: number) => String(n).padStart(4, '0');

async function page(
  rows: number,
  order: Order,
  limit: number,
  cursor: string | undefined,
  keep = (_n: number) => true,
) {
  const all = Array.from({ length: rows }, (_, n) => n);
  return readPage<number, number>({
    list: 'rows',
    order,
    limit,
    page: cursor,
    idOf,
    show: async (n) => (keep(n) ? n : undefined),
    fetch: async ({ after, reverse, limit: max }) => {
      const sorted = reverse ? all.toReversed() : all;
      const from = after === undefined ? 0 : sorted.findIndex((n) => idOf(n) === after) + 1;
      return sorted.slice(from, from + max);
    },
  });
}

describe.each<Order>(['asc', 'desc'])('%s', (order) => {
  test.each([
    [0, 3],
    [1, 1],
    [3, 3],
    [7, 3],
    [250, 7],
    [250, 1000],
  ])('%i rows, %i a page: forth to the end and back to the start', async (rows, limit) => {
    for (const keep of [(_n: number) => true, (n: number) => n % 5 === 0]) {
      const ascending = Array.from({ length: rows }, (_, n) => n).filter(keep);
      const expected = order === 'asc' ? ascending : ascending.toReversed();
      const pages: Page<number>[] = [await page(rows, order, limit, undefined, keep)];
      expect(pages[0]?.prev_page).toBeNull();
      for (let next = pages[0]?.next_page; next; next = pages.at(-1)?.next_page) {
        pages.push(await page(rows, order, limit, next, keep));
      }
      expect(pages.flatMap((p) => p.data)).toEqual(expected);
      expect(pages.every((p, i) => i === 0 || p.data.length > 0)).toBe(true);
      for (let i = pages.length - 1; i > 0; i--) {
        const back = await page(rows, order, limit, pages[i]?.prev_page ?? undefined, keep);
        expect(back.data).toEqual(pages[i - 1]?.data);
        expect(back.prev_page === null).toBe(i === 1);
        const forth = await page(rows, order, limit, back.next_page ?? undefined, keep);
        expect(forth.data).toEqual(pages[i]?.data);
      }
    }
  });
});

test('a cursor is for one list and one order, and nothing else is one', () => {
  const cursor = encodeCursor({ list: 'rows', order: 'asc', direction: 'next', at: 'ä/1' });
  expect(cursor).toMatch(/^[\w-]+$/);
  expect(decodeCursor(cursor, 'rows', 'asc').at).toBe('ä/1');
  const wrong: [string, string, Order][] = [
    [cursor, 'rows', 'desc'],
    [cursor, 'others', 'asc'],
    ['nonsense', 'rows', 'asc'],
    ['', 'rows', 'asc'],
    [btoa('[1,2]'), 'rows', 'asc'],
    [btoa('{"a":1}'), 'rows', 'asc'],
  ];
  for (const [text, list, order] of wrong) expect(() => decodeCursor(text, list, order)).toThrow(/^page: /);
});
