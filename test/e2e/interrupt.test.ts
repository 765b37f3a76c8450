// What comes in while a turn runs: queued messages and interrupts.

import { BadRequestError } from '@anthropic-ai/sdk';
import { describe, expect, test } from 'vitest';
import { openCalls, resultFor } from '../support/answers.ts';
import { useHarness } from '../support/harness.ts';
import { answer, call, text, useModel } from '../support/model.ts';
import {
  agentText,
  createSession,
  customTool,
  listAll,
  only,
  readUntil,
  runTurn,
  type SentEvent,
  TOOLSET,
  typesOf,
  userText,
  waitFor,
} from '../support/sessions.ts';

const model = useModel();
const harness = useHarness({ modelUrl: () => model.url });
const client = () => harness.client();
const send = (session: string, ...events: SentEvent[]) => client().beta.sessions.events.send(session, { events });

const isIdle = async (session: string) =>
  (await client().beta.sessions.retrieve(session)).status === 'idle' ? true : undefined;

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

describe('on_busy', () => {
  const sendBusy = (session: string, words: string, on_busy: string) =>
    harness.request(`/v1/sessions/${session}/events`, {
      method: 'POST',
      body: JSON.stringify({ events: [userText(words)], reprise: { on_busy } }),
    });

  test('steer joins the turn at its next model call; reject is a 400 that takes nothing', async () => {
    model.script(answer([call('bash', { command: 'sleep 1' }, 'toolu_b')]), text('Steered.'));
    const id = await createSession(client(), { tools: [TOOLSET] });
    const reading = readUntil(await client().beta.sessions.events.stream(id));
    await send(id, userText('go'));
    await waitFor('the call', async () =>
      only(await listAll(client(), id), 'agent.tool_use').length > 0 ? true : undefined,
    );
    const rejected = await sendBusy(id, 'not this', 'reject');
    expect(rejected.status).toBe(400);
    expect((await sendBusy(id, 'rather that', 'steer')).status).toBe(200);
    const events = await reading;
    expect(agentText(events)).toBe('Steered.');
    expect(only(events, 'session.status_running')).toHaveLength(1);
    const after = model
      .takeRequests()[1]
      ?.body.messages.slice(2)
      .flatMap((message) => message.content);
    expect(after).toMatchObject([{ tool_use_id: 'toolu_b' }, { type: 'text', text: 'rather that' }]);
    expect(JSON.stringify(await listAll(client(), id))).not.toContain('not this');
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
