// Log entries → the events of the wire, a pure projection: ids are fixed by session, entry and slot name, never by a count.

import { derivedEventId, type SessionId } from '../../types/ids.ts';
import type { EntryOf, InboxEvent, LogEntry, SessionChange } from '../../types/log.ts';
import { isText, type ModelUsage, NO_USAGE } from '../../types/message.ts';
import { timestampOf } from '../common.ts';
import { sessionAgentView } from '../session-agent.ts';
import { budgetView } from '../usage.ts';
import { clientEventView } from './client-event-view.ts';
import { endEvents } from './turn-end-events.ts';
import { type EventContext, errorFields, made, type WireEvent } from './wire-event.ts';

/** The events of one entry, in their order; many kinds of entry give none. */
export function eventsOfEntry(context: EventContext, entry: LogEntry): readonly WireEvent[] {
  const { session } = context;
  const own = (slot: string, type: string, fields: object = {}) =>
    made(derivedEventId(session, entry.seq, slot), entry.at, type, fields);
  switch (entry.kind) {
    case 'turn_started':
      return [own('run', 'session.status_running')];
    case 'input':
      return clientEventView(entry.event, timestampOf(entry.at));
    case 'model_started':
      return [own('start', 'span.model_request_start')];
    case 'message':
      return messageEvents(session, entry);
    case 'model_failed':
      return failureEvents(session, entry);
    case 'decided':
      return entry.calls.map((call) => callEvent(session, entry, call));
    case 'tool_result':
      return resultEvents(session, entry);
    case 'session_updated':
      return updateEvents(session, entry);
    case 'compacted':
      return [own('compact', 'agent.thread_context_compacted')];
    case 'rescheduled':
      return [own('resched', 'session.status_rescheduled')];
    case 'turn_ended':
      return endEvents(context, entry);
    case 'resumed':
    case 'tool_started':
    case 'repaired':
    case 'tools_offered':
    case 'mode_changed':
    case 'workspace_saved':
    case 'imported':
      return [];
    default:
      entry satisfies never;
      return []; // a kind of a later version
  }
}

/** The echo of an accepted event that the log has not taken yet; controls are no events. */
export const queuedEvent = (event: InboxEvent): readonly WireEvent[] => clientEventView(event, null);

/** What an open stream hears when its session is deleted. */
export const deletedEvent = (session: SessionId, lastSeq: number, at: number): WireEvent => ({
  id: derivedEventId(session, lastSeq, 'deleted'),
  type: 'session.deleted',
  processed_at: timestampOf(at),
});

/** The text of an answer is one event, under the id of its first text block; then the span ends. */
function messageEvents(session: SessionId, entry: EntryOf<'message'>): readonly WireEvent[] {
  const { modelSeq, content, usage } = entry;
  const texts = content.filter(isText);
  const shown = texts.some((t) => t.text.trim() !== '');
  const events: WireEvent[] = [];
  let messageDone = false;
  content.forEach((block, index) => {
    const slot = `b${index}`;
    if (block.type === 'thinking' || block.type === 'redacted_thinking') {
      events.push(made(derivedEventId(session, modelSeq, slot), entry.at, 'agent.thinking', {}));
    } else if (isText(block) && shown && !messageDone) {
      messageDone = true;
      const blocks = texts.map(({ text }) => ({ type: 'text', text }));
      events.push(made(derivedEventId(session, modelSeq, slot), entry.at, 'agent.message', { content: blocks }));
    }
  });
  return [...events, spanEnd(session, entry, usage, false)];
}

function spanEnd(
  session: SessionId,
  entry: EntryOf<'message'> | EntryOf<'model_failed'>,
  usage: ModelUsage,
  isError: boolean,
): WireEvent {
  const { modelSeq } = entry;
  return made(derivedEventId(session, modelSeq, 'end'), entry.at, 'span.model_request_end', {
    model_request_start_id: derivedEventId(session, modelSeq, 'start'),
    is_error: isError,
    model_usage: {
      input_tokens: usage.input_tokens,
      output_tokens: usage.output_tokens,
      cache_creation_input_tokens: usage.cache_creation_input_tokens,
      cache_read_input_tokens: usage.cache_read_input_tokens,
    },
  });
}

