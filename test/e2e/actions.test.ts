// What waits for the client: custom tools, confirmations, interrupts and queued messages.

import { BadRequestError } from '@anthropic-ai/sdk';
import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema';
import { describe, expect, test } from 'vitest';
import { useHarness } from '../support/harness.ts';
import { answer, call, text, useModel } from '../support/model.ts';
import {
  ASKING_TOOLSET,
  agentText,
  createSession,
  customTool,
  listAll,
  only,
  readUntil,
  runTurn,
  type SentEvent,
  type StreamedEvent,
  TOOLSET,
  typesOf,
  userText,
  waitFor,
} from '../support/sessions.ts';

const model = useModel();
const harness = useHarness({ modelUrl: () => model.url });
const client = () => harness.client();
const send = (session: string, ...events: SentEvent[]) => client().beta.sessions.events.send(session, { events });

const resultFor = (id: string, words: string): SentEvent => ({
  type: 'user.custom_tool_result',
  custom_tool_use_id: id,
  content: [{ type: 'text', text: words }],
});
const confirm = (id: string, result: 'allow' | 'deny', deny_message?: string): SentEvent => ({
  type: 'user.tool_confirmation',
  tool_use_id: id,
  result,
  ...(deny_message ? { deny_message } : {}),
});
const openCalls = (events: readonly StreamedEvent[]): string[] => {
  const reason = only(events, 'session.status_idle').at(-1)?.stop_reason;
  return reason?.type === 'requires_action' ? reason.event_ids : [];
};
const isIdle = async (session: string) =>
  (await client().beta.sessions.retrieve(session)).status === 'idle' ? true : undefined;

describe('custom tools', () => {
  test('the turn waits by event id, goes on with the answer, in one user message', async () => {
    model.script(answer([call('weather', { city: 'Oslo' }, 'toolu_w')]), text('Cold.'));
    const id = await createSession(client(), { tools: [customTool('weather')] });
    const events = await runTurn(client(), id, userText('weather?'));
    const [use] = only(events, 'agent.custom_tool_use');
    expect(use).toMatchObject({ name: 'weather', input: { city: 'Oslo' } });
    expect(use?.id).toMatch(/^sevt_/);
    expect(openCalls(events)).toEqual([use?.id]);
    expect((await client().beta.sessions.retrieve(id)).status).toBe('idle');

    const more = await runTurn(client(), id, resultFor(use?.id ?? '', '-5 °C'));
    expect(typesOf(more)).toContain('session.status_running');
    expect(agentText(more)).toBe('Cold.');
    const echo = only(more, 'user.custom_tool_result');
    for (const event of echo) expect(event.processed_at).not.toBeNull();
    const [, second] = model.takeRequests();
    expect(second?.body.messages.at(-1)?.content).toMatchObject([{ type: 'tool_result', tool_use_id: 'toolu_w' }]);
    expect(JSON.stringify(second?.body.messages.at(-1))).toContain('-5 °C');
  });

  test('partial answers re-announce the rest; built-in calls of the same answer ran meanwhile', async () => {
    model.script(
      answer([
        call('weather', { city: 'Oslo' }, 'toolu_1'),
        call('bash', { command: 'echo built-in' }, 'toolu_2'),
        call('weather', { city: 'Rome' }, 'toolu_3'),
      ]),
      text('Both.'),
    );
    const id = await createSession(client(), { tools: [TOOLSET, customTool('weather')] });
    const events = await runTurn(client(), id, userText('go'));
    const [oslo, rome] = only(events, 'agent.custom_tool_use').map((e) => e.id);
    expect(openCalls(events)).toEqual([oslo, rome]);
    expect(JSON.stringify(only(events, 'agent.tool_result'))).toContain('built-in');

    const partial = await runTurn(client(), id, resultFor(rome ?? '', 'warm'));
    expect(openCalls(partial)).toEqual([oslo]);
    expect(model.takeRequests()).toHaveLength(1);
    const rest = await runTurn(client(), id, resultFor(oslo ?? '', 'cold'));
    expect(agentText(rest)).toBe('Both.');
    const [request] = model.takeRequests();
    const last = request?.body.messages.at(-1)?.content;
    expect(last?.map((b) => b.tool_use_id)).toEqual(['toolu_1', 'toolu_2', 'toolu_3']);
  });

  test('an answer may come before idle is announced', async () => {
    model.script(answer([call('weather', { city: 'Oslo' })]), text('Quick.'));
    const id = await createSession(client(), { tools: [customTool('weather')] });
    const stream = await client().beta.sessions.events.stream(id);
    const reading = readUntil(stream, {
      until: (e) => e.type === 'session.status_idle' && e.stop_reason.type === 'end_turn',
    });
    await send(id, userText('go'));
    const [use] = await waitFor('the call', async () => {
      const found = only(await listAll(client(), id), 'agent.custom_tool_use');
      return found.length > 0 ? found : undefined;
    });
    await send(id, resultFor(use?.id ?? '', 'soon'));
    expect(agentText(await reading)).toBe('Quick.');
  });

  test('an error result reaches the model as one', async () => {
    model.script(answer([call('weather', { city: 'X' }, 'toolu_e')]), text('Too bad.'));
    const id = await createSession(client(), { tools: [customTool('weather')] });
    const [use] = openCalls(await runTurn(client(), id, userText('go')));
    const failed = { ...resultFor(use ?? '', 'no such city'), is_error: true } as SentEvent;
    await runTurn(client(), id, failed);
    expect(model.takeRequests()[1]?.body.messages.at(-1)?.content).toMatchObject([{ is_error: true }]);
  });

  test('a second answer is a 400, in the same request, in a later one, and in a race', async () => {
    model.script(answer([call('weather', { city: 'A' }), call('weather', { city: 'B' })]), text('Done.'));
    const id = await createSession(client(), { tools: [customTool('weather')] });
    const [a, b] = openCalls(await runTurn(client(), id, userText('go')));
    await expect(send(id, resultFor(a ?? '', '1'), resultFor(a ?? '', '2'))).rejects.toThrow(BadRequestError);
    const race = await Promise.allSettled([1, 2, 3, 4].map((n) => send(id, resultFor(a ?? '', `answer ${n}`))));
    expect(race.filter((r) => r.status === 'fulfilled')).toHaveLength(1);
    for (const r of race) if (r.status === 'rejected') expect(r.reason).toBeInstanceOf(BadRequestError);
    await expect(send(id, resultFor(a ?? '', 'late'))).rejects.toThrow(BadRequestError);
    await runTurn(client(), id, resultFor(b ?? '', 'x'), {
      until: (e) => e.type === 'session.status_idle' && e.stop_reason.type === 'end_turn',
    });
    await expect(send(id, resultFor(b ?? '', 'late'))).rejects.toThrow(BadRequestError);
  });
});

