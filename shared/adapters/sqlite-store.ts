// The Store port on one SQLite file, embedded. A resolved write is on disk (WAL, synchronous=FULL); several processes may share
// the file. Writes of one tick travel in one transaction and one sync, each still all or nothing by itself.

import { closeSync, openSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import type { Expect, IndexRow, Item, ListOptions, PutResult, Row, Storage, Store, Write } from '../ports/store.ts';
import type { Clock } from '../ports/system.ts';
import { ServiceError } from '../types/errors.ts';
import type { TenantId } from '../types/ids.ts';
import { checkKey, type EncodedWrite, encodeWrites } from './store-checks.ts';

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS items (
    tenant TEXT NOT NULL, partition TEXT NOT NULL, sort TEXT NOT NULL,
    rev TEXT NOT NULL, data TEXT NOT NULL, index_name TEXT, index_sort TEXT, expires INTEGER,
    PRIMARY KEY (tenant, partition, sort)
  ) WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS items_index ON items (index_name, index_sort) WHERE index_name IS NOT NULL;
  CREATE INDEX IF NOT EXISTS items_expires ON items (expires) WHERE expires IS NOT NULL;`;

const BUSY_TIMEOUT_MS = 5;
const BUSY_GIVE_UP_MS = 10_000;
const SQLITE_BUSY = 5;
const BROOM_EVERY_MS = 60_000;
const BROOM_ROWS_MAX = 200;
/** No tenant has this name, so nobody reaches the installation's own items through `forTenant`. */
const SYSTEM = '';

interface Raw extends Readonly<Record<'tenant' | 'partition' | 'sort' | 'rev' | 'data', string>> {
  readonly index_name: string | null;
  readonly index_sort: string | null;
  readonly expires: number | null;
}
type Statements = ReturnType<typeof prepareStatements>;

/** A write as it waits for the next transaction. */
interface Pending {
  readonly tenant: string;
  readonly writes: readonly EncodedWrite[];
  readonly resolve: (result: PutResult) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * `path` is a file that is made where missing, or `:memory:`. `clock` serves the broom for expired items only.
 * Throws `ServiceError('overloaded')` where another process holds the file's write lock for 10 s.
 */
export function createSqliteStore(options: { readonly path: string; readonly clock?: Pick<Clock, 'now'> }): Storage {
  const now = options.clock?.now ?? Date.now;
  const db = openDatabase(options.path);
  const sql = prepareStatements(db);
  let queue: Pending[] = [];
  let flushing: Promise<void> | null = null;
  let broomAt = now() + BROOM_EVERY_MS;
  let closed = false;
  const flush = async (): Promise<void> => {
    while (queue.length > 0) {
      const batch = queue;
      queue = [];
      await runBatch(batch).catch(async (error: unknown) => {
        // One write may have spoiled it for the others: each alone.
        if (batch.length === 1) batch[0]?.reject(error);
        else for (const pending of batch) await runBatch([pending]).catch(pending.reject);
      });
    }
    flushing = null;
  };
  const runBatch = async (batch: readonly Pending[]): Promise<void> => {
    const results = await retryBusy(() => runTransaction(batch));
    for (const [i, pending] of batch.entries()) pending.resolve(results[i] as PutResult);
  };

  /** Synchronous from BEGIN to COMMIT: nothing else of this process can come in between. */
  const runTransaction = (batch: readonly Pending[]): readonly PutResult[] => {
    db.exec('BEGIN IMMEDIATE');
    try {
      const results = batch.map((pending) => applyWrites(sql, pending));
      if (now() >= broomAt) sql.broom.run(now(), BROOM_ROWS_MAX);
      if (now() >= broomAt) broomAt = now() + BROOM_EVERY_MS;
      db.exec('COMMIT');
      return results;
    } catch (error) {
      if (db.isTransaction) db.exec('ROLLBACK');
      throw error;
    }
  };

  const enqueue = (tenant: string, writes: readonly Write[]): Promise<PutResult> => {
    if (closed) return Promise.reject(new Error('the store is closed'));
    const checked = encodeWrites(writes);
    return new Promise((resolve, reject) => {
      queue.push({ tenant, writes: checked, resolve, reject });
      // One turn of the event loop later: what other requests write meanwhile shares the sync.
      flushing ??= new Promise<void>((done) => setImmediate(done)).then(flush);
    });
  };

  const storeOf = (tenant: string): Store => ({
    get: async ({ partition, sort }) => {
      checkKey({ partition, sort });
      const raw = await retryBusy(() => sql.get.get(tenant, partition, sort) as Raw | undefined);
      return raw && itemOf(raw);
    },
    put: async (key, item, expect) => enqueue(tenant, [{ key, item, expect }]),
    putAll: async (writes) => enqueue(tenant, writes),
    delete: async (key, expect) => enqueue(tenant, [{ key, item: null, expect }]),
    list: async (partition, how) => {
      checkKey({ partition, sort: '-' });
      const { from, to } = rangeOf(how);
      const statement = how.reverse ? sql.listReverse : sql.list;
      const raws = await retryBusy(() => statement.all(tenant, partition, from, to, how.limit) as unknown as Raw[]);
      return raws.map(rowOf);
    },
  });

  return {
    forTenant: (tenant) => {
      if (tenant === SYSTEM) throw new TypeError('a tenant needs a name');
      return storeOf(tenant);
    },
    system: storeOf(SYSTEM),
    listIndex: async (name, { after, limit }) => {
      const raws = await retryBusy(() => sql.index.all(name, after ?? '', limit) as unknown as Raw[]);
      return raws.map((raw): IndexRow => ({ ...rowOf(raw), tenant: raw.tenant as TenantId }));
    },
    async close() {
      closed = true;
      await flushing;
      if (db.isOpen) db.close();
    },
  };
}

function openDatabase(path: string): DatabaseSync {
  // Conversations and key hashes lie in it: for the service's own user only; SQLite gives its side files the same mode.
  if (path !== ':memory:') closeSync(openSync(path, 'a', 0o600));
  const db = new DatabaseSync(path, { timeout: BUSY_GIVE_UP_MS });
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;');
  db.exec(SCHEMA);
  db.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
  return db;
}

function prepareStatements(db: DatabaseSync) {
  const columns = 'tenant, partition, sort, rev, data, index_name, index_sort, expires';
  const range = `SELECT ${columns} FROM items WHERE tenant = ? AND partition = ? AND sort >= ? AND sort < ?`;
  return {
    rev: db.prepare('SELECT rev FROM items WHERE tenant = ? AND partition = ? AND sort = ?'),
    get: db.prepare(`SELECT ${columns} FROM items WHERE tenant = ? AND partition = ? AND sort = ?`),
    put: db.prepare(`INSERT OR REPLACE INTO items (${columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`),
    remove: db.prepare('DELETE FROM items WHERE tenant = ? AND partition = ? AND sort = ?'),
    list: db.prepare(`${range} ORDER BY sort LIMIT ?`),
    listReverse: db.prepare(`${range} ORDER BY sort DESC LIMIT ?`),
    index: db.prepare(`SELECT ${columns} FROM items WHERE index_name = ? AND index_sort > ?
      ORDER BY index_sort, tenant, partition, sort LIMIT ?`),
    broom: db.prepare(`DELETE FROM items WHERE (tenant, partition, sort) IN
      (SELECT tenant, partition, sort FROM items WHERE expires IS NOT NULL AND expires < ? LIMIT ?)`),
  };
}

/** All expectations first, then all writes: a refused one has changed nothing. */
function applyWrites(sql: Statements, { tenant, writes }: Pending): PutResult {
  for (const [index, { key, expect }] of writes.entries()) {
    if (expect === 'any') continue;
    const at = [tenant, key.partition, key.sort] as const;
    if (meets((sql.rev.get(...at) as Raw | undefined)?.rev, expect)) continue;
    const raw = sql.get.get(...at) as Raw | undefined;
    return { ok: false, index, current: raw && itemOf(raw) };
  }
  for (const { key, item, json } of writes) {
    if (item === undefined) continue;
    const at = [tenant, key.partition, key.sort] as const;
    if (item === null) sql.remove.run(...at);
    else {
      const { rev, index, expiresAtMs } = item;
      sql.put.run(...at, rev, json, index?.name ?? null, index?.sort ?? null, expiresAtMs ?? null);
    }
  }
  return { ok: true };
}

function meets(rev: string | undefined, expect: Exclude<Expect, 'any'>): boolean {
  if (expect === 'absent') return rev === undefined;
  return expect === 'exists' ? rev !== undefined : rev === expect.rev;
}

function itemOf({ rev, data, index_name: name, index_sort: sort, expires }: Raw): Item {
  const index = name === null || sort === null ? {} : { index: { name, sort } };
  return { rev, data: JSON.parse(data), ...index, ...(expires === null ? {} : { expiresAtMs: expires }) };
}

const rowOf = (raw: Raw): Row => ({ ...itemOf(raw), key: { partition: raw.partition, sort: raw.sort } });

/** Half-open bounds on `sort`; keys are printable ASCII, so `\x01` sorts before and `\x7f` after whatever may follow. */
function rangeOf({ after, prefix = '', reverse }: ListOptions): { from: string; to: string } {
  const to = `${prefix}\x7f`;
  if (after === undefined) return { from: prefix, to };
  if (reverse) return { from: prefix, to: after < to ? after : to };
  const next = `${after}\x01`;
  return { from: next > prefix ? next : prefix, to };
}

/** Runs `job` again, with jitter and without blocking the process, while another process holds the lock. */
async function retryBusy<T>(job: () => T): Promise<T> {
  const giveUpAt = performance.now() + BUSY_GIVE_UP_MS;
  for (let waitMs = 1; ; waitMs = Math.min(waitMs * 2, 20)) {
    try {
      return job();
    } catch (error) {
      const code = (error as { errcode?: number }).errcode ?? 0;
      if ((code & 0xff) !== SQLITE_BUSY) throw error;
      if (performance.now() > giveUpAt) throw new ServiceError('overloaded', 'the store is locked', {}, 1);
    }
    await delay(Math.random() * waitMs);
  }
}
