// A turn as a client sees it: every event in its order, previews that are prefixes, usage, and histories that reach the model unchanged.

import { describe, expect, test } from 'vitest';
import { useHarness } from '../support/harness.ts';
import { answer, call, httpError, redactedThinking, text, thinking, useModel } from '../support/model.ts';
import {
  agentText,
  createSession,
  listAll,
  only,
  runTurn,
  type StreamedEvent,
  TOOLSET,
  typesOf,
  userText,
  waitFor,
} from '../support/sessions.ts';

const model = useModel();
const harness = useHarness({ modelUrl: () => model.url });
const client = () => harness.client();

/** Texts of the previews by event id, and checks that each preview is announced once and before its event. */
function previews(events: readonly StreamedEvent[]): Map<string, string> {
  const texts = new Map<string, string>();
  const done = new Set<string>();
  for (const event of events) {
    if (event.type === 'event_start') {
      expect(texts.has(event.event.id), 'announced twice').toBe(false);
      expect(done.has(event.event.id), 'announced after its event').toBe(false);
      texts.set(event.event.id, '');
    } else if (event.type === 'event_delta') {
      expect(done.has(event.event_id), 'a delta after its event').toBe(false);
      const before = texts.get(event.event_id);
      expect(before, 'a delta without its start').toBeDefined();
      texts.set(event.event_id, `${before}${event.delta.content.text}`);
    } else if (event.type === 'agent.message' || event.type === 'agent.thinking') {
      done.add(event.id);
    }
  }
  return texts;
}

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

