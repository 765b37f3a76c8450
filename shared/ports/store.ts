// Storage as dumb items, strongly consistent. The protocol above it (log, inbox, lease, due) is written once in `shared/log/`.
// Contract: test/contract/store.ts, run for every adapter.

import type { TenantId } from '../types/ids.ts';

/** `partition` groups what is listed together; `sort` orders it (byte order of UTF-8). Both 1–512 printable ASCII characters. */
export interface Key {
  readonly partition: string;
  readonly sort: string;
}

/** A stored value. `rev` is chosen by the writer and is what `{ rev }` expectations compare; `data` is JSON. */
export interface Item {
  readonly rev: string;
  readonly data: unknown;
  /** Puts the item into an index across partitions and tenants, ordered by `sort`. */
  readonly index?: { readonly name: string; readonly sort: string };
  /** A broom only: the item may vanish some time after this; readers must not rely on it. */
  readonly expiresAtMs?: number;
}

export interface Row extends Item {
  readonly key: Key;
}

export interface IndexRow extends Row {
  readonly tenant: TenantId;
}

export type Expect = 'absent' | 'exists' | 'any' | { readonly rev: string };

/** Part of an atomic write. Without `item` it only checks; `item: null` deletes. */
export interface Write {
  readonly key: Key;
  readonly item?: Item | null;
  readonly expect: Expect;
}

export type PutResult =
  | { readonly ok: true }
  /** An expectation failed; `current` is what stands there (undefined = nothing), `index` the first such write of `putAll` (0 for `put`). */
  | { readonly ok: false; readonly index: number; readonly current: Item | undefined };

export interface ListOptions {
  /** Exclusive: only keys after (before, when `reverse`) this `sort`. */
  readonly after?: string;
  /** Only keys that start with this. */
  readonly prefix?: string;
  readonly reverse?: boolean;
  /** At most this many rows; the adapter follows pages of its server until it has them or the end. */
  readonly limit: number;
}

/** The items of one tenant. Every call is durable and strongly consistent when its promise resolves; outages throw. */
export interface Store {
  get(key: Key): Promise<Item | undefined>;
  put(key: Key, item: Item, expect: Expect): Promise<PutResult>;
  /** All or nothing, at most 100 writes, no key twice. */
  putAll(writes: readonly Write[]): Promise<PutResult>;
  delete(key: Key, expect: Expect): Promise<PutResult>;
  list(partition: string, options: ListOptions): Promise<readonly Row[]>;
}

export interface Storage {
  /** Items of other tenants cannot be named through the result. */
  forTenant(tenant: TenantId): Store;
  /** Items of the installation itself: API keys. */
  readonly system: Store;
  /** Rows of all tenants in an index, in order of `sort`, after `after` (exclusive). May lag behind writes by seconds. */
  listIndex(name: string, options: { readonly after?: string; readonly limit: number }): Promise<readonly IndexRow[]>;
  close(): Promise<void>;
}
