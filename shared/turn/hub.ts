// What happens to a session in this process, for those who watch it in this process. No history: entries are in the log.

import type { SessionId } from '../types/ids.ts';
import type { TurnEvent } from '../types/turn.ts';

export type Listener = (events: readonly TurnEvent[]) => void;

export interface Hub {
  publish(session: SessionId, events: readonly TurnEvent[]): void;
  /** Calls `listener` with each batch, synchronously, until the returned function is called. */
  subscribe(session: SessionId, listener: Listener): () => void;
  hasListeners(session: SessionId): boolean;
}

export function createHub(): Hub {
  const listeners = new Map<SessionId, Set<Listener>>();
  return {
    publish(session, events) {
      if (events.length === 0) return;
      for (const listener of listeners.get(session) ?? []) listener(events);
    },
    subscribe(session, listener) {
      const set = listeners.get(session) ?? new Set();
      listeners.set(session, set.add(listener));
      return () => {
        set.delete(listener);
        if (set.size === 0 && listeners.get(session) === set) listeners.delete(session);
      };
    },
    hasListeners: (session) => listeners.has(session),
  };
}