describe("the SDK's own tool runner", () => {
  test('answers a custom call by itself, by stream and list', async () => {
    model.script(answer([call('weather', { city: 'Oslo' }, 'toolu_r')]), text('It is cold in Oslo.'));
    const id = await createSession(client(), { tools: [customTool('weather')] });
    const weather = betaTool({
      name: 'weather',
      description: 'Weather of a city.',
      inputSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
      run: ({ city }) => `-5 °C in ${city}`,
    });
    await send(id, userText('weather?'));
    const runner = client().beta.sessions.events.toolRunner(id, { tools: [weather], maxIdleMs: 200 });
    const dispatched: unknown[] = [];
    for await (const done of runner) dispatched.push(done.event.name);
    expect(dispatched).toEqual(['weather']);
    expect(agentText(await listAll(client(), id))).toBe('It is cold in Oslo.');
    expect(JSON.stringify(model.takeRequests()[1]?.body.messages.at(-1))).toContain('-5 °C in Oslo');
  });
});

describe('confirmations', () => {
  test('allow runs the call, deny does not and tells the model why', async () => {
    model.script(
      answer([
        call('bash', { command: 'echo yes > /workspace/yes.txt' }, 'toolu_y'),
        call('bash', { command: 'echo no > /workspace/no.txt' }, 'toolu_n'),
      ]),
      text('Understood.'),
    );
    const id = await createSession(client(), { tools: [ASKING_TOOLSET] });
    const events = await runTurn(client(), id, userText('go'));
    const uses = only(events, 'agent.tool_use');
    expect(uses.map((u) => u.evaluated_permission)).toEqual(['ask', 'ask']);
    expect(only(events, 'agent.tool_result')).toEqual([]);
    const [yes, no] = openCalls(events);

    const more = await runTurn(client(), id, [
      confirm(yes ?? '', 'allow'),
      confirm(no ?? '', 'deny', 'Not on a Friday.'),
    ]);
    expect(agentText(more)).toBe('Understood.');
    const [, second] = model.takeRequests();
    const results = second?.body.messages.at(-1)?.content;
    expect(results?.map((b) => [b.tool_use_id, b.is_error === true])).toEqual([
      ['toolu_y', false],
      ['toolu_n', true],
    ]);
    expect(JSON.stringify(results?.[1])).toContain('Not on a Friday.');

    model.script(answer([call('bash', { command: 'ls /workspace' })]), text('ok'));
    const [look] = openCalls(await runTurn(client(), id, userText('look')));
    const seen = JSON.stringify(only(await runTurn(client(), id, confirm(look ?? '', 'allow')), 'agent.tool_result'));
    expect(seen).toContain('yes.txt');
    expect(seen).not.toContain('no.txt');
  });

  test('a second answer is a 400, whatever it says', async () => {
    model.script(answer([call('bash', { command: 'true' })]), text('Done.'));
    const id = await createSession(client(), { tools: [ASKING_TOOLSET] });
    const [ask] = openCalls(await runTurn(client(), id, userText('go')));
    await runTurn(client(), id, confirm(ask ?? '', 'deny'));
    await expect(send(id, confirm(ask ?? '', 'allow'))).rejects.toThrow(BadRequestError);
    await expect(send(id, confirm(ask ?? '', 'deny'))).rejects.toThrow(BadRequestError);
  });

  test('an answer of the wrong kind for a call is a 400', async () => {
    model.script(answer([call('bash', { command: 'true' }), call('weather', { city: 'A' })]), text('Done.'));
    const id = await createSession(client(), { tools: [ASKING_TOOLSET, customTool('weather')] });
    const events = await runTurn(client(), id, userText('go'));
    const [bash] = only(events, 'agent.tool_use');
    const [weather] = only(events, 'agent.custom_tool_use');
    await expect(send(id, resultFor(bash?.id ?? '', 'x'))).rejects.toThrow(BadRequestError);
    await expect(send(id, confirm(weather?.id ?? '', 'allow'))).rejects.toThrow(BadRequestError);
    model.dropScript();
  });
});

