// What a turn and a session have used so far.

import type { EntryOf } from '../../types/log.ts';
import type { ModelUsage } from '../../types/message.ts';
import type { TurnCounters } from '../../types/turn.ts';
import { addUsage } from '../price.ts';
import type { Draft } from './fold-work.ts';

/** A turn that goes on counts on; attempts belong to one step. */
export function startCounters(before: TurnCounters | null, entry: EntryOf<'turn_started'>): TurnCounters {
  if (entry.continues && before) return { ...before, attempts: 0, waitedMs: 0 };
  return { turnId: entry.turnId, modelCalls: 0, tokens: 0, activeMs: 0, attempts: 0, waitedMs: 0 };
}

/** Adds a call's usage to the session's totals and to the open turn's tokens. */
export function countUsage(d: Draft, usage: ModelUsage, model: string): void {
  d.totals = addUsage(d.totals, usage, model);
  if (!d.counters) return;
  const tokens =
    usage.input_tokens + usage.output_tokens + usage.cache_read_input_tokens + usage.cache_creation_input_tokens;
  d.counters = { ...d.counters, tokens: d.counters.tokens + tokens };
}
