// A storage that counts what is written through it: calls, and bytes as a database of items would count them (key, revision,
// JSON of the data, index entry).

import type { Item, Key, Storage, Store, Write } from '../shared/ports/store.ts';

export interface Counts {
  /** Write calls: `put`, `putAll`, `delete`. */
  readonly writes: number;
  readonly bytes: number;
}

export interface CountingStorage extends Storage {
  counts(): Counts;
}

/** The same storage; its counts start at zero. */
export function countStorage(storage: Storage): CountingStorage {
  let writes = 0;
  let bytes = 0;
  const count = (all: readonly Pick<Write, 'key' | 'item'>[]): void => {
    writes += 1;
    for (const { key, item } of all) bytes += item === undefined ? 0 : bytesOf(key, item);
  };
  const wrap = (store: Store): Store => ({
    ...store,
    put: (key, item, expect) => {
      count([{ key, item }]);
      return store.put(key, item, expect);
    },
    putAll: (all) => {
      count(all);
      return store.putAll(all);
    },
    delete: (key, expect) => {
      count([{ key, item: null }]);
      return store.delete(key, expect);
    },
  });
  return {
    ...storage,
    system: wrap(storage.system),
    forTenant: (tenant) => wrap(storage.forTenant(tenant)),
    counts: () => ({ writes, bytes }),
  };
}

function bytesOf({ partition, sort }: Key, item: Item | null): number {
  const key = partition.length + sort.length;
  if (item === null) return key;
  const index = item.index ? item.index.name.length + item.index.sort.length : 0;
  return key + item.rev.length + index + Buffer.byteLength(JSON.stringify(item.data));
}
