// Cursors of lists: opaque text that holds order and position. A cursor that was made for another order or list is refused.

import { ServiceError } from '../types/errors.ts';

export type Order = 'asc' | 'desc';

export interface PageCursor {
  readonly order: Order;
  /** Which list it belongs to, for example `sessions`. */
  readonly list: string;
  /** `prev`: the page that ends right before `at`. */
  readonly direction: 'next' | 'prev';
  /** The position, in the list's own terms. */
  readonly at: string;
}

/** Opaque and safe in a query. */
export function encodeCursor({ order, list, direction, at }: PageCursor): string {
  const text = JSON.stringify([1, list, order === 'asc' ? 'a' : 'd', direction === 'next' ? 'n' : 'p', at]);
  return btoa(text).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

/** The cursor that `text` holds. Throws a 400 that names `page` where it is none, or one of another list or order. */
export function decodeCursor(text: string, list: string, order: Order): PageCursor {
  const parts = parse(text);
  if (parts === undefined) throw wrongPage('page: is not a cursor of this service');
  const [version, ofList, ofOrder, direction, at] = parts;
  if (version !== 1 || ofList !== list || typeof at !== 'string' || (direction !== 'n' && direction !== 'p')) {
    throw foreignCursor();
  }
  if (ofOrder !== (order === 'asc' ? 'a' : 'd')) {
    throw wrongPage(`page: was made for another order than ${order}`);
  }
  return { order, list, direction: direction === 'n' ? 'next' : 'prev', at };
}

const wrongPage = (message: string): ServiceError => new ServiceError('invalid_request', message, { field: 'page' });

/** The 400 of a cursor that holds no position of the list it is given to. */
export const foreignCursor = (): ServiceError => wrongPage('page: is not a cursor of this list');

function parse(text: string): readonly unknown[] | undefined {
  try {
    const value: unknown = JSON.parse(atob(text.replaceAll('-', '+').replaceAll('_', '/')));
    return Array.isArray(value) && value.length === 5 ? value : undefined;
  } catch {
    return undefined;
  }
}
