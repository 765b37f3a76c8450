// Streams: replay without gap or repetition, previews as they were asked for, many readers, lost and slow ones.

import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { text, toolUse } from '../core/builders.ts';
import { type Answer, answers, calls, eventsOf, hangs } from '../turn/harness.ts';
import { type Frame, readFrames, says, startHttp, typesOf } from './harness.ts';

const http = startHttp({
  limits: { streamsPerTenantMax: 12, streamHeartbeatMs: 50, streamBufferBytesMax: 100_000, streamStallMs: 600 },
});
afterAll(() => http.close());
afterEach(() => expect(http.failures.splice(0)).toEqual([]));

const path = (session: string, query = '') => `/v1/sessions/${session}/events/stream${query}`;
const send = (session: string, ...events: object[]) => http.call('POST', `/v1/sessions/${session}/events`, { events });
const follow = (session: string, query = '', headers: Record<string, string> = {}) =>
  http.request(
    'POST',
    `/v1/sessions/${session}/events${query}`,
    { events: [says('go')] },
    { accept: 'text/event-stream', ...headers },
  );
const IDLE = 'session.status_idle';

/** An answer whose text comes in pieces, one per turn of the event loop. */
const pieces = (...texts: string[]): Answer =>
  async function* () {
    const [first, ...others] = eventsOf([text(texts[0] ?? '')]);
    const delta = (t: string) => ({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: t } });
    yield { kind: 'events', events: [first, others[0]].filter((e) => e !== undefined) };
    for (const t of texts) {
      await new Promise((resolve) => setTimeout(resolve, 2));
      yield { kind: 'events', events: [delta(t)] };
    }
    yield { kind: 'events', events: others.slice(2) };
    yield { kind: 'done', requestId: null };
  };

describe('resuming', () => {
  test('behind every event there is, by SSE id, header or event id: the rest, once', async () => {
    http.script(calls(text('I look.'), toolUse('t1', 'none')), answers([text('Done.')]));
    const id = await http.session();
    const frames = await readFrames(await follow(id), IDLE);
    const logged = frames.filter((f) => f.id !== undefined);
    expect(logged.length).toBeGreaterThan(8);
    for (const [i, frame] of logged.slice(0, -1).entries()) {
      const rest = logged.slice(i + 1);
      const byHeader = await http.request('GET', path(id), undefined, { 'last-event-id': frame.id as string });
      expect(await readFrames(byHeader, IDLE)).toEqual(rest);
      const byId = await http.request('GET', path(id, `?after=${frame.event.id}`));
      expect(await readFrames(byId, IDLE)).toEqual(rest);
    }
  });

  test('what names no place in this log is a 400', async () => {
    http.script(answers([text('x')]));
    const id = await http.session();
    const [first] = await readFrames(await follow(id), IDLE);
    const ulid = id.slice('sesn_'.length);
    const other = (await http.session()).slice('sesn_'.length);
    for (const place of [
      '9999-0',
      '1-1',
      '0-0',
      '-1',
      '1',
      'sevt_x',
      `sevt_${ulid}s1res`,
      `sevt_${other}s1run`,
      'x'.repeat(100),
    ]) {
      const headers = { 'last-event-id': place };
      const { status, body } = await http.call<{ error: { message: string } }>('GET', path(id), undefined, headers);
      expect([place, status]).toEqual([place, 400]);
      expect(body.error.message).toContain('last-event-id');
    }
    const known = await http.request('GET', path(id, `?after=${first?.event.id}`));
    expect(known.status).toBe(200);
    await known.body?.cancel();
  });

  test('queued events follow the replay, and their processed copies have the same ids', async () => {
    http.script(hangs([text('x')], 1), answers([text('then')]));
    const id = await http.session();
    await send(id, says('go'));
    await http.asking(id);
    await send(id, says('queued'));
    const reading = readFrames(await http.request('GET', path(id, '?after=1-0')), 'agent.message');
    await new Promise((resolve) => setTimeout(resolve, 50));
    await send(id, { type: 'user.interrupt' });
    const messages = (await reading).filter((f) => f.event.type === 'user.message');
    const queued = messages.filter((f) => JSON.stringify(f.event.content).includes('queued'));
    expect(queued.map((f) => [f.id === undefined, f.event.processed_at === null])).toEqual([
      [true, true],
      [false, false],
    ]);
    expect(queued[0]?.event.id).toBe(queued[1]?.event.id);
    await http.idle(id);
  });
});

