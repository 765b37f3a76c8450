// What has been previewed of the answer that streams now, so that a reader who comes back in mid-answer gets it from its start.

import type { EventId } from '../types/ids.ts';
import type { LogEntry } from '../types/log.ts';
import type { TurnEvent } from '../types/turn.ts';

type Start = Extract<TurnEvent, { kind: 'preview_start' }>;
type Delta = Extract<TurnEvent, { kind: 'preview_delta' }>;

export interface OpenPreviews {
  /** Notes what a batch previews or brings to its end. */
  note(events: readonly TurnEvent[]): void;
  /** Starts and texts so far: per text one delta that stands for all of its own. */
  replay(): readonly TurnEvent[];
}

export function createOpenPreviews(): OpenPreviews {
  let starts: Start[] = [];
  let texts: Delta[] = [];
  let last = -1;

  const addDelta = (delta: Delta) => {
    const known = texts[last];
    if (known && known.eventId === delta.eventId && known.index === delta.index) {
      texts[last] = { ...known, text: known.text + delta.text };
      return;
    }
    const at = texts.findIndex((t) => t.eventId === delta.eventId && t.index === delta.index);
    last = at === -1 ? texts.push(delta) - 1 : at;
    if (at !== -1) texts[at] = { ...delta, text: (texts[at]?.text ?? '') + delta.text };
  };

  return {
    note(events) {
      for (const event of events) {
        if (event.kind === 'preview_delta') addDelta(event);
        else if (event.kind === 'preview_start') starts.push(event);
        else if (event.kind === 'entries' && event.entries.some(endsPreviews)) {
          starts = [];
          texts = [];
          last = -1;
        }
      }
    },
    replay: () => starts.flatMap((start) => [start, ...texts.filter((t) => isOf(t, start.eventId))]),
  };
}

const isOf = (delta: Delta, id: EventId): boolean => delta.eventId === id;

/** A new call begins, or the one that was previewed has its outcome. */
const endsPreviews = ({ kind }: LogEntry): boolean =>
  kind === 'message' || kind === 'model_failed' || kind === 'model_started' || kind === 'turn_ended';