/** A failure that is retried is told here; the one that ends a turn is told where the turn ends. */
function failureEvents(session: SessionId, entry: EntryOf<'model_failed'>): readonly WireEvent[] {
  const end = spanEnd(session, entry, entry.usage ?? NO_USAGE, entry.reason !== 'interrupted');
  if (!entry.error || entry.retry !== 'retrying') return [end];
  const error = errorFields(entry.error, 'retrying');
  return [end, made(derivedEventId(session, entry.modelSeq, 'err'), entry.at, 'session.error', { error })];
}

type DecidedCall = EntryOf<'decided'>['calls'][number];

function callEvent(session: SessionId, entry: EntryOf<'decided'>, call: DecidedCall): WireEvent {
  const { name, input, decision } = call;
  const slot = `b${call.block}`;
  switch (call.kind) {
    case 'custom':
      return made(derivedEventId(session, entry.modelSeq, slot), entry.at, 'agent.custom_tool_use', { name, input });
    case 'mcp':
      return made(derivedEventId(session, entry.modelSeq, slot), entry.at, 'agent.mcp_tool_use', {
        name,
        mcp_server_name: call.mcpServer ?? '',
        input,
        evaluated_permission: decision,
      });
    case 'builtin':
    case 'unknown':
      return made(derivedEventId(session, entry.modelSeq, slot), entry.at, 'agent.tool_use', {
        name,
        input,
        evaluated_permission: decision,
        ...evaluationOf(call),
      });
    default:
      return call.kind satisfies never;
  }
}

/** Which policy of the wire decided, where one did. */
function evaluationOf({ decision, reason }: DecidedCall): object {
  const policy = /^policy (always_allow|always_ask|auto)\b/.exec(reason)?.[1];
  if (policy === undefined) return {};
  if (policy !== 'auto') return { evaluation: { type: policy } };
  const evaluated = decision === 'allow' ? { type: 'allow' } : { type: decision, reason_code: 'in_doubt' };
  return { evaluation: { type: 'auto', evaluated_permission: evaluated } };
}

/** A custom call's result is the client's own event; one that we wrote in its place gives none. */
function resultEvents(session: SessionId, entry: EntryOf<'tool_result'>): readonly WireEvent[] {
  const call = derivedEventId(session, entry.modelSeq, `b${entry.block}`);
  const content = entry.content.filter((b) => !isText(b) || b.text !== '');
  const shared = { content, is_error: entry.isError };
  switch (entry.callKind) {
    case 'custom':
      return [];
    case 'mcp':
      return [
        made(derivedEventId(session, entry.seq, 'res'), entry.at, 'agent.mcp_tool_result', {
          mcp_tool_use_id: call,
          ...shared,
        }),
      ];
    case 'builtin':
    case 'unknown':
      return [
        made(derivedEventId(session, entry.seq, 'res'), entry.at, 'agent.tool_result', {
          tool_use_id: call,
          ...shared,
        }),
      ];
    default:
      return entry.callKind satisfies never;
  }
}

function updateEvents(session: SessionId, entry: EntryOf<'session_updated'>): readonly WireEvent[] {
  const changed = changedFields(entry.change);
  const events: WireEvent[] = [];
  if (Object.keys(changed).length > 0) {
    events.push(made(derivedEventId(session, entry.seq, 'upd'), entry.at, 'session.updated', changed));
  }
  if (entry.archived)
    events.push(made(derivedEventId(session, entry.seq, 'term'), entry.at, 'session.status_terminated', {}));
  return events;
}

const changedFields = ({ title, metadata, agent, budget }: SessionChange): object => ({
  ...(title === undefined ? {} : { title }),
  ...(metadata === undefined ? {} : { metadata }),
  ...(agent === undefined ? {} : { agent: sessionAgentView(agent) }),
  ...(budget === undefined ? {} : { budget: budgetView(budget) }),
});
