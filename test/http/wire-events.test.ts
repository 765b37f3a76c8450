// The projection of log entries onto wire events: every slot, every id, the order within a turn.

import { describe, expect, test } from 'vitest';
import { initialState, placeEntries } from '../../shared/core/fold.ts';
import type { EventId, ToolUseId } from '../../shared/types/ids.ts';
import type { DecidedCall, EntryBody, InboxEvent } from '../../shared/types/log.ts';
import { NO_TOTALS } from '../../shared/types/message.ts';
import type { TurnOutcome } from '../../shared/types/outcome.ts';
import { SessionEventView } from '../../shared/wire/events/event-schemas.ts';
import { deletedEvent, eventsOfEntry, queuedEvent } from '../../shared/wire/events/events.ts';
import type { WireEvent } from '../../shared/wire/events/wire-event.ts';
import { agent, message, result, session, started, T0, TURN, text, toolUse, ULID } from '../core/builders.ts';

const S = session();
const context = { session: S.id, agentName: 'tester', budget: null };
const AT = new Date(T0).toISOString();
const id = (seq: number, slot: string) => `sevt_${ULID}s${seq}${slot}`;

/** The events of bodies that start a log. */
function project(...bodies: EntryBody[]): WireEvent[] {
  const entries = placeEntries(initialState(S), bodies, 1, T0);
  const events = entries.flatMap((entry) => eventsOfEntry(context, entry));
  for (const event of events) expect(SessionEventView.safeParse(event).error?.issues).toBeUndefined();
  return events;
}

const shape = (events: readonly WireEvent[]) => events.map((e) => [e.type, e.id]);
const ended = (outcome: TurnOutcome): EntryBody => ({ kind: 'turn_ended', turnId: TURN, outcome, totals: NO_TOTALS });
const stamped = (event: object): InboxEvent => ({ ...event, id: 'sevt_x' as EventId, acceptedAt: T0 }) as InboxEvent;
const call = (over: Partial<DecidedCall> = {}): DecidedCall => ({
  toolUseId: 't1' as ToolUseId,
  block: 1,
  name: 'bash',
  input: { command: 'ls' },
  kind: 'builtin',
  decision: 'allow',
  reason: 'policy always_allow',
  ...over,
});

describe('a turn', () => {
  test('with thinking, text and a call, in its order, under fixed ids', () => {
    const thinking = { type: 'thinking', thinking: 'hm', signature: 's' };
    const events = project(
      { kind: 'turn_started', turnId: TURN },
      { kind: 'input', event: stamped({ type: 'user.message', content: [text('go')] }) },
      started,
      message(3, [thinking, text('I look.'), toolUse('t1')], 'tool_use'),
      { kind: 'decided', modelSeq: 3, calls: [call({ block: 2 })] },
      { kind: 'tool_started', toolUseIds: ['t1' as ToolUseId] },
      result('t1', 3, 2),
      started,
      message(8, [text('Done.')]),
      ended({ kind: 'completed' }),
    );
    expect(shape(events)).toEqual([
      ['session.status_running', id(1, 'run')],
      ['user.message', 'sevt_x'],
      ['span.model_request_start', id(3, 'start')],
      ['agent.thinking', id(3, 'b0')],
      ['agent.message', id(3, 'b1')],
      ['span.model_request_end', id(3, 'end')],
      ['agent.tool_use', id(3, 'b2')],
      ['agent.tool_result', id(7, 'res')],
      ['span.model_request_start', id(8, 'start')],
      ['agent.message', id(8, 'b0')],
      ['span.model_request_end', id(8, 'end')],
      ['session.thread_status_idle', id(10, 'tidle')],
      ['session.usage', id(10, 'usage')],
      ['session.status_idle', id(10, 'idle')],
    ]);
    expect(events[3]).toEqual({ type: 'agent.thinking', id: id(3, 'b0'), processed_at: AT });
    expect(events[5]).toMatchObject({ model_request_start_id: id(3, 'start'), is_error: false });
    expect(events[7]).toMatchObject({ tool_use_id: id(3, 'b2'), is_error: false });
  });

  test('several text blocks are one message under the id of the first; blank text is none', () => {
    const [event] = project(message(1, [text('a'), text('b')]));
    expect(event).toMatchObject({ id: id(1, 'b0'), content: [{ text: 'a' }, { text: 'b' }] });
    expect(shape(project(message(1, [text('  ')])))).toEqual([['span.model_request_end', id(1, 'end')]]);
  });

  test.each<[DecidedCall, string, object]>([
    [call(), 'agent.tool_use', { evaluated_permission: 'allow', evaluation: { type: 'always_allow' } }],
    [call({ decision: 'ask', reason: 'policy always_ask' }), 'agent.tool_use', { evaluation: { type: 'always_ask' } }],
    [call({ kind: 'unknown', decision: 'deny', reason: 'no' }), 'agent.tool_use', { evaluated_permission: 'deny' }],
    [call({ kind: 'custom', name: 'w' }), 'agent.custom_tool_use', { name: 'w', input: { command: 'ls' } }],
    [call({ kind: 'mcp', mcpServer: 'm' }), 'agent.mcp_tool_use', { mcp_server_name: 'm' }],
  ])('a verdict %#', (decided, type, fields) => {
    const [event] = project({ kind: 'decided', modelSeq: 1, calls: [decided] });
    expect(event).toMatchObject({ type, id: id(1, 'b1'), ...fields });
  });

  test('a result that stands in for a custom call gives no event', () => {
    expect(project({ ...result('t1', 1, 0), callKind: 'custom' } as EntryBody)).toEqual([]);
  });
});

