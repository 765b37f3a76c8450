// Decisions about open tool calls: who may answer them, what is denied, what a crash left behind.

import type { EventId } from '../types/ids.ts';
import type { EntryBody, InboxEvent } from '../types/log.ts';
import type { CallState, SessionState } from '../types/turn.ts';
import { BUILTIN_TOOLS } from './builtin-tools.ts';
import { evaluatePermission } from './evaluate-permission.ts';

export type InterruptEvent = InboxEvent & { readonly type: 'user.interrupt' | 'control.stop' };
export const isInterrupt = (e: InboxEvent): e is InterruptEvent =>
  e.type === 'user.interrupt' || e.type === 'control.stop';

/** The call's event id that an answer names, or undefined where the event is no answer. */
export function answeredCall(event: InboxEvent): EventId | undefined {
  switch (event.type) {
    case 'user.tool_confirmation':
    case 'user.tool_result':
      return event.tool_use_id;
    case 'user.custom_tool_result':
      return event.custom_tool_use_id;
    default:
      return undefined;
  }
}

/** Calls that only the client can move: asked and unanswered, or custom. */
export const waitingCalls = (calls: readonly CallState[]): readonly CallState[] =>
  calls.filter((c) => c.result === null && isClientCall(c));

const isClientCall = (c: CallState): boolean =>
  (c.kind === 'custom' && c.decision !== null) || (c.decision === 'ask' && c.confirmation === null);

/** The first open answer for each waiting call, in order of acceptance. */
export function answersOf(
  calls: readonly CallState[],
  inbox: readonly InboxEvent[],
): readonly { readonly call: EventId; readonly event: InboxEvent }[] {
  const open = new Set(waitingCalls(calls).map((c) => c.eventId));
  const answers: { call: EventId; event: InboxEvent }[] = [];
  for (const event of inbox) {
    const call = answeredCall(event);
    if (call !== undefined && open.delete(call)) answers.push({ call, event });
  }
  return answers;
}

/** The verdicts on calls of one answer as one entry. */
export function decideCalls(state: SessionState, calls: readonly CallState[]): EntryBody[] {
  const first = calls[0];
  if (!first) return [];
  return [
    {
      kind: 'decided',
      modelSeq: first.modelSeq,
      calls: calls.map((c) => {
        const { kind, decision, reason } = evaluatePermission(state.agent, state.mode, c.name);
        return { toolUseId: c.toolUseId, block: c.block, name: c.name, input: c.input, kind, decision, reason };
      }),
    },
  ];
}

/** The result of a call that was denied, or null where it was not. */
export function denialOf(call: CallState): EntryBody | null {
  if (call.result !== null) return null;
  if (call.confirmation?.result === 'deny') {
    const why = call.confirmation.message;
    return errorResult(call, why ? `The user denied this call: ${why}` : 'The user denied this call.');
  }
  if (call.decision === 'deny') return errorResult(call, `This call was not run: ${call.reason}.`);
  return null;
}

/** A started call without result is one that a dead worker left: unsafe ones may have run and are not run again. */
export function lostCall(call: CallState): EntryBody | null {
  if (!call.started || call.result !== null || isReplaySafe(call)) return null;
  return errorResult(
    call,
    'The outcome of this call is unknown: it was started, and the worker that ran it died. It may or may not have taken effect; check before you repeat it.',
  );
}

const isReplaySafe = (call: CallState): boolean =>
  BUILTIN_TOOLS.some((t) => t.readOnly && (t.wireName === call.name || t.claudeCodeName === call.name));

/** An error result that we write ourselves. */
export function errorResult(call: CallState, text: string): EntryBody {
  return {
    kind: 'tool_result',
    toolUseId: call.toolUseId,
    modelSeq: call.modelSeq,
    block: call.block,
    callKind: call.kind,
    content: [{ type: 'text', text }],
    isError: true,
  };
}