describe('queued messages', () => {
  test('sent while running: processed_at null at first, then taken together, after the turn', async () => {
    model.script(text('First.', { delayMs: 800 }), text('Second.'));
    const id = await createSession(client());
    const stream = await client().beta.sessions.events.stream(id);
    let idles = 0;
    const reading = readUntil(stream, { until: (e) => e.type === 'session.status_idle' && ++idles === 2 });
    await send(id, userText('one'));
    await waitFor('running', async () =>
      (await client().beta.sessions.retrieve(id)).status === 'running' ? true : undefined,
    );
    const sent = await send(id, userText('two'));
    await send(id, userText('three'));
    expect(sent.data?.[0]).toMatchObject({ type: 'user.message', processed_at: null });
    const open = only(await listAll(client(), id), 'user.message').filter((e) => e.processed_at === null);
    expect(open.map((e) => e.content)).toEqual([[{ type: 'text', text: 'two' }], [{ type: 'text', text: 'three' }]]);

    const events = await reading;
    expect(only(events, 'user.message').filter((e) => e.id === sent.data?.[0]?.id)).toMatchObject([
      { processed_at: null },
      { processed_at: expect.any(String) },
    ]);
    const [, second] = model.takeRequests();
    const afterFirst = second?.body.messages.slice(second.body.messages.findLastIndex((m) => m.role !== 'user') + 1);
    expect(afterFirst?.flatMap((m) => m.content).map((b) => b.text)).toEqual(['two', 'three']);
    const listed = only(await listAll(client(), id), 'user.message');
    for (const event of listed) expect(event.processed_at).not.toBeNull();
  });

  test('behind open calls they wait, and the answer says for what', async () => {
    model.script(answer([call('weather', { city: 'A' })]), text('Answered.'), text('And more.'));
    const id = await createSession(client(), { tools: [customTool('weather')] });
    const [open] = openCalls(await runTurn(client(), id, userText('go')));
    const reply = await harness.request(`/v1/sessions/${id}/events`, {
      method: 'POST',
      body: JSON.stringify({ events: [userText('and?')] }),
    });
    expect(await reply.json()).toMatchObject({ reprise: { waiting_for: [open] } });
    expect(model.takeRequests()).toHaveLength(1);
    await send(id, resultFor(open ?? '', 'x'));
    await waitFor('all to be answered', async () => (model.seen() === 3 ? isIdle(id) : undefined));
    const listed = await listAll(client(), id);
    expect(agentText(listed)).toContain('And more.');
    expect(only(listed, 'user.message').every((e) => e.processed_at !== null)).toBe(true);
  });
});

