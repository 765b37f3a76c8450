// A place to try the log protocol in: a real store in memory, a clock that the test turns, ids that count.

import { createSqliteStore } from '../../shared/adapters/sqlite-store.ts';
import { createIdSource } from '../../shared/adapters/system.ts';
import type { LogDeps } from '../../shared/log/deps.ts';
import { createSession } from '../../shared/log/sessions.ts';
import type { Storage, Store } from '../../shared/ports/store.ts';
import { type EventId, epochMs, type SessionId, sessionId, tenantId } from '../../shared/types/ids.ts';
import { LIMITS, type Limits } from '../../shared/types/limits.ts';
import type { EntryBody, InboxEvent } from '../../shared/types/log.ts';
import { session as sessionOf, T0 } from '../core/builders.ts';
import { type Counts, countStorage } from '../support/count-store.ts';

export const TENANT = tenantId('default');

export interface World {
  readonly storage: Storage;
  readonly store: Store;
  readonly counts: Counts;
  readonly deps: LogDeps;
  /** Moves the clock. */
  pass(ms: number): void;
  /** A new session, with the record's rev. */
  newSession(...initial: InboxEvent[]): Promise<{ id: SessionId; rev: string }>;
  message(text: string): InboxEvent;
  event(type: 'user.interrupt' | 'control.stop'): InboxEvent;
  newEventId(): EventId;
}

export function makeWorld(limits: Partial<Limits> = {}): World {
  let now: number = T0;
  const ids = createIdSource(() => now);
  const clock = {
    now: () => epochMs(now),
    sleep: async (ms: number) => {
      now += ms;
    },
  };
  const { storage, counts } = countStorage(createSqliteStore({ path: ':memory:', clock }));
  const store = storage.forTenant(TENANT);
  const deps: LogDeps = { store, clock, ids, limits: { ...LIMITS, ...limits } };
  const newEventId = () => `sevt_${ids.ulid()}` as EventId;
  return {
    storage,
    store,
    counts,
    deps,
    newEventId,
    pass(ms) {
      now += ms;
    },
    async newSession(...initial) {
      const id = sessionId(`sesn_${ids.ulid()}`);
      const { rev } = await createSession(deps, sessionOf({ id }), initial);
      return { id, rev };
    },
    message: (text) => ({
      type: 'user.message',
      content: [{ type: 'text', text }],
      id: newEventId(),
      acceptedAt: epochMs(now),
    }),
    event: (type) => ({ type, id: newEventId(), acceptedAt: epochMs(now) }),
  };
}

/** Short entries that can be told apart. */
export const offered = (...names: string[]): EntryBody => ({ kind: 'tools_offered', names, hash: '' });

/** A store whose replies to writes get lost once: it writes again, as an adapter's own retry does, and answers from that. */
export function loseReplies(store: Store): Store {
  return {
    ...store,
    async put(key, item, expect) {
      await store.put(key, item, expect);
      return store.put(key, item, expect);
    },
    async putAll(writes) {
      await store.putAll(writes);
      return store.putAll(writes);
    },
    async delete(key, expect) {
      await store.delete(key, expect);
      return store.delete(key, expect);
    },
  };
}
