// A turn as a client sees it: every event in its order, previews that are prefixes, usage, and blocks that go back to the model unchanged.

import { describe, expect, test } from 'vitest';
import { useHarness } from '../support/harness.ts';
import { answer, call, redactedThinking, text, thinking, useModel } from '../support/model.ts';
import { previews } from '../support/previews.ts';
import { agentText, createSession, listAll, only, runTurn, TOOLSET, typesOf, userText } from '../support/sessions.ts';

const model = useModel();
const harness = useHarness({ modelUrl: () => model.url });
const client = () => harness.client();

describe('a plain turn', () => {
  test('the events in their order, with one id each, and the same in the list', async () => {
    model.script(text('Hello there.'));
    const id = await createSession(client());
    const events = await runTurn(client(), id, userText('hi'), { eventDeltas: ['agent.message'] });
    const kinds = typesOf(events).filter((t) => t !== 'event_delta');
    expect(kinds).toEqual([
      'user.message',
      'session.status_running',
      'user.message',
      'span.model_request_start',
      'event_start',
      'agent.message',
      'span.model_request_end',
      'session.thread_status_idle',
      'session.usage',
      'session.status_idle',
    ]);
    const [queued, processed] = only(events, 'user.message');
    expect(queued?.processed_at).toBeNull();
    expect(processed?.processed_at).not.toBeNull();
    expect(processed?.id).toBe(queued?.id);
    expect(agentText(events)).toBe('Hello there.');
    expect(events.at(-1)).toMatchObject({ stop_reason: { type: 'end_turn' }, stop_details: null });

    const stored = events.filter((e) => !e.type.startsWith('event_') && e !== queued);
    expect(await listAll(client(), id)).toEqual(stored);
    const times = stored.map((e) => ('processed_at' in e ? String(e.processed_at) : ''));
    expect(times).toEqual(times.toSorted());
    expect((await client().beta.sessions.retrieve(id)).status).toBe('idle');
  });

  test('deltas are a prefix of the event, and here all of it', async () => {
    const long = Array.from({ length: 60 }, (_, n) => `word${n} – ü€😀`).join(' ');
    model.script(text(long, { chunkChars: 7 }));
    const id = await createSession(client());
    const events = await runTurn(client(), id, userText('go'), { eventDeltas: ['agent.message'] });
    const [message] = only(events, 'agent.message');
    expect(previews(events).get(message?.id ?? '')).toBe(long);
    expect(agentText(events)).toBe(long);
    expect(only(events, 'event_delta').length).toBeGreaterThan(1);
  });

  test('without event_deltas there are no previews', async () => {
    model.script(text('Hello.'));
    const events = await runTurn(client(), await createSession(client()), userText('hi'));
    expect(typesOf(events).some((t) => t.startsWith('event_'))).toBe(false);
  });

  test('usage: per request in its span, in sum before idle and on the session, with list cost', async () => {
    const usage = {
      input_tokens: 100,
      output_tokens: 40,
      cache_read_input_tokens: 1000,
      cache_creation_input_tokens: 30,
    };
    model.script(text('one', { usage }), text('two', { usage }));
    const id = await createSession(client());
    const first = await runTurn(client(), id, userText('1'));
    expect(only(first, 'span.model_request_end')).toMatchObject([{ is_error: false, model_usage: usage }]);
    const second = await runTurn(client(), id, userText('2'));
    const [sum] = only(second, 'session.usage');
    const expected = { input_tokens: 200, output_tokens: 80, cache_read_input_tokens: 2000 };
    expect(sum).toMatchObject({ usage: expected });
    expect(sum?.usage.list_cost).toMatchObject({ currency: 'USD', amount: expect.stringMatching(/^\d+$/) });
    const session = await client().beta.sessions.retrieve(id);
    expect(session.usage).toMatchObject(expected);
    expect(session.usage.cache_creation?.ephemeral_5m_input_tokens).toBe(60);
  });

  test('every request carries cache marks, at most four', async () => {
    model.script(text('one'), text('two'));
    const id = await createSession(client(), { system: 'Be brief.', tools: [TOOLSET] });
    await runTurn(client(), id, userText('1'));
    await runTurn(client(), id, userText('2'));
    for (const { body } of model.takeRequests()) {
      const marks = JSON.stringify(body).match(/"cache_control"/g)?.length ?? 0;
      expect(marks).toBeGreaterThan(0);
      expect(marks).toBeLessThanOrEqual(4);
    }
  });
});

describe('blocks', () => {
  test('thinking and redacted thinking go back byte for byte, with their signatures', async () => {
    const blocks = [thinking('Let me see.', 'sig-abc+/='), redactedThinking('opaque=='), thinking('', 'sig-empty')];
    model.script(answer([...blocks, call('bash', { command: 'echo hi' }, 'toolu_1')]), text('Done.'));
    const id = await createSession(client(), { tools: [TOOLSET] });
    const events = await runTurn(client(), id, userText('go'), { eventDeltas: ['agent.thinking'] });
    expect(only(events, 'agent.thinking')).toHaveLength(3);
    for (const event of only(events, 'agent.thinking')) expect(event).not.toHaveProperty('content');
    expect(JSON.stringify(events)).not.toContain('Let me see');
    const [, second] = model.takeRequests();
    const history = second?.body.messages.find((m) => m.role === 'assistant');
    expect(history?.content.slice(0, 3)).toEqual([
      { type: 'thinking', thinking: 'Let me see.', signature: 'sig-abc+/=' },
      { type: 'redacted_thinking', data: 'opaque==' },
      { type: 'thinking', thinking: '', signature: 'sig-empty' },
    ]);
  });

  test('a block of an unknown type is kept and does no harm', async () => {
    const unknown = { type: 'hologram', depth: 3 };
    model.script(answer([unknown, { type: 'text', text: 'Seen.' }]), text('Next.'));
    const id = await createSession(client());
    const events = await runTurn(client(), id, userText('go'));
    expect(agentText(events)).toBe('Seen.');
    const next = await runTurn(client(), id, userText('more'));
    expect(next.at(-1)).toMatchObject({ stop_reason: { type: 'end_turn' } });
  });

  test('several text blocks are one agent.message', async () => {
    model.script(
      answer([
        { type: 'text', text: 'One.' },
        { type: 'text', text: 'Two.' },
      ]),
    );
    const id = await createSession(client());
    const events = await runTurn(client(), id, userText('go'), { eventDeltas: ['agent.message'] });
    expect(only(events, 'agent.message')).toMatchObject([
      {
        content: [
          { type: 'text', text: 'One.' },
          { type: 'text', text: 'Two.' },
        ],
      },
    ]);
    expect(only(events, 'event_start')).toHaveLength(1);
  });
});
