// The `due` item says that a session may have work. It is written with every acceptance and every lease taken, each time with a
// new rev, and removed only at the rev that its remover knows: so no wake-up is lost, and nobody removes another's.

import type { Item, Storage, Store, Write } from '../ports/store.ts';
import { type EpochMs, epochMs, type SessionId, type TenantId } from '../types/ids.ts';
import { dueKey, sessionOfPartition } from './keys.ts';

const INDEX = 'due';
/** Milliseconds in base 36, until the year 5188; then part of the rev, so that two sessions hardly share a position. */
const TIME_CHARS = 9;
const TIE_CHARS = 6;

/** The write that makes a session due from `at` on; part of a `putAll`. */
export function dueWrite(session: SessionId, rev: string, at: EpochMs): Write {
  const sort = at.toString(36).padStart(TIME_CHARS, '0') + rev.slice(0, TIE_CHARS);
  const item: Item = { rev, data: 0, index: { name: INDEX, sort } };
  return { key: dueKey(session), item, expect: 'any' };
}

/** The rev of the session's `due` item, or undefined where it is not due. */
export async function readDue(store: Store, session: SessionId): Promise<string | undefined> {
  return (await store.get(dueKey(session)))?.rev;
}

/**
 * Removes `due` as its holder left it. Call it after the release of the lease and a last look that found no work. `changed`:
 * something was accepted or someone took the lease since; then wake.
 */
export async function clearDue(store: Store, session: SessionId, dueRev: string): Promise<'cleared' | 'changed'> {
  const gone = await store.delete(dueKey(session), { rev: dueRev });
  return gone.ok || gone.current === undefined ? 'cleared' : 'changed';
}

export interface DueSession {
  readonly tenant: TenantId;
  readonly session: SessionId;
  /** Since when. */
  readonly at: EpochMs;
  /** Pass as `after` to go on behind this row. */
  readonly position: string;
}

/** Due sessions of all tenants, the longest due first. May lag behind writes by seconds. */
export async function listDue(
  storage: Storage,
  after: string | undefined,
  limit: number,
): Promise<readonly DueSession[]> {
  const rows = await storage.listIndex(INDEX, { ...(after === undefined ? {} : { after }), limit });
  return rows.map((row) => {
    const position = row.index?.sort ?? '';
    const at = epochMs(Number.parseInt(position.slice(0, TIME_CHARS), 36));
    return { tenant: row.tenant, session: sessionOfPartition(row.key.partition), at, position };
  });
}