describe('failures', () => {
  const error = { type: 'model_overloaded_error', message: 'overloaded' } as const;

  test('a retried one ends its span and says so; the last is told by the end of the turn', () => {
    const retried = project({ kind: 'model_failed', modelSeq: 1, reason: 'error', error, retry: 'retrying' });
    expect(shape(retried)).toEqual([
      ['span.model_request_end', id(1, 'end')],
      ['session.error', id(1, 'err')],
    ]);
    expect(retried[1]).toMatchObject({ error: { ...error, retry_status: { type: 'retrying' } } });
    const last = project(
      { kind: 'model_failed', modelSeq: 1, reason: 'error', error, retry: 'exhausted' },
      ended({ kind: 'retries_exhausted', error }),
    );
    expect(last.map((e) => e.type)).toEqual([
      'span.model_request_end',
      'session.error',
      'session.thread_status_idle',
      'session.usage',
      'session.status_idle',
    ]);
    expect(last[1]).toMatchObject({ id: id(2, 'err'), error: { retry_status: { type: 'exhausted' } } });
  });

  test('an interrupted request is no error', () => {
    const [end] = project({ kind: 'model_failed', modelSeq: 1, reason: 'interrupted' });
    expect(end).toMatchObject({ is_error: false, model_usage: { input_tokens: 0 } });
  });
});

describe('ends', () => {
  test.each<[TurnOutcome, object]>([
    [{ kind: 'completed' }, { stop_reason: { type: 'end_turn' }, stop_details: null }],
    [{ kind: 'interrupted' }, { stop_reason: { type: 'end_turn' } }],
    [
      { kind: 'requires_action', eventIds: ['sevt_a' as EventId] },
      { stop_reason: { type: 'requires_action', event_ids: ['sevt_a'] } },
    ],
    [{ kind: 'budget_reached' }, { stop_reason: { type: 'budget_reached' } }],
    [{ kind: 'limit', limit: 'model_calls', value: 50 }, { stop_reason: { type: 'retries_exhausted' } }],
    [
      { kind: 'refused', category: 'bio', explanation: 'no' },
      { stop_reason: { type: 'refusal' }, stop_details: { type: 'refusal', category: 'bio', explanation: 'no' } },
    ],
    [{ kind: 'refused', category: 'new', explanation: null }, { stop_details: { category: null } }],
  ])('%j', (outcome, expected) => {
    const idle = project(ended(outcome)).at(-1);
    expect(idle).toMatchObject({ type: 'session.status_idle', ...expected });
  });

  test('a reached limit is named', () => {
    const [error] = project(ended({ kind: 'limit', limit: 'model_calls', value: 50 }));
    expect(error).toMatchObject({ error: { type: 'tool_use_limit_reached_error' } });
    expect(JSON.stringify(error)).toContain('50 model calls (model_calls)');
  });
});

describe('other entries', () => {
  test('a change shows what changed and nothing else; archive and stop', () => {
    const inputId = 'sevt_c' as EventId;
    const update = (change: object, more = {}): EntryBody => ({ kind: 'session_updated', inputId, change, ...more });
    expect(project(update({ title: 'T' }))).toEqual([
      { id: id(1, 'upd'), type: 'session.updated', processed_at: AT, title: 'T' },
    ]);
    expect(project(update({ budget: null }))[0]).toMatchObject({ budget: null });
    expect(project(update({ agent: agent() }))[0]).toMatchObject({ agent: { type: 'agent', name: 'tester' } });
    expect(shape(project(update({}, { archived: true })))).toEqual([['session.status_terminated', id(1, 'term')]]);
    expect(project(update({}))).toEqual([]);
  });

  test('runtime entries give no events; compaction and hand-over do', () => {
    expect(
      project(
        { kind: 'resumed', turnId: TURN },
        { kind: 'repaired', repairs: [] },
        { kind: 'tools_offered', names: [], hash: 'h' },
        { kind: 'workspace_saved', changes: [] },
      ),
    ).toEqual([]);
    expect(
      shape(project({ kind: 'compacted', checkpoint: 'x' as never }, { kind: 'rescheduled', delayMs: 0, reason: 'r' })),
    ).toEqual([
      ['agent.thread_context_compacted', id(1, 'compact')],
      ['session.status_rescheduled', id(2, 'resched')],
    ]);
  });

  test('a kind of a later version is skipped', () => {
    expect(project({ kind: 'from_the_future' } as unknown as EntryBody)).toEqual([]);
  });

  test('an echo waits; an answer bears its acceptance time from the echo on; controls are no events', () => {
    const [waiting] = queuedEvent(stamped({ type: 'user.message', content: [text('x')] }));
    expect(waiting).toMatchObject({ processed_at: null });
    const answer = stamped({ type: 'user.custom_tool_result', custom_tool_use_id: 'sevt_c', is_error: false });
    expect(queuedEvent(answer)).toMatchObject([{ processed_at: AT, content: [] }]);
    expect(queuedEvent(stamped({ type: 'control.stop' }))).toEqual([]);
    expect(deletedEvent(S.id, 9, T0)).toMatchObject({ type: 'session.deleted', processed_at: AT });
  });
});
