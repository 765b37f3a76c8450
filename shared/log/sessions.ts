// The records of sessions: written once at creation, replaced by a tombstone at deletion, and never changed between; what
// changes is folded from the log.

import type { Item, ListOptions, Storage, Store, Write } from '../ports/store.ts';
import { ServiceError } from '../types/errors.ts';
import { epochMs, type SessionId, type TenantId } from '../types/ids.ts';
import type { InboxEvent } from '../types/log.ts';
import type { Session } from '../types/session.ts';
import { CONFLICTS_MAX, type LogDeps } from './deps.ts';
import { dueWrite } from './due.ts';
import { inboxWrite } from './inbox.ts';
import { claimsOf, dueKey, inboxOf, leaseKey, logOf, newRev, SESSIONS, sessionKey } from './keys.ts';
import { deletedLease, isLive, readLease } from './lease.ts';
import { isTombstone, TOMBSTONES, tombstoneEnd, tombstoneItem } from './tombstone.ts';

const PAGE_ROWS = 100;
const BROOM_WRITES_MAX = 25;

export interface StoredSession {
  readonly session: Session;
  /** Guards later writes against a delete. */
  readonly rev: string;
}

/** Stores the record and, where there are any, its first events; then it is due as well: wake someone. */
export async function createSession(
  deps: LogDeps,
  session: Session,
  initial: readonly InboxEvent[],
): Promise<StoredSession> {
  const { store, ids, clock } = deps;
  const rev = newRev(ids);
  const writes: Write[] = [{ key: sessionKey(session.id), item: { rev, data: session }, expect: 'absent' }];
  if (initial.length > 0) {
    writes.push(inboxWrite(session.id, ids.ulid(), newRev(ids), initial));
    writes.push(dueWrite(session.id, newRev(ids), clock.now()));
  }
  const put = await store.putAll(writes);
  if (!put.ok && put.current?.rev !== rev) throw new Error('a session id was used twice');
  return { session, rev };
}

/** The session, `{ deleted: true }` for a tombstone, undefined where this tenant has no such session. */
export async function readSession(
  store: Store,
  session: SessionId,
): Promise<StoredSession | { readonly deleted: true } | undefined> {
  const item = await store.get(sessionKey(session));
  if (!item) return undefined;
  return isTombstone(item) ? { deleted: true } : storedSession(item);
}

/** Live sessions in order of creation (newest first when `reverse`); `after` is a session id, exclusive. */
export async function listSessions(
  store: Store,
  options: Omit<ListOptions, 'prefix'>,
): Promise<readonly StoredSession[]> {
  const sessions: StoredSession[] = [];
  let { after } = options;
  for (;;) {
    const limit = Math.max(1, Math.min(PAGE_ROWS, options.limit - sessions.length));
    const page = { ...options, ...(after === undefined ? {} : { after }), limit };
    const rows = await store.list(SESSIONS, page);
    for (const row of rows) if (!isTombstone(row)) sessions.push(storedSession(row));
    if (rows.length < limit || sessions.length >= options.limit) return sessions.slice(0, options.limit);
    after = rows.at(-1)?.key.sort;
  }
}

function storedSession(item: Item): StoredSession {
  const session = item.data as Session;
  if (typeof session?.id !== 'string') throw new Error('a session record is damaged');
  return { session, rev: item.rev };
}

/**
 * Deletes at once and for good. `busy`: somebody holds it or there may be work (`waitForRest` first, where it looks idle).
 * What it leaves behind is removed here as far as it gets, and again by `endTombstones`.
 */
export async function deleteSession(deps: LogDeps, session: SessionId): Promise<'deleted' | 'busy' | 'missing'> {
  const { store, clock, ids, limits } = deps;
  const rev = newRev(ids);
  for (let attempt = 0; attempt < CONFLICTS_MAX; attempt++) {
    const [record, lease] = await Promise.all([store.get(sessionKey(session)), readLease(store, session)]);
    if (!record || (isTombstone(record) && record.rev !== rev)) return 'missing';
    if (record.rev !== rev) {
      if (lease && isLive(lease, clock.now())) return 'busy';
      const endsAt = epochMs(clock.now() + limits.tombstoneMs);
      const dead = deletedLease((lease?.epoch ?? 0) + 1, rev);
      const put = await store.putAll([
        { key: sessionKey(session), item: tombstoneItem(session, rev, endsAt), expect: { rev: record.rev } },
        { key: leaseKey(session), item: dead, expect: lease ? { rev: lease.rev } : 'absent' },
        { key: dueKey(session), expect: 'absent' },
      ]);
      if (!put.ok && put.index === 2) return 'busy';
      if (!put.ok) continue; // somebody was faster, or it was us: look again
    }
    await removeItems(store, session);
    return 'deleted';
  }
  throw new ServiceError('overloaded', 'too many conflicting writes to this session', {}, 1);
}

/** Waits, at most archiveWaitMs, until nobody holds the session and it is not due. False: it is still busy. */
export async function waitForRest(deps: LogDeps, session: SessionId, signal: AbortSignal): Promise<boolean> {
  const { store, clock, limits } = deps;
  for (const end = clock.now() + limits.archiveWaitMs; ; ) {
    const [lease, due] = await Promise.all([readLease(store, session), store.get(dueKey(session))]);
    if (!due && !(lease && isLive(lease, clock.now()))) return true;
    if (clock.now() >= end || signal.aborted) return false;
    await clock.sleep(REST_POLL_MS, signal);
  }
}

const REST_POLL_MS = 50;

/** The broom: log, inbox and claims of a deleted session. Stops anywhere and starts again without harm. */
async function removeItems(store: Store, session: SessionId): Promise<void> {
  for (const partition of [inboxOf(session), claimsOf(session), logOf(session)]) {
    for (;;) {
      const rows = await store.list(partition, { limit: BROOM_WRITES_MAX });
      if (rows.length > 0) await store.putAll(rows.map(({ key }): Write => ({ key, item: null, expect: 'any' })));
      if (rows.length < BROOM_WRITES_MAX) break;
    }
  }
}

/**
 * Removes for good the sessions whose tombstone has ended, with what a frozen worker may have written back meanwhile. At most
 * `limit` of them; for the sweep. Returns them, for what lies elsewhere (blobs).
 */
export async function endTombstones(
  storage: Storage,
  now: number,
  limit: number,
): Promise<readonly { readonly tenant: TenantId; readonly session: SessionId }[]> {
  const rows = await storage.listIndex(TOMBSTONES, { limit });
  const ended = rows.filter((row) => tombstoneEnd(row) <= now);
  for (const { tenant, key, rev } of ended) {
    const store = storage.forTenant(tenant);
    const session = key.sort as SessionId;
    await removeItems(store, session);
    await store.putAll([
      { key, item: null, expect: { rev } },
      { key: leaseKey(session), item: null, expect: 'any' },
      { key: dueKey(session), item: null, expect: 'any' },
    ]);
  }
  return ended.map(({ tenant, key }) => ({ tenant, session: key.sort as SessionId }));
}