describe('tools', () => {
  test('several calls of one answer are answered in one user message, by id, in order', async () => {
    model.script(
      answer([
        { type: 'text', text: 'Looking.' },
        call('write', { file_path: '/workspace/a.txt', content: 'alpha\n' }, 'toolu_a'),
        call('bash', { command: 'cat /workspace/a.txt' }, 'toolu_b'),
        call('read', { file_path: '/workspace/missing.txt' }, 'toolu_c'),
        call('bash', { command: 'exit 3' }, 'toolu_d'),
      ]),
      text('Done.'),
    );
    const id = await createSession(client(), { tools: [TOOLSET] });
    const events = await runTurn(client(), id, userText('go'));
    expect(events.at(-1)).toMatchObject({ stop_reason: { type: 'end_turn' } });

    const uses = only(events, 'agent.tool_use');
    expect(uses.map((u) => [u.name, u.evaluated_permission])).toEqual([
      ['write', 'allow'],
      ['bash', 'allow'],
      ['read', 'allow'],
      ['bash', 'allow'],
    ]);
    const results = only(events, 'agent.tool_result');
    expect(results.map((r) => r.tool_use_id).toSorted()).toEqual(uses.map((u) => u.id).toSorted());
    for (const result of results) expect(Array.isArray(result.content)).toBe(true);
    const resultOf = (n: number) => results.find((r) => r.tool_use_id === uses[n]?.id);
    expect(JSON.stringify(resultOf(1)?.content)).toContain('alpha');
    expect(resultOf(2)?.is_error).toBe(true);
    expect(resultOf(3)?.is_error).toBe(true);

    const [, second] = model.takeRequests();
    const last = second?.body.messages.at(-1);
    expect(last?.role).toBe('user');
    expect(last?.content.map((b) => b.tool_use_id)).toEqual(['toolu_a', 'toolu_b', 'toolu_c', 'toolu_d']);
    expect(last?.content.map((b) => b.is_error === true)).toEqual([false, false, true, true]);
  });

  test.each([
    ['an unknown tool', call('teleport', { to: 'moon' }, 'toolu_x')],
    ['a wrong input', call('read', { file: 7 }, 'toolu_x')],
    ['a path outside', call('read', { file_path: '/workspace/../../etc/shadow' }, 'toolu_x')],
  ])('%s is an is_error result and the turn goes on', async (_what, wrong) => {
    model.script(answer([wrong]), text('I see.'));
    const id = await createSession(client(), { tools: [TOOLSET] });
    const events = await runTurn(client(), id, userText('go'));
    expect(agentText(events)).toBe('I see.');
    const [, second] = model.takeRequests();
    expect(second?.body.messages.at(-1)?.content).toMatchObject([{ tool_use_id: 'toolu_x', is_error: true }]);
  });

  test('an input that is broken JSON: the model is asked again, nothing of it runs or enters the history', async () => {
    const broken = { type: 'tool_use', name: 'bash', id: 'toolu_x', json: '{"command": "echo ran' } as const;
    model.script(answer([broken]), text('Asked again.'));
    const id = await createSession(client(), { tools: [TOOLSET] });
    const events = await runTurn(client(), id, userText('go'));
    expect(agentText(events)).toBe('Asked again.');
    expect(only(events, 'agent.tool_result').filter((r) => !r.is_error)).toEqual([]);
    const [first, second] = model.takeRequests();
    expect(second?.body.messages.slice(0, first?.body.messages.length)).toEqual(first?.body.messages);
  });

  test('directory and exported variables are kept between calls, also after exit', async () => {
    model.script(
      answer([call('bash', { command: 'mkdir -p /workspace/d && cd /workspace/d && export COLOR=blue && exit 0' })]),
      answer([call('bash', { command: 'pwd; echo $COLOR' })]),
      text('Done.'),
    );
    const id = await createSession(client(), { tools: [TOOLSET] });
    const results = only(await runTurn(client(), id, userText('go')), 'agent.tool_result');
    expect(JSON.stringify(results[1]?.content)).toMatch(/\/workspace\/d.*blue/);
  });

  test("Claude Code's face: its names and schemas, Read by absolute path with offset and limit", async () => {
    const lines = Array.from({ length: 9 }, (_, n) => `line ${n + 1}`).join('\n');
    model.script(
      answer([
        call('Write', { file_path: '/workspace/a.txt', content: lines }),
        call('Read', { file_path: '/workspace/a.txt', offset: 3, limit: 2 }),
        call('Read', { file_path: 'a.txt' }),
      ]),
      text('Done.'),
    );
    const toolset = { ...TOOLSET, reprise: { face: 'claude_code' } };
    const id = await createSession(client(), { tools: [toolset] });
    const events = await runTurn(client(), id, userText('go'));
    const results = only(events, 'agent.tool_use').map((use) =>
      only(events, 'agent.tool_result').find((result) => result.tool_use_id === use.id),
    );
    const read = JSON.stringify(results[1]?.content);
    expect(read).toContain('line 3');
    expect(read).toContain('line 4');
    expect(read).not.toContain('line 5');
    expect(results.map((r) => r?.is_error)).toEqual([false, false, true]);
    const offered = model.takeRequests()[0]?.body.tools?.map((t) => t.name);
    expect(offered).toEqual(expect.arrayContaining(['Bash', 'Read', 'Write', 'Edit', 'Glob', 'Grep']));
    expect(offered).not.toContain('bash');
  });
});

