// Whether a session can take these events as it stands: all of them or none. Pure, over the snapshot that was just read.

import { answeredCall, waitingCalls } from '../../core/calls.ts';
import { isBudgetReached } from '../../core/decide-budget.ts';
import type { SessionSnapshot } from '../../turn/engine-types.ts';
import { ServiceError } from '../../types/errors.ts';
import { type EventId, threadIdOf } from '../../types/ids.ts';
import type { CallState, SessionState } from '../../types/turn.ts';
import type { ClientEventInput, OnBusy } from '../../wire/events/client-events.ts';
import { budgetView } from '../../wire/usage.ts';

export interface Checked {
  /** One per answer, by its place in the request. */
  readonly claims: readonly { readonly index: number; readonly call: EventId }[];
  /** What queued messages wait behind: open calls that nobody has answered yet. */
  readonly waitingFor: readonly EventId[];
}

const wrong = (field: string, message: string): ServiceError =>
  new ServiceError('invalid_request', `${field}: ${message}`, { field });

/** Throws a 400 that names the event and says what stands in its way. */
export function checkEvents(snapshot: SessionSnapshot, events: readonly ClientEventInput[], onBusy: OnBusy): Checked {
  const { state } = snapshot;
  checkAlive(snapshot);
  const answered = new Set<string>(snapshot.inbox.flatMap((e) => answeredCall(e) ?? []));
  const claims: { index: number; call: EventId }[] = [];
  events.forEach((event, index) => {
    const call = checkEvent(state, event, `events[${index}]`);
    if (call === undefined) return;
    if (answered.has(call)) throw wrong(answerField(event, index), `the call ${call} has an answer already`);
    answered.add(call);
    claims.push({ index, call });
  });
  checkSystemMessages(state, events);
  const waiting = waitingCalls(state.calls).map((c) => c.eventId);
  if (onBusy === 'reject') checkFree(snapshot, waiting);
  const queues = events.some((e) => e.type === 'user.message');
  return { claims, waitingFor: queues ? waiting.filter((id) => !answered.has(id)) : [] };
}

function checkAlive({ state, inbox, status }: SessionSnapshot): void {
  const archived = state.archivedAt !== null || inbox.some((e) => e.type === 'control.archive');
  if (archived || status === 'terminated') {
    throw new ServiceError('invalid_request', `the session ${state.session.id} is archived and takes no more events`);
  }
}

/** The call that the event answers, if it is an answer. */
function checkEvent(state: SessionState, event: ClientEventInput, at: string): EventId | undefined {
  switch (event.type) {
    case 'user.message':
    case 'system.message':
      checkBudget(state, at);
      return undefined;
    case 'user.interrupt':
      if (event.session_thread_id && event.session_thread_id !== threadIdOf(state.session.id)) {
        throw wrong(`${at}.session_thread_id`, 'there is no such thread in this session');
      }
      return undefined;
    case 'user.tool_confirmation':
      return checkConfirmation(state, event.tool_use_id, `${at}.tool_use_id`);
    case 'user.custom_tool_result':
      return checkCustomResult(state, event.custom_tool_use_id, `${at}.custom_tool_use_id`);
    case 'user.tool_result':
      throw wrong(`${at}.type`, 'user.tool_result is for sessions in self_hosted environments only');
    case 'user.define_outcome':
      throw wrong(`${at}.type`, 'not yet supported: outcomes'); // the schema refuses it before
    default:
      return event satisfies never;
  }
}

function checkBudget(state: SessionState, at: string): void {
  if (!isBudgetReached(state)) return;
  const cap = budgetView(state.budget)?.max_list_cost.amount;
  throw wrong(at, `the session has used up its budget of ${cap} cents; raise or remove the budget first`);
}

function checkConfirmation(state: SessionState, id: string, field: string): EventId {
  const call = findCall(state, id, field);
  if (call.kind === 'custom') throw wrong(field, `${id} is a custom tool call; answer it with user.custom_tool_result`);
  if (call.decision !== 'ask') throw wrong(field, `the call ${id} needs no confirmation`);
  if (call.confirmation !== null || call.result !== null) throw wrong(field, `the call ${id} has an answer already`);
  return call.eventId;
}

function checkCustomResult(state: SessionState, id: string, field: string): EventId {
  const call = findCall(state, id, field);
  if (call.kind !== 'custom') throw wrong(field, `${id} is not the call of a custom tool`);
  if (call.result !== null) throw wrong(field, `the call ${id} has an answer already`);
  return call.eventId;
}

function findCall(state: SessionState, id: string, field: string): CallState {
  const call = state.calls.find((c) => c.eventId === id && c.decision !== null);
  if (!call) throw wrong(field, `no call of this session waits for an answer under the id ${id}`);
  return call;
}

const answerField = (event: ClientEventInput, index: number): string =>
  `events[${index}].${event.type === 'user.custom_tool_result' ? 'custom_tool_use_id' : 'tool_use_id'}`;

/** At most one, last, right after a message or a result; behind a result only, while calls wait. */
function checkSystemMessages(state: SessionState, events: readonly ClientEventInput[]): void {
  const at = events.findIndex((e) => e.type === 'system.message');
  if (at < 0) return;
  const field = `events[${at}]`;
  if (at !== events.length - 1) throw wrong(field, 'a system.message must be the last event of a request');
  const before = events[at - 1]?.type;
  const isResult = before === 'user.custom_tool_result' || before === 'user.tool_result';
  if (!isResult && before !== 'user.message') {
    throw wrong(field, 'a system.message must follow a user.message or a tool result in the same request');
  }
  if (!isResult && waitingCalls(state.calls).length > 0) {
    throw wrong(field, 'while calls wait for an answer, a system.message must follow a tool result');
  }
}

function checkFree({ status, inbox }: SessionSnapshot, waiting: readonly EventId[]): void {
  if (waiting.length > 0) throw wrong('reprise.on_busy', `the session waits for an answer to ${waiting.join(', ')}`);
  if (status === 'idle') return;
  const queued = inbox.filter((e) => !e.type.startsWith('control.')).length;
  throw wrong('reprise.on_busy', `the session is ${status}${queued > 0 ? `, with ${queued} events queued` : ''}`);
}
