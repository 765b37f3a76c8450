// Every way in which a model call can go, over real sockets: the adapter's batches against the scripted server's faults.

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { createAnthropicModel } from '../../shared/adapters/anthropic-model.ts';
import type { Answer } from '../../shared/adapters/scripted-model/script.ts';
import { createScriptedModel } from '../../shared/adapters/scripted-model/server.ts';
import type { ModelBatch, ModelRequest, RawModelEvent } from '../../shared/ports/model.ts';

const KEY = 'sk-ant-secret-1';
const request: ModelRequest = {
  model: 'claude-opus-5-5',
  max_tokens: 100,
  messages: [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }],
};
const never = () => new AbortController().signal;
const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

const OPTIONS = { apiKey: KEY, label: 'test', idleTimeoutMs: 5000 };

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closers.push(async () => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function start(script: readonly Answer[], idleTimeoutMs = 5000) {
  const server = createScriptedModel({ script, apiKey: KEY });
  const { url } = await server.listen();
  closers.push(() => server.close());
  return { server, url, model: createAnthropicModel({ ...OPTIONS, baseUrl: url, idleTimeoutMs }) };
}

async function collect(batches: AsyncIterable<ModelBatch>) {
  const all: ModelBatch[] = [];
  for await (const batch of batches) all.push(batch);
  const events = all.flatMap((b): readonly RawModelEvent[] => (b.kind === 'events' ? b.events : []));
  return { batches: all, events, last: all.at(-1), types: events.map((e) => e.type) };
}

const run = async (answer: Answer, idleTimeoutMs?: number) =>
  collect((await start([answer], idleTimeoutMs)).model.stream(request, never()));

const HELLO: Answer = { blocks: ['Hello, wide world'], deltaChars: 5 };

describe('a whole answer', () => {
  it('gives all its events, then done with the request id', async () => {
    const { events, last, batches } = await run({
      blocks: [
        { type: 'thinking', thinking: 'hm', signature: 'c2ln' },
        'Grüße 👩‍🚀!',
        { type: 'tool_use', id: 'toolu_1', name: 'read', input: { file_path: '/a' } },
        { type: 'novel_block', payload: { deep: [1] } },
      ],
      deltaChars: 1,
    });
    expect(last).toEqual({ kind: 'done', requestId: expect.stringMatching(/^req_/) });
    expect(batches.filter((b) => b.kind !== 'events')).toHaveLength(1);
    expect(events[0]?.type).toBe('message_start');
    expect(events.at(-1)?.type).toBe('message_stop');
    const deltas = events.map((e) => e.delta as Record<string, string> | undefined).filter((d) => d !== undefined);
    const join = (field: string) => deltas.map((d) => d[field] ?? '').join('');
    expect(join('text')).toBe('Grüße 👩‍🚀!');
    expect(join('partial_json')).toBe('{"file_path":"/a"}');
    expect(join('signature')).toBe('c2ln');
    expect(events).toContainEqual({
      type: 'content_block_start',
      index: 3,
      content_block: { type: 'novel_block', payload: { deep: [1] } },
    });
  });

  it('leaves in fewer batches than events, and in several when it comes slowly', async () => {
    const fast = await run({ blocks: ['x'.repeat(4000)], deltaChars: 4 });
    expect(fast.events.length).toBeGreaterThan(1000);
    expect(fast.batches.length).toBeLessThan(fast.events.length / 4);
    const slow = await run({ ...HELLO, delayMs: 15 });
    expect(slow.batches.length).toBeGreaterThan(6);
  });

  it('is read whole by a slow reader', async () => {
    const { model } = await start([{ blocks: ['y'.repeat(60_000)], deltaChars: 2 }]);
    let text = '';
    let last: ModelBatch | undefined;
    for await (const batch of model.stream(request, never())) {
      last = batch;
      if (batch.kind === 'events')
        for (const e of batch.events) text += (e.delta as { text?: string } | undefined)?.text ?? '';
      await new Promise((resolve) => setTimeout(resolve, 3));
    }
    expect(last?.kind).toBe('done');
    expect(text).toBe('y'.repeat(60_000));
  });

  it('keeps its connection for the next request', async () => {
    const server = createServer((incoming, response) => {
      incoming.resume();
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('event: message_stop\ndata: {"type":"message_stop"}\n\n');
      setTimeout(() => response.end(), 20);
    });
    let connections = 0;
    server.on('connection', () => connections++);
    const model = createAnthropicModel({ ...OPTIONS, baseUrl: await listen(server) });
    for (let n = 0; n < 3; n++) {
      expect((await collect(model.stream(request, never()))).last?.kind).toBe('done');
      await new Promise((resolve) => setTimeout(resolve, 60));
    }
    expect(connections).toBe(1);
  });
});

describe('a broken answer', () => {
  const error = (fields: object) => ({ kind: 'error', error: expect.objectContaining(fields) });

  it.each([
    ['a clean end without message_stop', { ...HELLO, fault: { kind: 'cut', afterEvents: 4 } }, { kind: 'cut' }, 4],
    ['an end within an event', { ...HELLO, fault: { kind: 'cut', afterBytes: 700 } }, { kind: 'cut' }, null],
    ['an end before the first event', { ...HELLO, fault: { kind: 'cut', afterEvents: 0 } }, { kind: 'cut' }, 0],
    ['a reset', { ...HELLO, fault: { kind: 'reset', afterEvents: 3 } }, { kind: 'network', status: null }, 3],
    [
      'an error event',
      { ...HELLO, fault: { kind: 'error', afterEvents: 3, message: 'Overloaded' } },
      { kind: 'stream', apiType: 'overloaded_error', message: 'Overloaded', requestId: expect.stringMatching(/^req_/) },
      3,
    ],
  ] as const)('%s', async (_name, answer, fields, count) => {
    const { last, events } = await run(answer);
    expect(last).toEqual(error(fields));
    if (count !== null) expect(events).toHaveLength(count);
  });

  it('silence in the middle: stalled, and the request is left', async () => {
    const { last, events } = await run({ ...HELLO, fault: { kind: 'stall', afterEvents: 2 } }, 150);
    expect(last).toEqual(error({ kind: 'stalled', message: expect.stringContaining('150 ms') }));
    expect(events).toHaveLength(2);
  });

  it('silence before the headers: stalled', async () => {
    expect((await run({ ...HELLO, firstDelayMs: 600 }, 150)).last).toEqual(error({ kind: 'stalled' }));
  });

  it('pings keep a slow answer alive, and are no events of it', async () => {
    const pinged = await run({ blocks: [], delayMs: 100, pings: 5 }, 450);
    expect((await run({ blocks: [], delayMs: 700 }, 450)).last).toEqual(error({ kind: 'stalled' }));
    expect(pinged.last?.kind).toBe('done');
    expect(new Set(pinged.types).has('ping')).toBe(false);
  });

  it.each([
    [429, { 'retry-after': '3' }, 'rate_limit_error', 3000],
    [529, { 'retry-after-ms': '120', 'retry-after': '9' }, 'overloaded_error', 120],
    [500, {}, 'api_error', null],
    [400, {}, 'invalid_request_error', null],
    [413, {}, 'request_too_large', null],
  ] as const)('status %i', async (status, headers, apiType, retryAfterMs) => {
    const { batches } = await run({ fault: { kind: 'http', status, headers, message: 'no, because' } });
    const requestId = expect.stringMatching(/^req_/);
    expect(batches).toEqual([
      error({ kind: 'http', status, apiType, retryAfterMs, requestId, message: 'no, because' }),
    ]);
  });

  it('a retry-after that is a date', async () => {
    const date = new Date(Date.now() + 60_000).toUTCString();
    const { last } = await run({ fault: { kind: 'http', status: 429, headers: { 'retry-after': date } } });
    const waitMs = last?.kind === 'error' ? last.error.retryAfterMs : null;
    expect(waitMs).toBeGreaterThan(50_000);
    expect(waitMs).toBeLessThanOrEqual(60_000);
  });

  it('an error text that repeats the key does not carry it on', async () => {
    const { last } = await run({ fault: { kind: 'http', status: 401, message: `bad key ${KEY}` } });
    expect(last).toEqual(error({ kind: 'http', status: 401, apiType: 'authentication_error' }));
    expect(JSON.stringify(last)).toContain('bad key …');
    expect(JSON.stringify(last)).not.toContain(KEY);
  });

  it('nobody listens', async () => {
    const gone = createServer();
    const free = new URL(await listen(gone)).host;
    await new Promise((resolve) => gone.close(resolve));
    for (const [host, why] of [
      [free, 'ECONNREFUSED'],
      ['127.0.0.1:1', 'fetch refuses this port'],
    ]) {
      const model = createAnthropicModel({ ...OPTIONS, baseUrl: `http://${host}` });
      const { last } = await collect(model.stream(request, never()));
      const message = `the Messages API at ${host} cannot be reached (${why})`;
      expect(last).toEqual(error({ kind: 'network', status: null, message }));
    }
  });

  it('says which endpoint a connection broke with, and nothing of its address but the host', async () => {
    const { url } = await start([{ ...HELLO, fault: { kind: 'reset', afterEvents: 3 } }]);
    const { port } = new URL(url);
    const model = createAnthropicModel({ ...OPTIONS, baseUrl: `${url}/` });
    const { last } = await collect(model.stream(request, never()));
    const message = expect.stringMatching(
      new RegExp(`^the connection to the Messages API at 127\\.0\\.0\\.1:${port} failed( \\(\\w+\\))?$`),
    );
    expect(last).toEqual(error({ kind: 'network', message }));
  });

  it.each([
    [401, undefined, /^the Messages API at HOST refused the service's own key \(401\): no, because$/],
    [403, undefined, /^the Messages API at HOST does not allow this to the service's own key \(403\): no, because$/],
    [404, undefined, /^the Messages API at HOST does not know the model "claude-opus-5-5" \(404\)$/],
    [404, 'unrecorded', /^the Messages API at HOST has no \/v1\/messages \(404\): is its base URL right\?$/],
    [502, 'unrecorded', /^the Messages API at HOST answered with status 502$/],
  ] as const)('status %i: whose key, which host, which model (%s)', async (status, body, pattern) => {
    const baseUrl = await listen(
      createServer((incoming, response) => {
        incoming.resume();
        const type = { 401: 'authentication_error', 403: 'permission_error', 404: 'not_found_error' }[status as 401];
        const said = JSON.stringify({ type: 'error', error: { type, message: 'no, because' } });
        response.writeHead(status, { 'content-type': 'application/json' }).end(body ?? said);
      }),
    );
    const model = createAnthropicModel({ ...OPTIONS, baseUrl });
    const { last } = await collect(model.stream(request, never()));
    const message = last?.kind === 'error' ? last.error.message : '';
    expect(message.replace(new URL(baseUrl).host, 'HOST')).toMatch(pattern);
  });
});

describe('leaving', () => {
  it('an abort gives what came, then aborted', async () => {
    const { model } = await start([{ ...HELLO, fault: { kind: 'stall', afterEvents: 3 } }]);
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 80);
    const { last, events } = await collect(model.stream(request, controller.signal));
    expect(events).toHaveLength(3);
    expect(last).toEqual({ kind: 'error', error: expect.objectContaining({ kind: 'aborted' }) });
  });

  it('a signal that is aborted already makes no request', async () => {
    const { model, server } = await start([]);
    const { batches } = await collect(model.stream(request, AbortSignal.abort()));
    expect(batches).toEqual([{ kind: 'error', error: expect.objectContaining({ kind: 'aborted' }) }]);
    expect(server.requests).toHaveLength(0);
  });

  it('the request is made on the call; an answer that nobody reads harms nothing', async () => {
    const { model, server } = await start([{ fault: { kind: 'http', status: 500 } }, HELLO]);
    const rejections: unknown[] = [];
    const note = (reason: unknown) => rejections.push(reason);
    process.on('unhandledRejection', note);
    model.stream(request, never());
    model.stream(request, never());
    await expect.poll(() => server.requests.length).toBe(2);
    await new Promise((resolve) => setTimeout(resolve, 50));
    process.off('unhandledRejection', note);
    expect(rejections).toEqual([]);
    server.assertDone();
  });

  it('a reader that breaks off ends the request', async () => {
    let closed = false;
    const server = createServer((incoming, response) => {
      incoming.resume();
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('event: message_start\r\ndata: {"type":"message_start"}\r\n\r\n');
      response.on('close', () => {
        closed = true;
      });
    });
    const model = createAnthropicModel({ ...OPTIONS, baseUrl: await listen(server) });
    for await (const batch of model.stream(request, never())) if (batch.kind === 'events') break;
    await expect.poll(() => closed).toBe(true);
  });
});
