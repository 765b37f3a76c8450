// Streams below the SDK: replay at every position, many readers, lost clients, further previews, heartbeats.

import { describe, expect, test } from 'vitest';
import { eventOf, isPing, readFrames } from '../support/frames.ts';
import { useHarness } from '../support/harness.ts';
import { answer, call, text, thinking, useModel } from '../support/model.ts';
import {
  agentText,
  createSession,
  listAll,
  only,
  readUntil,
  runTurn,
  TOOLSET,
  typesOf,
  userText,
  waitFor,
} from '../support/sessions.ts';
import { readSse, type SseFrame } from '../support/sse.ts';

const model = useModel();
const harness = useHarness({ modelUrl: () => model.url, env: { REPRISE_HEARTBEAT_MS: '300' } });
const client = () => harness.client();

/** What arrives up to `ms` after the stream opened. */
async function readFor(path: string, headers: Record<string, string>, ms: number): Promise<SseFrame[]> {
  const abort = new AbortController();
  const response = await harness.request(path, { headers, signal: abort.signal });
  expect(response.status).toBe(200);
  const frames: SseFrame[] = [];
  setTimeout(() => abort.abort(), ms);
  try {
    for await (const frame of readSse(response)) if (!isPing(frame)) frames.push(frame);
  } catch (error) {
    if (!abort.signal.aborted) throw error;
  }
  return frames;
}

const openStream = (session: string, query = '', headers: Record<string, string> = {}) =>
  harness.request(`/v1/sessions/${session}/events/stream${query}`, { headers });
const send = (session: string, ...words: string[]) =>
  client().beta.sessions.events.send(session, { events: words.map(userText) });
const idles = (count: number) => (frames: readonly SseFrame[]) =>
  frames.filter((f) => eventOf(f).type === 'session.status_idle').length >= count;

function scriptTwoRounds(): void {
  model.script(
    answer([
      { type: 'text', text: 'Looking.' },
      call('bash', { command: 'echo 1' }),
      call('bash', { command: 'echo 2' }),
    ]),
    answer([call('bash', { command: 'cat /nothing' })]),
    text('That was it.'),
  );
}

describe('replay', () => {
  test('from every position exactly the rest comes, by Last-Event-ID and by ?after=', async () => {
    scriptTwoRounds();
    model.script(text('And again.'));
    const id = await createSession(client(), { tools: [TOOLSET] });
    const response = await openStream(id);
    const reading = readFrames(response, idles(2));
    await send(id, 'go');
    await waitFor('idle', async () =>
      (await client().beta.sessions.retrieve(id)).status === 'idle' ? true : undefined,
    );
    await send(id, 'more');
    const live = await reading;
    const positions = live.filter((f) => f.id !== undefined);
    expect(positions.length).toBeGreaterThan(25);
    expect(new Set(positions.map((f) => f.id)).size).toBe(positions.length);
    // Queued echoes carry no id, so that an id always names a place in the log.
    for (const frame of live) {
      const event = eventOf(frame);
      if ('processed_at' in event && event.processed_at === null) expect(frame.id).toBeUndefined();
    }
    expect(positions.map(eventOf)).toEqual(await listAll(client(), id));

    const path = `/v1/sessions/${id}/events/stream`;
    const check = async (index: number, query: string, headers: Record<string, string>) => {
      const rest = positions.slice(index + 1);
      const got = await readFor(path + query, headers, 1500);
      expect(got, `after position ${index} by ${query || 'Last-Event-ID'}`).toEqual(rest);
    };
    const checks = positions.flatMap((frame, index) => [
      check(index, '', { 'last-event-id': frame.id ?? '' }),
      check(index, `?after=${frame.id}`, {}),
      check(index, `?after=${'id' in eventOf(frame) ? (eventOf(frame) as { id: string }).id : ''}`, {}),
    ]);
    await Promise.all(checks);
  });

  test('a client that is cut off again and again in mid-turn misses nothing and sees nothing twice', async () => {
    scriptTwoRounds();
    const id = await createSession(client(), { tools: [TOOLSET] });
    const first = await openStream(id);
    const seen: SseFrame[] = [];
    const take = async (response: Response) => {
      let n = 0;
      const frames = await readFrames(response, (f) => f.filter((x) => x.id).length >= 3 || idles(1)(f) || ++n > 50);
      seen.push(...frames.filter((f) => f.id !== undefined));
    };
    const reading = take(first);
    await send(id, 'go');
    await reading;
    while (!idles(1)(seen)) await take(await openStream(id, '', { 'last-event-id': seen.at(-1)?.id ?? '' }));
    expect(seen.map(eventOf)).toEqual(await listAll(client(), id));
  });

  test('without a position a stream starts from now', async () => {
    model.script(text('One.'), text('Two.'));
    const id = await createSession(client());
    await runTurn(client(), id, userText('1'));
    const events = await runTurn(client(), id, userText('2'));
    expect(agentText(events)).toBe('Two.');
    expect(JSON.stringify(events)).not.toContain('One.');
  });

  test('a resumed stream shows what is still open after the replay', async () => {
    model.script(answer([call('weather', { city: 'A' })]));
    const tool = {
      type: 'custom' as const,
      name: 'weather',
      description: 'd',
      input_schema: { type: 'object' as const },
    };
    const id = await createSession(client(), { tools: [tool] });
    const response = await openStream(id);
    const reading = readFrames(response, idles(1));
    await send(id, 'go');
    const last = (await reading).at(-1);
    await send(id, 'and?');
    const rest = await readFor(`/v1/sessions/${id}/events/stream`, { 'last-event-id': last?.id ?? '' }, 700);
    expect(rest.map(eventOf)).toMatchObject([{ type: 'user.message', processed_at: null }]);
  });
});