describe('model trouble', () => {
  test('an overload is retried by itself, shown as retrying, and the answer comes', async () => {
    model.script(httpError(529, 'overloaded_error'), text('After all.'));
    const id = await createSession(client());
    const events = await runTurn(client(), id, userText('go'));
    expect(only(events, 'session.error')).toMatchObject([
      { error: { type: 'model_overloaded_error', retry_status: { type: 'retrying' } } },
    ]);
    expect(only(events, 'span.model_request_end').map((e) => e.is_error)).toEqual([true, false]);
    expect(agentText(events)).toBe('After all.');
  });

  test('a cut stream is retried: the first preview ends without its event, the retry has a new id', async () => {
    model.script(text('Half an answer', { cut: true }), text('A whole answer.'));
    const id = await createSession(client());
    const events = await runTurn(client(), id, userText('go'), { eventDeltas: ['agent.message'] });
    const starts = only(events, 'event_start').map((e) => e.event.id);
    expect(new Set(starts).size).toBe(starts.length);
    const [message, ...more] = only(events, 'agent.message');
    expect(more).toEqual([]);
    expect(message?.id).toBe(starts.at(-1));
    expect(agentText(events)).toBe('A whole answer.');
    expect(previews(events).get(message?.id ?? '')).toBe('A whole answer.');
  });

  test('a wrong key ends the turn at once, clearly; the session stays usable', async () => {
    model.script(httpError(401, 'authentication_error'), text('Back again.'));
    const id = await createSession(client());
    const events = await runTurn(client(), id, userText('go'));
    expect(only(events, 'session.error')).toMatchObject([{ error: { retry_status: { type: 'exhausted' } } }]);
    expect(events.at(-1)).toMatchObject({ stop_reason: { type: 'retries_exhausted' } });
    expect(model.takeRequests()).toHaveLength(1);
    expect(agentText(await runTurn(client(), id, userText('again')))).toBe('Back again.');
  });

  test('a refusal has its own stop reason with details', async () => {
    model.script(text('I cannot.', { stopReason: 'refusal' }));
    const events = await runTurn(client(), await createSession(client()), userText('go'));
    expect(events.at(-1)).toMatchObject({ stop_reason: { type: 'refusal' }, stop_details: { type: 'refusal' } });
  });

  test('max_tokens inside a call: the call neither runs nor enters the history', async () => {
    const half = { type: 'tool_use', name: 'bash', id: 'toolu_half', json: '{"command": "echo ran > /works' } as const;
    model.script(answer([{ type: 'text', text: 'Trying.' }, half], { stopReason: 'max_tokens' }), text('Next.'));
    model.script(text('Spare.'), text('Spare.'));
    const id = await createSession(client(), { tools: [TOOLSET] });
    const events = await runTurn(client(), id, userText('go'));
    expect(only(events, 'agent.tool_result').filter((r) => !r.is_error)).toEqual([]);
    await runTurn(client(), id, userText('again'));
    for (const { body } of model.takeRequests()) expect(JSON.stringify(body.messages)).not.toContain('toolu_half');
    model.dropScript();
  });
});

describe('limits', () => {
  test('model calls: the turn ends with its own reason and the session stays usable', async () => {
    const again = () => answer([call('bash', { command: 'true' })]);
    model.script(again(), again(), again());
    const agent = { tools: [TOOLSET], reprise: { limits: { model_calls: 2 } } };
    const id = await createSession(client(), agent);
    const events = await runTurn(client(), id, userText('go'));
    expect(model.takeRequests()).toHaveLength(2);
    expect(only(events, 'session.error')).toMatchObject([{ error: { type: 'tool_use_limit_reached_error' } }]);
    expect(JSON.stringify(only(events, 'session.error'))).toMatch(/model.calls/i);
    expect(events.at(-1)).toMatchObject({ stop_reason: { type: 'retries_exhausted' } });
    model.dropScript();
    model.script(text('Fresh.'));
    expect(agentText(await runTurn(client(), id, userText('next')))).toBe('Fresh.');
  });

  test('tokens: counted over the turn, the next request is not made', async () => {
    const usage = { input_tokens: 900, output_tokens: 200 };
    model.script(answer([call('bash', { command: 'true' })], { usage }), text('never'));
    const id = await createSession(client(), { tools: [TOOLSET], ...{ reprise: { limits: { tokens: 1000 } } } });
    const events = await runTurn(client(), id, userText('go'));
    expect(model.takeRequests()).toHaveLength(1);
    expect(JSON.stringify(only(events, 'session.error'))).toMatch(/tokens/i);
    model.dropScript();
  });

  test('wall clock: a turn that takes too long is ended with that reason', async () => {
    model.script(answer([call('bash', { command: 'true' })], { delayMs: 1200 }), text('never', { delayMs: 1200 }));
    const limits = { reprise: { limits: { wall_clock_seconds: 1 } } };
    const id = await createSession(client(), { tools: [TOOLSET], ...limits });
    const events = await runTurn(client(), id, userText('go'));
    expect(JSON.stringify(only(events, 'session.error'))).toMatch(/wall.clock/i);
    expect(events.at(-1)).toMatchObject({ stop_reason: { type: 'retries_exhausted' } });
    model.dropScript();
    await waitFor('idle', async () =>
      (await client().beta.sessions.retrieve(id)).status === 'idle' ? true : undefined,
    );
  });
});