describe('previews', () => {
  const deltasOf = (frames: readonly Frame[]) => frames.filter((f) => f.event.type === 'event_delta');

  test('only what was asked for; deltas joined are the message; no id line', async () => {
    http.script(pieces('Hel', 'lo, ', 'wörld 👩‍👩‍👧'), pieces('again'));
    const id = await http.session();
    const frames = await readFrames(await follow(id, '?event_deltas[]=agent.message'), IDLE);
    const message = frames.find((f) => f.event.type === 'agent.message')?.event;
    const start = frames.find((f) => f.event.type === 'event_start')?.event;
    expect(start).toEqual({ type: 'event_start', event: { type: 'agent.message', id: message?.id } });
    const deltas = deltasOf(frames);
    expect(deltas).toHaveLength(3);
    expect(deltas.every((f) => f.id === undefined && f.event.event_id === message?.id)).toBe(true);
    const joined = deltas.map((f) => (f.event.delta as { content: { text: string } }).content.text).join('');
    expect(joined).toBe('Hello, wörld 👩‍👩‍👧');
    expect(deltas[0]?.event.delta).toEqual({ type: 'content_delta', index: 0, content: { type: 'text', text: 'Hel' } });
    const plain = await readFrames(await follow(id), IDLE);
    expect(typesOf(plain).filter((t) => t.startsWith('event_'))).toEqual([]);
  });

  test('a reader that comes in mid-request gets no deltas for it, and the message', async () => {
    let release: () => void = () => {};
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    http.script(async function* () {
      const events = eventsOf([text('Hello')]);
      yield { kind: 'events', events: events.slice(0, 3) };
      await gate;
      yield {
        kind: 'events',
        events: [{ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: ' you' } }],
      };
      yield { kind: 'events', events: events.slice(3) };
      yield { kind: 'done', requestId: null };
    });
    const id = await http.session();
    await send(id, says('go'));
    await new Promise((resolve) => setTimeout(resolve, 50));
    const late = await http.request('GET', path(id, '?event_deltas[]=agent.message'));
    release();
    const frames = await readFrames(late, IDLE);
    expect(typesOf(frames).filter((t) => t.startsWith('event_'))).toEqual([]);
    expect(JSON.stringify(frames.find((f) => f.event.type === 'agent.message'))).toContain('Hello you');
  });

  test.each([
    ['event_deltas[]=agent.tool_use', 'event_deltas[]'],
    ['reprise_deltas[]=agent.message', 'reprise_deltas[]'],
  ])('?%s is a 400', async (query, field) => {
    const id = await http.session();
    const { status, body } = await http.call<{ error: { message: string } }>('GET', path(id, `?${query}`));
    expect(status).toBe(400);
    expect(body.error.message).toContain(field);
  });
});