describe('interrupt', () => {
  test('while the model streams: soon idle, the text so far kept, the history legal', async () => {
    const long = Array.from({ length: 400 }, (_, n) => `word${n}`).join(' ');
    model.script(text(long, { chunkChars: 10, paceMs: 20 }), text('Next.'));
    const id = await createSession(client());
    const stream = await client().beta.sessions.events.stream(id, { event_deltas: ['agent.message'] });
    const reading = readUntil(stream);
    await send(id, userText('go'));
    await waitFor('the stream of the model', () => (model.seen() > 0 ? true : undefined));
    await new Promise((resolve) => setTimeout(resolve, 400));
    const before = Date.now();
    await send(id, { type: 'user.interrupt' });
    const events = await reading;
    expect(Date.now() - before).toBeLessThan(2500);
    expect(events.at(-1)).toMatchObject({ stop_reason: { type: 'end_turn' } });
    const kinds = typesOf(events);
    expect(kinds.indexOf('span.model_request_end')).toBeGreaterThan(0);
    expect(kinds.lastIndexOf('user.interrupt')).toBeLessThan(kinds.lastIndexOf('session.status_idle'));
    const kept = agentText(events);
    expect(kept.length).toBeGreaterThan(0);
    expect(long.startsWith(kept)).toBe(true);
    expect(agentText(await runTurn(client(), id, userText('and now?')))).toBe('Next.');
  });

  test('while a tool runs: it is stopped, answered with an error, and the session goes on', async () => {
    model.script(answer([call('bash', { command: 'sleep 30; echo late' }, 'toolu_s')]), text('Never mind.'));
    const id = await createSession(client(), { tools: [TOOLSET] });
    const stream = await client().beta.sessions.events.stream(id);
    const reading = readUntil(stream);
    await send(id, userText('go'));
    await waitFor('the call', async () =>
      only(await listAll(client(), id), 'agent.tool_use').length > 0 ? true : undefined,
    );
    await new Promise((resolve) => setTimeout(resolve, 500));
    const before = Date.now();
    await send(id, { type: 'user.interrupt' });
    const events = await reading;
    expect(Date.now() - before).toBeLessThan(4000);
    expect(events.at(-1)).toMatchObject({ stop_reason: { type: 'end_turn' } });
    expect(only(events, 'agent.tool_result')).toMatchObject([{ is_error: true }]);
    await runTurn(client(), id, userText('next'));
    const second = model.takeRequests()[1];
    const results = second?.body.messages.flatMap((m) => m.content).filter((b) => b.type === 'tool_result');
    expect(results).toMatchObject([{ tool_use_id: 'toolu_s', is_error: true }]);
  });

  test('with a message behind it in one request: redirects', async () => {
    model.script(text('Slow answer that never ends', { chunkChars: 2, paceMs: 200 }), text('Redirected.'));
    const id = await createSession(client());
    await send(id, userText('go'));
    await waitFor('the request', () => (model.seen() > 0 ? true : undefined));
    const stream = await client().beta.sessions.events.stream(id);
    let said = false;
    const reading = readUntil(stream, {
      until: (e) => {
        said ||= e.type === 'agent.message' && agentText([e]) === 'Redirected.';
        return said && e.type === 'session.status_idle';
      },
    });
    await send(id, { type: 'user.interrupt' }, userText('do that instead'));
    const events = await reading;
    expect(agentText(events)).toContain('Redirected.');
  });

  test('pending calls are cancelled: late answers are a 400, the model is told', async () => {
    model.script(answer([call('weather', { city: 'A' }, 'toolu_p')]), text('Moving on.'));
    const id = await createSession(client(), { tools: [customTool('weather')] });
    const [open] = openCalls(await runTurn(client(), id, userText('go')));
    const events = await runTurn(
      client(),
      id,
      { type: 'user.interrupt' },
      {
        until: (e) => e.type === 'session.status_idle' && e.stop_reason.type === 'end_turn',
      },
    );
    expect(typesOf(events)).toContain('user.interrupt');
    await expect(send(id, resultFor(open ?? '', 'late'))).rejects.toThrow(BadRequestError);
    expect(agentText(await runTurn(client(), id, userText('next')))).toBe('Moving on.');
    const second = model.takeRequests()[1];
    const results = second?.body.messages.flatMap((m) => m.content).filter((b) => b.type === 'tool_result');
    expect(results).toMatchObject([{ tool_use_id: 'toolu_p', is_error: true }]);
  });

  test('of an idle session: accepted, without effect', async () => {
    const id = await createSession(client());
    await send(id, { type: 'user.interrupt' });
    await waitFor('idle', () => isIdle(id));
    model.script(text('Fine.'));
    expect(
      agentText(
        await runTurn(client(), id, userText('hi'), {
          until: (e) => e.type === 'session.status_idle' && model.seen() > 0,
        }),
      ),
    ).toBe('Fine.');
  });
});
