// How a turn ends on the wire: an error where it failed, then the thread, the usage, and last the session's idle.

import { derivedEventId, type EventId, threadIdOf } from '../../types/ids.ts';
import type { EntryOf } from '../../types/log.ts';
import type { ModelFailure, TurnOutcome } from '../../types/outcome.ts';
import { budgetView, usageView } from '../usage.ts';
import { type EventContext, errorFields, made, type WireEvent } from './wire-event.ts';

/** An error where the turn failed, the thread's end, the usage so far, and last the session's end. */
export function endEvents(
  { session, agentName, budget }: EventContext,
  entry: EntryOf<'turn_ended'>,
): readonly WireEvent[] {
  const own = (slot: string, type: string, fields: object) =>
    made(derivedEventId(session, entry.seq, slot), entry.at, type, fields);
  const stop = stopOf(entry.outcome);
  const failure = failureOf(entry.outcome);
  return [
    ...(failure ? [own('err', 'session.error', { error: errorFields(failure, 'exhausted') })] : []),
    own('tidle', 'session.thread_status_idle', {
      session_thread_id: threadIdOf(session),
      agent_name: agentName,
      ...stop,
    }),
    own('usage', 'session.usage', { usage: usageView(entry.totals), budget: budgetView(budget) }),
    own('idle', 'session.status_idle', stop),
  ];
}

const REFUSAL_CATEGORIES: readonly string[] = ['cyber', 'bio', 'frontier_llm', 'reasoning_extraction', 'general_harms'];

interface Stop {
  readonly stop_reason: { readonly type: string; readonly event_ids?: readonly EventId[] };
  readonly stop_details: object | null;
}

function stopOf(outcome: TurnOutcome): Stop {
  const plain = (type: string): Stop => ({ stop_reason: { type }, stop_details: null });
  switch (outcome.kind) {
    case 'completed':
    case 'interrupted':
      return plain('end_turn');
    case 'requires_action':
      return { stop_reason: { type: 'requires_action', event_ids: outcome.eventIds }, stop_details: null };
    case 'budget_reached':
      return plain('budget_reached');
    case 'limit':
    case 'retries_exhausted':
    case 'failed':
      return plain('retries_exhausted');
    case 'refused': {
      const { explanation } = outcome;
      const category = REFUSAL_CATEGORIES.includes(outcome.category ?? '') ? outcome.category : null;
      return { stop_reason: { type: 'refusal' }, stop_details: { type: 'refusal', category, explanation } };
    }
    default:
      return outcome satisfies never;
  }
}

const LIMIT_WORDS = {
  model_calls: 'model calls',
  tokens: 'tokens',
  wall_clock: 'milliseconds of running time',
} as const;

function failureOf(outcome: TurnOutcome): ModelFailure | null {
  switch (outcome.kind) {
    case 'limit': {
      const message = `The turn reached its limit of ${outcome.value} ${LIMIT_WORDS[outcome.limit]} (${outcome.limit}).`;
      return { type: 'tool_use_limit_reached_error', message };
    }
    case 'failed':
    case 'retries_exhausted':
      return outcome.error;
    case 'completed':
    case 'interrupted':
    case 'requires_action':
    case 'budget_reached':
    case 'refused':
      return null;
    default:
      return outcome satisfies never;
  }
}
