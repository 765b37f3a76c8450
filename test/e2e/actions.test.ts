// What waits for the client: custom tools (also by the SDK's own runner) and confirmations.

import { BadRequestError } from '@anthropic-ai/sdk';
import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema';
import { describe, expect, test } from 'vitest';
import { confirm, openCalls, resultFor } from '../support/answers.ts';
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
  TOOLSET,
  typesOf,
  userText,
  waitFor,
} from '../support/sessions.ts';

const model = useModel();
const harness = useHarness({ modelUrl: () => model.url });
const client = () => harness.client();
const send = (session: string, ...events: SentEvent[]) => client().beta.sessions.events.send(session, { events });

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