describe('readers', () => {
  test('ten at once see the same, and so does the list', async () => {
    scriptTwoRounds();
    const id = await createSession(client(), { tools: [TOOLSET] });
    const streams = await Promise.all(Array.from({ length: 10 }, () => client().beta.sessions.events.stream(id)));
    const reading = Promise.all(streams.map((stream) => readUntil(stream)));
    await send(id, 'go');
    const [first, ...others] = await reading;
    expect(others).toHaveLength(9);
    for (const other of others) expect(other).toEqual(first);
    const stored = (first ?? []).filter((e) => !('processed_at' in e && e.processed_at === null));
    expect(await listAll(client(), id)).toEqual(stored);
  });

  test('one that leaves in mid-stream stops nothing', async () => {
    model.script(text('A long answer in many small pieces, for nobody.', { chunkChars: 3, paceMs: 20 }), text('Next.'));
    const id = await createSession(client());
    const stream = await client().beta.sessions.events.stream(id, { event_deltas: ['agent.message'] });
    const reading = readUntil(stream, { until: (e) => e.type === 'event_delta' });
    await send(id, 'go');
    await reading;
    stream.controller.abort();
    await waitFor('idle', async () =>
      (await client().beta.sessions.retrieve(id)).status === 'idle' ? true : undefined,
    );
    expect(agentText(await listAll(client(), id))).toBe('A long answer in many small pieces, for nobody.');
    expect(agentText(await runTurn(client(), id, userText('and?')))).toBe('Next.');
  });

  test('a list taken while the stream is open never misses an event', async () => {
    scriptTwoRounds();
    const id = await createSession(client(), { tools: [TOOLSET] });
    await send(id, 'go');
    const stream = await client().beta.sessions.events.stream(id);
    const reading = readUntil(stream);
    const listed = await listAll(client(), id);
    // The turn may be over before the stream was opened: then only the list has its end.
    const finished = listed.some((e) => e.type === 'session.status_idle');
    if (finished) stream.controller.abort();
    const streamed = finished ? [] : await reading;
    const both = new Set([...listed, ...streamed].map((e) => ('id' in e ? e.id : '')));
    for (const event of await listAll(client(), id)) expect(both.has('id' in event ? event.id : '')).toBe(true);
  });

  test('an idle stream stays open and is kept alive by pings', async () => {
    const id = await createSession(client());
    const response = await openStream(id);
    let pings = 0;
    for await (const frame of readSse(response)) {
      expect(frame.event).toBe('ping');
      pings += 1;
      if (pings === 3) break;
    }
    expect(pings).toBe(3);
  });
});

describe('reprise_deltas', () => {
  test('tool input and thinking as they are generated; only what was asked for', async () => {
    const input = { command: 'echo "some words that take several pieces"' };
    const script = () =>
      model.script(
        answer([thinking('I think in steps.', 'sig'), call('bash', input)], { chunkChars: 6 }),
        text('Done.'),
      );
    script();
    const id = await createSession(client(), { tools: [TOOLSET] });
    const query = '?reprise_deltas[]=agent.tool_use&reprise_deltas[]=agent.thinking';
    const reading = readFrames(await openStream(id, query), idles(1));
    await send(id, 'go');
    const events = (await reading).map(eventOf);

    interface Delta {
      readonly event_id: string;
      readonly delta: { readonly type: string; readonly content: Record<string, string> };
    }
    const deltas = events.filter((e) => e.type === 'event_delta') as unknown as Delta[];
    const joined = (eventId: string | undefined) =>
      deltas
        .filter((d) => d.event_id === eventId)
        .map((d) => d.delta.content.partial_json ?? d.delta.content.thinking ?? d.delta.content.text ?? '')
        .join('');
    const [use] = only(events, 'agent.tool_use');
    const [thought] = only(events, 'agent.thinking');
    expect(JSON.parse(joined(use?.id))).toEqual(input);
    expect(joined(thought?.id)).toBe('I think in steps.');
    expect(deltas.length).toBeGreaterThan(4);

    script();
    const plain = readFrames(await openStream(id), idles(1));
    await send(id, 'again');
    expect(typesOf((await plain).map(eventOf)).filter((t) => t.startsWith('event_'))).toEqual([]);
  });
});
