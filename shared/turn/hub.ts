// What happens to a session in this process, for those who watch it in this process. Of history it keeps the open previews only:
// entries are in the log.

import type { SessionId } from '../types/ids.ts';
import type { TurnEvent } from '../types/turn.ts';
import { createOpenPreviews, type OpenPreviews } from './open-previews.ts';

export type Listener = (events: readonly TurnEvent[]) => void;

export interface Hub {
  publish(session: SessionId, events: readonly TurnEvent[]): void;
  /** Calls `listener` with each batch, synchronously, until the returned function is called. */
  subscribe(session: SessionId, listener: Listener): () => void;
  hasListeners(session: SessionId): boolean;
  /** What has been previewed of the answer that streams now. */
  openPreviews(session: SessionId): readonly TurnEvent[];
}

export function createHub(): Hub {
  const listeners = new Map<SessionId, Set<Listener>>();
  const previews = new Map<SessionId, OpenPreviews>();

  /** Kept from a call's first preview to the end of its turn. */
  const notePreviews = (session: SessionId, events: readonly TurnEvent[]) => {
    const isPreview = events[0]?.kind === 'preview_start' || events[0]?.kind === 'preview_delta';
    const known = previews.get(session) ?? (isPreview ? createOpenPreviews() : undefined);
    if (!known) return;
    previews.set(session, known);
    known.note(events);
    if (!isPreview && known.replay().length === 0) previews.delete(session);
  };

  return {
    publish(session, events) {
      if (events.length === 0) return;
      notePreviews(session, events);
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
    openPreviews: (session) => previews.get(session)?.replay() ?? [],
  };
}
