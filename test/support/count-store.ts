// A storage that counts what passes through it: requests by kind, and bytes written (key, rev, index and data as JSON).

import type { Item, Key, Storage, Store, Write } from '../../shared/ports/store.ts';

export interface Counts {
  get: number;
  list: number;
  /** Requests that write: put, putAll and delete, each one. */
  writes: number;
  /** Items in them. */
  items: number;
  bytesWritten: number;
  /** One line per request, for messages of failed tests. */
  readonly calls: string[];
}

export function countStorage(storage: Storage): { readonly storage: Storage; readonly counts: Counts } {
  const counts: Counts = { get: 0, list: 0, writes: 0, items: 0, bytesWritten: 0, calls: [] };
  const countWrite = (name: string, writes: readonly Write[]) => {
    counts.writes++;
    counts.items += writes.length;
    const bytes = writes.reduce((sum, { key, item }) => sum + bytesOf(key, item), 0);
    counts.bytesWritten += bytes;
    counts.calls.push(`${name} ${writes.map(({ key }) => `${key.partition}|${key.sort}`).join(' ')} (${bytes} bytes)`);
  };
  const wrap = (store: Store): Store => ({
    get(key) {
      counts.get++;
      counts.calls.push(`get ${key.partition}|${key.sort}`);
      return store.get(key);
    },
    list(partition, options) {
      counts.list++;
      counts.calls.push(`list ${partition}`);
      return store.list(partition, options);
    },
    put(key, item, expect) {
      countWrite('put', [{ key, item, expect }]);
      return store.put(key, item, expect);
    },
    putAll(writes) {
      countWrite('putAll', writes);
      return store.putAll(writes);
    },
    delete(key, expect) {
      countWrite('delete', [{ key, item: null, expect }]);
      return store.delete(key, expect);
    },
  });
  return {
    counts,
    storage: {
      forTenant: (tenant) => wrap(storage.forTenant(tenant)),
      system: wrap(storage.system),
      listIndex: storage.listIndex,
      close: storage.close,
    },
  };
}

/** A check without an item writes nothing; a delete counts its key. */
function bytesOf(key: Key, item: Item | null | undefined): number {
  if (item === undefined) return 0;
  const keyBytes = key.partition.length + key.sort.length;
  if (item === null) return keyBytes;
  const index = item.index ? item.index.name.length + item.index.sort.length : 0;
  return keyBytes + item.rev.length + index + Buffer.byteLength(JSON.stringify(item.data));
}
