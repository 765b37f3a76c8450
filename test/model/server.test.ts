// The scripted model as a server: strict like the API, with its usage, its ids and its errors, driven by the official SDK.

import Anthropic from '@anthropic-ai/sdk';
import type { MessageCreateParamsNonStreaming, MessageParam } from '@anthropic-ai/sdk/resources/messages';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { answerByRules } from '../../shared/adapters/scripted-model/demo.ts';
import type { RequestBody, Script } from '../../shared/adapters/scripted-model/script.ts';
import { createScriptedModel, type ScriptedModelOptions } from '../../shared/adapters/scripted-model/server.ts';
import { checkRequest } from '../../shared/core/check-request.ts';

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

async function start(script: Script, options: ScriptedModelOptions = {}) {
  const server = createScriptedModel({ script, check: checkRequest, ...options });
  const { url } = await server.listen();
  closers.push(() => server.close());
  return { server, url, client: new Anthropic({ baseURL: url, apiKey: 'test', maxRetries: 0 }) };
}

const HI: MessageCreateParamsNonStreaming = {
  model: 'claude-opus-5-5',
  max_tokens: 50,
  messages: [{ role: 'user', content: 'hi' }],
};

describe('the server', () => {
  it('answers with and without streaming alike', async () => {
    const blocks = ['Hello 😀', { type: 'tool_use', id: 'toolu_1', name: 'read', input: { file_path: '/a' } }];
    const { client, server } = await start([{ blocks }, { blocks }], { apiKey: 'test' });
    const whole = await client.messages.create(HI);
    const streamed = await client.messages.stream(HI).finalMessage();
    for (const message of [whole, streamed]) {
      expect(message).toMatchObject({
        role: 'assistant',
        model: 'claude-opus-5-5',
        stop_reason: 'tool_use',
        content: [
          { type: 'text', text: 'Hello 😀' },
          { type: 'tool_use', id: 'toolu_1', name: 'read', input: { file_path: '/a' } },
        ],
      });
      expect(message.usage.output_tokens).toBeGreaterThan(1);
    }
    expect(whole._request_id).toMatch(/^req_/);
    expect(server.requests).toHaveLength(2);
    server.assertDone();
  });

  it.each(['max_tokens', 'refusal', 'pause_turn', 'model_context_window_exceeded'])(
    'stops with %s',
    async (stopReason) => {
      const { client } = await start([
        { blocks: ['x'], stopReason, stopDetails: { type: 'refusal', category: 'cyber' } },
      ]);
      const message = await client.messages.stream(HI).finalMessage();
      expect(message.stop_reason).toBe(stopReason);
      expect(message.stop_details).toMatchObject({ category: 'cyber' });
    },
  );

  it('sends broken tool input as it is told to', async () => {
    const { client } = await start([{ blocks: [{ type: 'tool_use', name: 'read', json: '{"file_path": "/a' }] }]);
    let json = '';
    for await (const event of await client.messages.create({ ...HI, stream: true })) {
      if (event.type === 'content_block_delta' && event.delta.type === 'input_json_delta')
        json += event.delta.partial_json;
    }
    expect(json).toBe('{"file_path": "/a');
  });

  it('refuses a bad history with a 400 that names the rule', async () => {
    const { client, server } = await start([]);
    const messages: MessageParam[] = [
      { role: 'user', content: 'hi' },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'read', input: {} }] },
      { role: 'user', content: 'and?' },
    ];
    await expect(client.messages.create({ ...HI, messages })).rejects.toMatchObject({
      status: 400,
      type: 'invalid_request_error',
      message: expect.stringContaining('tool_use.'),
    });
    expect(server.refusals).toHaveLength(1);
    expect(server.requests).toHaveLength(0);
  });

  it('asks for a key, a known path and JSON', async () => {
    const { url } = await start([], { apiKey: 'right' });
    const post = (path: string, headers: Record<string, string>, body = '{}') =>
      fetch(`${url}${path}`, { method: 'POST', headers, body }).then(async (r) => [
        r.status,
        ((await r.json()) as { error: { type: string } }).error.type,
      ]);
    expect(await post('/v1/messages', {})).toEqual([401, 'authentication_error']);
    expect(await post('/v1/messages', { 'x-api-key': 'wrong' })).toEqual([401, 'authentication_error']);
    expect(await post('/v1/other', { 'x-api-key': 'right' })).toEqual([404, 'not_found_error']);
    expect(await post('/v1/messages', { authorization: 'Bearer right' }, '{')).toEqual([400, 'invalid_request_error']);
  });

  it('fails on an unexpected call and on steps that are left over', async () => {
    const { client, server } = await start([{ blocks: ['one'] }]);
    expect(() => server.assertDone()).toThrow('1 steps and 0 calls');
    await client.messages.create(HI);
    server.assertDone();
    await expect(client.messages.create(HI)).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('unexpected call'),
    });
    expect(() => server.assertDone()).toThrow('1 steps and 2 calls');
  });

  it('plays functions of the request', async () => {
    const { client } = await start((request, index) => ({ blocks: [`${index}: ${request.model}`] }));
    expect((await client.messages.create(HI)).content).toMatchObject([{ text: '0: claude-opus-5-5' }]);
    expect((await client.messages.create(HI)).content).toMatchObject([{ text: '1: claude-opus-5-5' }]);
  });
});

