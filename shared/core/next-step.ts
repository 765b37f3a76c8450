// The only place where control flow is decided: what to do next is a pure function of the folded log and the open inbox.
// Every step adds an entry, runs something, or ends; so the loop above it ends.

import type { EntryBody, InboxEvent } from '../types/log.ts';
import type { TurnOutcome } from '../types/outcome.ts';
import type { CallState, NextStep, SessionState, StepInput } from '../types/turn.ts';
import { answersOf, decideCalls, denialOf, isInterrupt, lostCall, waitingCalls } from './calls.ts';
import { decideBudget, isBudgetReached } from './decide-budget.ts';
import { changeOf } from './merge-metadata.ts';
import { endTurn } from './step/end-turn.ts';
import { interruptStep } from './step/interrupt.ts';

export function nextStep(input: StepInput): NextStep {
  const { state, inbox } = input;
  const stop = inbox.find(isInterrupt);
  if (stop) return interruptStep(input, stop);
  const update = inbox.find((e) => e.type === 'control.update');
  if (update) return append([{ kind: 'session_updated', inputId: update.id, change: changeOf(state, update) }]);
  return state.turnOpen ? openStep(input) : idleStep(input);
}

const append = (entries: readonly EntryBody[]): NextStep => ({ kind: 'append', entries });
const take = (events: readonly InboxEvent[]): EntryBody[] => events.map((event) => ({ kind: 'input', event }));

/** Between turns: take what can be taken now. */
function idleStep(input: StepInput): NextStep {
  const { state, inbox, newTurnId } = input;
  if (state.archivedAt !== null) return { kind: 'wait' };
  const archive = inbox.find((e) => e.type === 'control.archive');
  if (archive) return append([{ kind: 'session_updated', inputId: archive.id, change: {}, archived: true }]);
  if (state.calls.length > 0) return answerStep(input);
  if (isBudgetReached(state)) return { kind: 'wait' }; // messages behind a reached cap are no work
  if (state.lastOutcome?.kind === 'budget_reached' && state.counters) {
    return append([{ kind: 'turn_started', turnId: state.counters.turnId, continues: true }]); // the cap was lifted
  }
  const messages = inbox.filter(isMessage);
  if (messages.length === 0) return { kind: 'wait' };
  return append([{ kind: 'turn_started', turnId: newTurnId }, ...take(messages)]);
}

const isMessage = (e: InboxEvent): boolean => e.type === 'user.message' || e.type === 'system.message';

/** Calls wait for the client: take its answers; the turn goes on with the last of them (wire digest 10). */
function answerStep(input: StepInput): NextStep {
  const { state, inbox } = input;
  const answers = answersOf(state.calls, inbox);
  const open = waitingCalls(state.calls);
  const left = open.filter((call) => !answers.some((a) => a.call === call.eventId));
  if (left.length > 0) {
    if (answers.length === 0) return { kind: 'wait' };
    const outcome: TurnOutcome = { kind: 'requires_action', eventIds: left.map((c) => c.eventId) };
    return { kind: 'end', outcome, entries: [...take(answers.map((a) => a.event)), endTurn(input, outcome)] };
  }
  const turnId = state.counters?.turnId ?? input.newTurnId;
  return append([{ kind: 'turn_started', turnId, continues: true }, ...take(answers.map((a) => a.event))]);
}

/** Within a turn, nothing in flight. */
function openStep(input: StepInput): NextStep {
  const { state, inbox } = input;
  if (state.openModel) {
    return append([
      { kind: 'model_failed', modelSeq: state.openModel.seq, reason: 'lost', retry: 'retrying', waitMs: 0 },
    ]);
  }
  const undecided = state.calls.filter((c) => c.decision === null && c.result === null);
  if (undecided.length > 0) return append(decideCalls(state, undecided));
  const answers = answersOf(state.calls, inbox);
  if (answers.length > 0) return append(take(answers.map((a) => a.event)));
  const settled = state.calls.flatMap((c) => denialOf(c) ?? lostCall(c) ?? []);
  if (settled.length > 0) return append(settled);
  const runnable = state.calls.filter(isRunnable);
  if (runnable.length > 0) return { kind: 'run_tools', calls: runnable };
  const waiting = waitingCalls(state.calls);
  if (waiting.length > 0) return end(input, { kind: 'requires_action', eventIds: waiting.map((c) => c.eventId) });
  return modelStep(input);
}

const isRunnable = (c: CallState): boolean =>
  c.result === null &&
  c.kind === 'builtin' &&
  (c.decision === 'allow' || (c.decision === 'ask' && c.confirmation?.result === 'allow'));

/** All calls are answered: end, or ask the model again. */
function modelStep(input: StepInput): NextStep {
  const { state, inbox, now, limits } = input;
  const ended = outcomeOf(state);
  if (ended) return end(input, ended);
  const failure = state.lastFailure;
  const waitMs = failure ? Math.max(0, failure.at + failure.waitMs - now) : 0;
  const steering = inbox.filter((e) => e.type === 'user.message' && e.steer === true);
  if (steering.length > 0) return append(take(steering));
  const stopped = decideBudget(state, now, limits);
  if (stopped) return end(input, stopped);
  return { kind: 'call_model', attempt: (state.counters?.attempts ?? 0) + 1, waitMs };
}

/** How the last answer or failure ends the turn, or null where the model is to be called (again). */
function outcomeOf(state: SessionState): TurnOutcome | null {
  const { lastStop, lastFailure } = state;
  if (lastFailure?.retry === 'exhausted') {
    return {
      kind: 'retries_exhausted',
      error: lastFailure.error ?? { type: 'unknown_error', message: 'the model call failed' },
    };
  }
  if (lastFailure || !lastStop) return null;
  if (lastStop.stopReason === 'refusal') {
    return { kind: 'refused', category: lastStop.category, explanation: lastStop.explanation };
  }
  if (lastStop.callCut)
    return failed('the model reached its output limit (max_tokens) inside a tool call, which was not run');
  if (lastStop.stopReason === 'model_context_window_exceeded')
    return failed("the conversation is longer than the model's context window");
  if (lastStop.hadCalls || lastStop.stopReason === 'pause_turn') return null;
  return { kind: 'completed' };
}

const failed = (message: string): TurnOutcome => ({ kind: 'failed', error: { type: 'unknown_error', message } });

const end = (input: StepInput, outcome: TurnOutcome): NextStep => ({
  kind: 'end',
  outcome,
  entries: [endTurn(input, outcome)],
});
