// A session's folded state, warm where this process has seen it: then only the log's tail is read. The inbox is read before
// the log, so an event is never in neither; the log wins by id.

import { foldAll, initialState } from '../core/fold.ts';
import { openEvents, sessionStatus } from '../core/session-status.ts';
import { readInbox } from '../log/inbox.ts';
import { isLive, readLease } from '../log/lease.ts';
import { readSession } from '../log/sessions.ts';
import type { Ports } from '../ports/ports.ts';
import type { SessionId, TenantId, TurnId } from '../types/ids.ts';
import type { SessionState } from '../types/turn.ts';
import type { SessionSnapshot } from './engine-types.ts';
import { readTailEntries } from './spill-entries.ts';

export interface SessionCache {
  get(session: SessionId): SessionState | undefined;
  /** Keeps the newer of two states of one session. */
  set(session: SessionId, state: SessionState): void;
  delete(session: SessionId): void;
}

/** The least recently used states go when there are more than `max`. */
export function createSessionCache(max: number): SessionCache {
  const states = new Map<SessionId, SessionState>();
  return {
    get(session) {
      const state = states.get(session);
      if (state) {
        states.delete(session);
        states.set(session, state);
      }
      return state;
    },
    set(session, state) {
      if ((states.get(session)?.lastSeq ?? -1) > state.lastSeq) return;
      states.delete(session);
      states.set(session, state);
      const oldest = states.keys().next().value;
      if (states.size > max && oldest !== undefined) states.delete(oldest);
    },
    delete: (session) => void states.delete(session),
  };
}

/** The snapshot, `'deleted'` for a tombstone, undefined where there is no such session of this tenant. */
export async function loadSession(
  ports: Ports,
  cache: SessionCache,
  tenant: TenantId,
  session: SessionId,
): Promise<SessionSnapshot | 'deleted' | undefined> {
  const store = ports.storage.forTenant(tenant);
  const [record, inbox, lease] = await Promise.all([
    readSession(store, session),
    readInbox(store, session),
    readLease(store, session),
  ]);
  if (record === undefined) return undefined;
  if ('deleted' in record) {
    cache.delete(session);
    return 'deleted';
  }
  const warm = cache.get(session) ?? initialState(record.session);
  const state = await catchUp(ports, cache, tenant, warm);
  const open = openEvents(state, inbox);
  const leaseLive = lease !== undefined && isLive(lease, ports.clock.now());
  const step = { state, inbox: open, now: ports.clock.now(), limits: ports.limits, newTurnId: NO_TURN };
  return { state, inbox: open, leaseLive, status: sessionStatus(step, leaseLive), sessionRev: record.rev };
}

/** The state alone, for a holder that has just taken the lease: that the session is there, the lease has shown. */
export async function loadState(
  ports: Ports,
  cache: SessionCache,
  tenant: TenantId,
  session: SessionId,
): Promise<SessionState | undefined> {
  const warm = cache.get(session);
  if (warm) return catchUp(ports, cache, tenant, warm);
  const snapshot = await loadSession(ports, cache, tenant, session);
  return snapshot === 'deleted' ? undefined : snapshot?.state;
}

async function catchUp(ports: Ports, cache: SessionCache, tenant: TenantId, warm: SessionState): Promise<SessionState> {
  const session = warm.session.id;
  const read = { store: ports.storage.forTenant(tenant), blobs: ports.blobs };
  const tail = await readTailEntries(read, session, warm.lastSeq);
  const state = tail.length === 0 ? warm : foldAll(warm, tail);
  cache.set(session, state);
  return state;
}

/** Stands in where a step is only looked at and never taken. */
export const NO_TURN = 'turn_' as TurnId;