describe('cached prefixes', () => {
  const mark = { type: 'ephemeral' as const };
  const turns = (count: number, change = ''): MessageParam[] =>
    Array.from({ length: count }, (_, n) => ({
      role: n % 2 === 0 ? ('user' as const) : ('assistant' as const),
      content: [
        {
          type: 'text' as const,
          text: `turn ${n}${n === 0 ? change : ''} ${'x'.repeat(400)}`,
          ...(n === count - 1 ? { cache_control: mark } : {}),
        },
      ],
    }));

  it('what a mark wrote, a longer request with the same beginning reads', async () => {
    let now = 0;
    const { client } = await start(() => ({ blocks: ['ok'] }), { now: () => now });
    const use = async (messages: MessageParam[]) => (await client.messages.create({ ...HI, messages })).usage;
    const first = await use(turns(3));
    expect(first).toMatchObject({ input_tokens: 0, cache_read_input_tokens: 0 });
    expect(first.cache_creation_input_tokens).toBeGreaterThan(300);
    const second = await use(turns(5));
    expect(second.cache_read_input_tokens).toBe(first.cache_creation_input_tokens);
    expect(second.cache_creation_input_tokens).toBeGreaterThan(200);
    expect((await use(turns(5, '!'))).cache_read_input_tokens).toBe(0);
    now += 301_000;
    expect((await use(turns(5))).cache_read_input_tokens).toBe(0);
  });

  it('without marks nothing is cached, and count_tokens counts it all', async () => {
    const { client } = await start(() => ({ blocks: ['ok'] }));
    const { usage } = await client.messages.create(HI);
    expect(usage).toMatchObject({ cache_read_input_tokens: 0, cache_creation_input_tokens: 0 });
    expect((await client.messages.countTokens({ model: HI.model, messages: HI.messages })).input_tokens).toBe(
      usage.input_tokens,
    );
  });
});

describe('the demo rules', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 60 }),
    fc.constantFrom(
      'total a per b in x.csv',
      'run `ls`',
      'which a has the highest b? look up its row in y.csv',
      'write "x" to y',
      'compare a.csv and b.csv',
      '',
      '(',
      'write the count per a to /mnt/session/outputs/r.json',
    ),
    fc.constantFrom(
      'a,b\n1,2\n',
      'a\n',
      ',,\n,',
      '[{"a":1}]',
      '[1]',
      '     1\ta,b\n     2\t"x',
      '[3 more lines; use view_range to read a part]',
    ),
  );
  const call = fc.record({
    type: fc.constant('tool_use'),
    id: fc.constantFrom('t1', 't2'),
    name: fc.constantFrom('read', 'Glob', 'x', 'write'),
    input: fc.oneof(
      fc.constant({ file_path: '/mnt/session/uploads/x.csv' }),
      fc.constant({ pattern: '**/*', path: '/mnt/session/uploads' }),
      fc.object(),
      fc.constant(null),
    ),
  });
  const block = fc.oneof(
    fc.record({ type: fc.constant('text'), text }),
    call,
    fc.record({
      type: fc.constant('tool_result'),
      tool_use_id: fc.constantFrom('t1', 't2'),
      content: fc.oneof(text, fc.constant(undefined), fc.array(fc.record({ type: fc.constant('text'), text }))),
      is_error: fc.boolean(),
    }),
    fc.anything(),
  );
  const message = fc.record({
    role: fc.constantFrom('user', 'assistant', 'system'),
    content: fc.oneof(text, fc.array(block, { maxLength: 4 }), fc.anything()),
  });
  const tool = fc.record({
    name: fc.oneof(fc.constantFrom('read', 'Read', 'glob', 'bash', 'write', 'get_a'), text),
    input_schema: fc.anything(),
  });
  const request = fc.record({
    model: fc.constant('m'),
    max_tokens: fc.constant(1),
    messages: fc.oneof(
      { weight: 9, arbitrary: fc.array(message, { maxLength: 6 }) },
      { weight: 1, arbitrary: fc.anything() },
    ),
    tools: fc.oneof(fc.array(tool, { maxLength: 5 }), fc.anything()),
    system: fc.oneof(text, fc.anything()),
    thinking: fc.anything(),
  });

  it('answer any conversation without a crash', () => {
    fc.assert(
      fc.property(request, (body) => {
        const { blocks = [] } = answerByRules(body as unknown as RequestBody);
        expect(blocks.length).toBeGreaterThan(0);
        for (const b of blocks) expect(typeof b === 'string' ? b : 'block').not.toMatch(/^$|could not work this out/);
      }),
      { numRuns: 2000 },
    );
  });
});