describe('readers', () => {
  test('ten on one stream all see everything, in one order', async () => {
    http.script(pieces('a', 'b'));
    const id = await http.session();
    const streams = await Promise.all(
      Array.from({ length: 10 }, () => http.request('GET', path(id, '?event_deltas[]=agent.message'))),
    );
    const reading = streams.map((s) => readFrames(s, IDLE));
    await send(id, says('go'));
    const [first, ...others] = await Promise.all(reading);
    expect(first?.length).toBeGreaterThan(8);
    for (const other of others) expect(other).toEqual(first);
  });

  test('one that leaves ends its own reading and not the turn', async () => {
    http.script(pieces('a', 'b', 'c'));
    const id = await http.session();
    const response = await follow(id);
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    await reader.read();
    await reader.cancel();
    await http.idle(id);
    const { body } = await http.call<{ data: { type: string }[] }>('GET', `/v1/sessions/${id}/events`);
    expect(body.data.at(-1)?.type).toBe(IDLE);
  });

  test('one too many is a 429; a place that is given back can be taken', async () => {
    const id = await http.session();
    const open = await Promise.all(Array.from({ length: 12 }, () => http.request('GET', path(id))));
    const refused = await http.call<{ error: { message: string } }>('GET', path(id));
    expect(refused.status).toBe(429);
    expect(refused.body.error.message).toContain('streamsPerTenantMax');
    for (const response of open) await response.body?.cancel();
    const again = await http.request('GET', path(id));
    expect(again.status).toBe(200);
    await again.body?.cancel();
  });

  test('one that reads too slowly is let go and resumes without a gap', async () => {
    const big = 'x'.repeat(60_000);
    http.script(answers([text(big)]), answers([text(big)]), answers([text(big)]));
    const id = await http.session();
    const slow = await http.request('GET', path(id));
    for (let i = 0; i < 3; i++) {
      await send(id, says(`turn ${i}`));
      await http.idle(id);
    }
    await new Promise((resolve) => setTimeout(resolve, 1000));
    const seen = await readFrames(slow);
    const last = seen.findLast((f) => f.id !== undefined)?.id as string;
    const { body } = await http.call<{ data: { id: string }[] }>('GET', `/v1/sessions/${id}/events?limit=1000`);
    const rest = await http.request('GET', path(id), undefined, { 'last-event-id': last });
    const resumed: Frame[] = [];
    const left = body.data.length - seen.filter((f) => f.id !== undefined).length;
    expect(left).toBeGreaterThan(0);
    while (resumed.length < left) resumed.push(...(await readFrames(rest, IDLE)));
    const ids = [...seen.filter((f) => f.id !== undefined), ...resumed].map((f) => f.event.id);
    expect(ids).toEqual(body.data.map((e) => e.id));
  });

  test('a replay that nobody reads holds the buffer and a page, and one that is read comes whole', async () => {
    http.script(...Array.from({ length: 8 }, () => answers([text('ok')])));
    const id = await http.session();
    for (let i = 0; i < 8; i++) {
      await send(id, ...Array.from({ length: 50 }, () => says('x'.repeat(5000))));
      await http.idle(id);
    }
    const unread = await http.request('GET', path(id, '?after=1-0'));
    await new Promise((resolve) => setTimeout(resolve, 1000));
    const held = (await unread.arrayBuffer()).byteLength;
    expect(held).toBeGreaterThan(100_000);
    expect(held).toBeLessThan(100_000 + 100 * 6000);
    const unhurried = new TransformStream<Uint8Array, Uint8Array>({
      async transform(chunk, controller) {
        await new Promise((resolve) => setTimeout(resolve, 100));
        controller.enqueue(chunk);
      },
    });
    const { body: stream } = await http.request('GET', path(id, '?after=1-0'));
    const reading = readFrames(new Response(stream?.pipeThrough(unhurried)));
    await new Promise((resolve) => setTimeout(resolve, 1500));
    await http.call('DELETE', `/v1/sessions/${id}`);
    expect((await reading).filter((f) => f.event.type === 'user.message')).toHaveLength(400);
  });

  test('one that reads along keeps its stream over events that are larger than the buffer', async () => {
    const big = 'x'.repeat(250_000);
    http.script(answers([text(big)]), answers([text('small')]));
    const id = await http.session();
    const { body: stream } = await http.request('GET', path(id));
    const unhurried = new TransformStream<Uint8Array, Uint8Array>({
      async transform(chunk, controller) {
        await new Promise((resolve) => setTimeout(resolve, 30));
        controller.enqueue(chunk);
      },
    });
    const reading = readFrames(new Response(stream?.pipeThrough(unhurried)));
    for (const words of [big, 'more']) {
      await send(id, says(words));
      await http.idle(id);
    }
    const { body } = await http.call<{ data: { id: string }[] }>('GET', `/v1/sessions/${id}/events?limit=1000`);
    await http.call('DELETE', `/v1/sessions/${id}`);
    const seen = (await reading).filter((f) => f.id !== undefined).map((f) => f.event.id);
    expect(seen).toEqual(expect.arrayContaining(body.data.map((e) => e.id)));
  });

  test('heartbeats come while nothing happens; a deleted session ends its streams', async () => {
    const id = await http.session();
    const response = await http.request('GET', path(id));
    const copy = response.clone();
    await new Promise((resolve) => setTimeout(resolve, 180));
    expect((await http.call('DELETE', `/v1/sessions/${id}`)).status).toBe(200);
    const words = await copy.text();
    expect(words.match(/event: ping\n/g)?.length).toBeGreaterThanOrEqual(2);
    expect(typesOf(await readFrames(response))).toEqual(['session.deleted']);
  });

  test('HEAD opens no stream', async () => {
    const id = await http.session();
    for (let i = 0; i < 15; i++) expect((await http.request('HEAD', path(id))).status).toBe(200);
  });
});

describe('Follow', () => {
  test('starts with the echo and ends with the turn of its inputs, though another one runs before it', async () => {
    http.script(hangs([text('x')], 1), answers([text('mine')]));
    const id = await http.session();
    await send(id, says('first'));
    await http.asking(id);
    const reading = readFrames(await follow(id));
    await new Promise((resolve) => setTimeout(resolve, 30));
    await send(id, { type: 'user.interrupt' });
    const frames = await reading;
    expect(frames[0]?.event).toMatchObject({ type: 'user.message', processed_at: null });
    expect(typesOf(frames).filter((t) => t === IDLE)).toHaveLength(2);
    expect(frames.at(-1)?.event.type).toBe(IDLE);
    expect(JSON.stringify(frames.findLast((f) => f.event.type === 'agent.message'))).toContain('mine');
  });

  test('an interrupt of an idle session is over at once', async () => {
    const id = await http.session();
    const body = { events: [{ type: 'user.interrupt' }] };
    const response = await http.request('POST', `/v1/sessions/${id}/events`, body, { accept: 'text/event-stream' });
    const frames = await readFrames(response);
    expect(frames.map((f) => f.event.processed_at === null)).toEqual([true, false]);
  });

  test('the same Idempotency-Key attaches to the first request', async () => {
    http.script(pieces('once'));
    const id = await http.session();
    const headers = { 'idempotency-key': 'follow-1' };
    const first = await readFrames(await follow(id, '', headers));
    const again = await readFrames(await follow(id, '', headers));
    expect(again.map((f) => f.event.id)).toEqual(first.filter((f) => f.id !== undefined).map((f) => f.event.id));
  });

  test('a refused one is an error, and gives its place back', async () => {
    const id = await http.session();
    await http.call('POST', `/v1/sessions/${id}/archive`);
    for (let i = 0; i < 15; i++) expect((await follow(id)).status).toBe(400);
  });
});
