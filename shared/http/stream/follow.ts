// Follow: from accepted inputs to the end of the turn that answers them, as one sequence of batches.

import type { SessionState, TurnEvent } from '../../types/turn.ts';

export interface Tracker {
  /** What of the batch belongs to the follow, and whether it is over with it. */
  take(batch: readonly TurnEvent[]): { readonly events: readonly TurnEvent[]; readonly done: boolean };
}

/** It is over with the first end of a turn after all of `inputs` were processed, or where they start no turn at all. */
export function createTracker(inputs: readonly string[], state: SessionState): Tracker {
  const pending = new Set(inputs);
  let turnOpen = state.turnOpen;
  return {
    take(batch) {
      const events: TurnEvent[] = [];
      for (const event of batch) {
        if (event.kind !== 'entries') {
          events.push(event);
          if (event.kind === 'deleted') return { events, done: true };
          continue;
        }
        for (let i = 0; i < event.entries.length; i++) {
          const entry = event.entries[i];
          if (!entry) continue;
          if (entry.kind === 'input') pending.delete(entry.event.id);
          if (entry.kind === 'turn_started') turnOpen = true;
          if (entry.kind === 'turn_ended') turnOpen = false;
          const archived = entry.kind === 'session_updated' && entry.archived === true;
          if (archived || (entry.kind === 'turn_ended' && pending.size === 0)) {
            events.push({ kind: 'entries', entries: event.entries.slice(0, i + 1) });
            return { events, done: true };
          }
        }
        events.push(event);
      }
      return { events, done: pending.size === 0 && !turnOpen };
    },
  };
}
