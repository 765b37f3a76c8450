// What an interrupt (soft) or a stop (hard) does to a session: it ends the open turn, or takes the inputs accepted before it
// as a turn that ends interrupted without a model call; on an idle session it has no effect (design 5, wire digest 12).

import type { EntryBody, InboxEvent } from '../../types/log.ts';
import type { TurnOutcome } from '../../types/outcome.ts';
import type { CallState, NextStep, StepInput } from '../../types/turn.ts';
import { answersOf, decideCalls, errorResult, type InterruptEvent } from '../calls.ts';
import { endTurn } from './end-turn.ts';

const INTERRUPTED: TurnOutcome = { kind: 'interrupted' };

export function interruptStep(input: StepInput, stop: InterruptEvent): NextStep {
  const { state, inbox, newTurnId } = input;
  const answers = answersOf(state.calls, inbox); // a client's claim outranks our synthetic answer
  if (answers.length > 0) return { kind: 'append', entries: answers.map((a) => ({ kind: 'input', event: a.event })) };
  const undecided = state.calls.filter((c) => c.decision === null && c.result === null);
  if (undecided.length > 0) return { kind: 'append', entries: decideCalls(state, undecided) }; // so that each call is shown
  const before = inbox
    .slice(0, inbox.indexOf(stop))
    .filter((e) => e.type === 'user.message' || e.type === 'system.message');
  const cancelled: EntryBody[] = stop.type === 'control.stop' ? before.map((event) => ({ kind: 'input', event })) : [];
  const own = takeStop(stop);
  if (state.turnOpen || state.calls.length > 0) {
    const entries = [...closeModel(input), ...closeCalls(state.calls), ...cancelled, own, endTurn(input, INTERRUPTED)];
    return { kind: 'end', outcome: INTERRUPTED, entries };
  }
  if (before.length === 0) return { kind: 'append', entries: [own] };
  const inputs = before.map((event): EntryBody => ({ kind: 'input', event }));
  const entries: EntryBody[] = [
    { kind: 'turn_started', turnId: newTurnId },
    ...inputs,
    own,
    endTurn(input, INTERRUPTED),
  ];
  return { kind: 'end', outcome: INTERRUPTED, entries };
}

/** An interrupt is an event of the wire; a stop is ours and leaves no event. */
function takeStop(stop: InterruptEvent): EntryBody {
  if (stop.type === 'control.stop') return { kind: 'session_updated', inputId: stop.id, change: {} };
  return { kind: 'input', event: stop satisfies InboxEvent };
}

function closeModel({ state }: StepInput): EntryBody[] {
  return state.openModel ? [{ kind: 'model_failed', modelSeq: state.openModel.seq, reason: 'interrupted' }] : [];
}

/** Every open call gets a result that says what is known: it did not run, or nobody knows. */
function closeCalls(calls: readonly CallState[]): EntryBody[] {
  return calls.filter((c) => c.result === null).map((c) => errorResult(c, interruptedText(c)));
}

function interruptedText(call: CallState): string {
  return call.started
    ? 'The user interrupted this call while it ran. It may have taken effect in part.'
    : 'The user interrupted the turn before this call ran.';
}
