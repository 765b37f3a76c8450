// The Store contract over a plain map, each operation done in one synchronous step; for the checker, which decides when.

import type { IndexRow, Item, ListOptions, PutResult, Row, Storage, Store, Write } from '../../shared/ports/store.ts';
import type { TenantId } from '../../shared/types/ids.ts';

export type Items = Map<string, { readonly tenant: string; readonly row: Row }>;

export type Operation =
  | { readonly kind: 'get'; readonly partition: string; readonly sort: string }
  | { readonly kind: 'list'; readonly partition: string; readonly options: ListOptions }
  | { readonly kind: 'write'; readonly writes: readonly Write[] };

const idOf = (tenant: string, partition: string, sort: string): string => `${tenant}\n${partition}\n${sort}`;

/** What is stored is handed out as it is: frozen, so that nobody can change it behind the store's back. */
function freeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const part of Object.values(value)) freeze(part);
  }
  return value;
}

export function runOperation(items: Items, tenant: string, operation: Operation): unknown {
  switch (operation.kind) {
    case 'get': {
      const found = items.get(idOf(tenant, operation.partition, operation.sort));
      return found && itemOf(found.row);
    }
    case 'list':
      return runList(items, tenant, operation.partition, operation.options);
    case 'write':
      return runWrites(items, tenant, operation.writes);
    default:
      return operation satisfies never;
  }
}

function runWrites(items: Items, tenant: string, writes: readonly Write[]): PutResult {
  for (const [index, { key, expect }] of writes.entries()) {
    const current = items.get(idOf(tenant, key.partition, key.sort))?.row;
    const met =
      expect === 'any' ||
      (expect === 'absent' ? !current : expect === 'exists' ? current !== undefined : current?.rev === expect.rev);
    if (!met) return { ok: false, index, current: current && itemOf(current) };
  }
  for (const { key, item } of writes) {
    const id = idOf(tenant, key.partition, key.sort);
    if (item === null) items.delete(id);
    else if (item) items.set(id, { tenant, row: { ...freeze(item), key } });
  }
  return { ok: true };
}

function runList(items: Items, tenant: string, partition: string, options: ListOptions): readonly Row[] {
  const { after, prefix = '', reverse = false, limit } = options;
  const beyond = (sort: string): boolean => after === undefined || (reverse ? sort < after : sort > after);
  const rows = [...items.values()]
    .filter((found) => found.tenant === tenant && found.row.key.partition === partition)
    .map(({ row }) => row)
    .filter(({ key }) => key.sort.startsWith(prefix) && beyond(key.sort))
    .sort((a, b) => (a.key.sort < b.key.sort === reverse ? 1 : -1));
  return rows.slice(0, limit);
}

function itemOf({ key: _, ...item }: Row): Item {
  return item;
}

/** A store whose every operation goes through `run`. */
export const storeThrough = (run: (operation: Operation) => Promise<unknown>): Store => ({
  get: ({ partition, sort }) => run({ kind: 'get', partition, sort }) as Promise<Item | undefined>,
  put: (key, item, expect) => run({ kind: 'write', writes: [{ key, item, expect }] }) as Promise<PutResult>,
  putAll: (writes) => run({ kind: 'write', writes }) as Promise<PutResult>,
  delete: (key, expect) => run({ kind: 'write', writes: [{ key, item: null, expect }] }) as Promise<PutResult>,
  list: (partition, options) => run({ kind: 'list', partition, options }) as Promise<readonly Row[]>,
});

/** All of it as a `Storage`, so that the contract can be held against it. */
export function createMapStorage(items: Items = new Map()): Storage {
  const storeOf = (tenant: string): Store =>
    storeThrough(async (operation) => {
      checkOperation(operation);
      return runOperation(items, tenant, operation);
    });
  return {
    forTenant: storeOf,
    system: storeOf(''),
    async listIndex(name, { after = '', limit }) {
      return [...items.values()]
        .flatMap(({ tenant, row }): { row: IndexRow; sort: string }[] =>
          row.index?.name === name && row.index.sort > after
            ? [{ row: { ...row, tenant: tenant as TenantId }, sort: row.index.sort }]
            : [],
        )
        .sort((a, b) => (a.sort < b.sort ? -1 : 1))
        .slice(0, limit)
        .map(({ row }) => row);
    },
    async close() {},
  };
}

const KEY_PART = /^[\x20-\x7e]{1,512}$/;

function checkOperation(operation: Operation): void {
  const writes = operation.kind === 'write' ? operation.writes : [];
  const parts =
    operation.kind === 'write'
      ? writes.flatMap(({ key }) => [key.partition, key.sort])
      : [operation.partition, ...(operation.kind === 'get' ? [operation.sort] : [])];
  const keys = new Set(writes.map(({ key }) => idOf('', key.partition, key.sort)));
  const sound = parts.every((part) => KEY_PART.test(part)) && keys.size === writes.length && writes.length <= 100;
  if (!sound || (operation.kind === 'write' && writes.length === 0)) throw new TypeError('not a sound operation');
}
