// Frames of a batch, row by row: what has an id line, what a late echo says, what a change of the session changes after it.

import { expect, test } from 'vitest';
import { initialState, placeEntries } from '../../shared/core/fold.ts';
import { createFramer, type FrameOptions } from '../../shared/http/stream/frames.ts';
import type { EntryBody, InboxEvent } from '../../shared/types/log.ts';
import { NO_TOTALS } from '../../shared/types/message.ts';
import type { TurnEvent } from '../../shared/types/turn.ts';
import { says, session, T0, TURN } from '../core/builders.ts';
import { createSseParser } from '../support/sse.ts';

const S = session({ budget: { maxListCostCents: 5 } });
const state = initialState(S);
const framer = (over: Partial<FrameOptions> = {}) =>
  createFramer({ session: S.id, state, eventDeltas: [], repriseDeltas: [], after: null, now: () => T0, ...over });
const entries = (...bodies: EntryBody[]): TurnEvent => ({
  kind: 'entries',
  entries: placeEntries(state, bodies, 1, T0),
});
const ended: EntryBody = { kind: 'turn_ended', turnId: TURN, outcome: { kind: 'completed' }, totals: NO_TOTALS };
const read = (text: string) =>
  createSseParser()(text).map(({ event, id, data }) => ({
    event,
    id,
    data: JSON.parse(data) as Record<string, unknown>,
  }));

test('events of entries have the id of their place; an echo has none', () => {
  const message = says('hi');
  const frames = read(
    framer().encode([{ kind: 'accepted', events: [message] }, entries({ kind: 'input', event: message }, ended)]),
  );
  expect(frames.map((f) => [f.event, f.id, f.data.type])).toEqual([
    ['message', undefined, 'user.message'],
    ['message', '1-0', 'user.message'],
    ['message', '2-0', 'session.thread_status_idle'],
    ['message', '2-1', 'session.usage'],
    ['message', '2-2', 'session.status_idle'],
  ]);
});

test('an echo that comes after its processed copy is left out', () => {
  const message = says('hi');
  const { encode } = framer();
  encode([entries({ kind: 'input', event: message })]);
  expect(encode([{ kind: 'accepted', events: [message] }])).toBe('');
});

test.each(['user.custom_tool_result', 'user.tool_result'] as const)(
  '%s, whose echo bears its time, comes once on a connection, and once on a resumed one',
  (type) => {
    const { id, acceptedAt } = says('x');
    const call = type === 'user.tool_result' ? { tool_use_id: id } : { custom_tool_use_id: id };
    const answer = { type, ...call, content: [], is_error: false, id, acceptedAt } as InboxEvent;
    const accepted: TurnEvent = { kind: 'accepted', events: [answer] };
    const input = entries({ kind: 'input', event: answer }, ended);
    const live = framer();
    const [echo, ...others] = read(live.encode([accepted]) + live.encode([input]));
    expect(echo).toMatchObject({ id: undefined, data: { type, id, processed_at: expect.any(String) } });
    expect(others.map((f) => [f.id, f.data.type])).toEqual([
      ['2-0', 'session.thread_status_idle'],
      ['2-1', 'session.usage'],
      ['2-2', 'session.status_idle'],
    ]);
    const resumed = read(framer({ after: { seq: 0, n: 0 } }).encode([input, accepted]));
    expect(resumed.filter((f) => f.data.type === type).map((f) => f.id)).toEqual(['1-0']);
    expect(resumed[0]?.data).toEqual(echo?.data);
  },
);

test('a resumed reader gets what comes behind its place within an entry', () => {
  const frames = read(framer({ after: { seq: 1, n: 1 } }).encode([entries(ended)]));
  expect(frames.map((f) => f.id)).toEqual(['1-2']);
});

test('budget and name of a later event are those that an update before it set', () => {
  const inputId = says('x').id;
  const change = { budget: null, agent: { ...S.agent, name: 'renamed' } };
  const frames = read(framer().encode([entries({ kind: 'session_updated', inputId, change }, ended)]));
  expect(frames.find((f) => f.data.type === 'session.usage')?.data.budget).toBeNull();
  expect(frames.find((f) => f.data.type === 'session.thread_status_idle')?.data.agent_name).toBe('renamed');
  const before = read(framer().encode([entries(ended)]));
  expect(before.find((f) => f.data.type === 'session.usage')?.data.budget).toMatchObject({
    max_list_cost: { amount: '5' },
  });
});

test('text that JSON must escape comes through a delta as it was', () => {
  const { encode } = framer({ eventDeltas: ['agent.message'] });
  const eventId = says('x').id;
  const text = 'quote " line\n\n sep\u2028 half \ud83d';
  const out = encode([
    { kind: 'preview_start', eventType: 'agent.message', eventId },
    { kind: 'preview_delta', eventType: 'agent.message', eventId, index: 0, text },
  ]);
  const [, delta] = read(out);
  expect(delta?.data).toMatchObject({ delta: { content: { type: 'text', text } } });
});
