// Whole turns through the engine: what stands in the log, in which appends, and what the model is sent.

import { afterEach, expect, it } from 'vitest';
import type { TurnEvent } from '../../shared/types/turn.ts';
import { text, toolUse } from '../core/builders.ts';
import {
  type Answer,
  answers,
  calls,
  fails,
  type Harness,
  type HarnessOptions,
  hangs,
  startHarness,
} from './harness.ts';

let h: Harness;
const start = async (...script: Answer[]): Promise<Harness> => startWith({ script });
const startWith = async (options: HarnessOptions): Promise<Harness> => {
  h = await startHarness(options);
  return h;
};
afterEach(() => h.close());

const hello = { type: 'user.message', content: [text('hi')] } as const;
const kinds = async () => (await h.log()).map((e) => e.kind);
const ended = async () => (await h.log()).filter((e) => e.kind === 'turn_ended').map((e) => e.outcome);
const until = async (what: () => boolean | Promise<boolean>) => {
  for (let i = 0; i < 400; i++) {
    if (await what()) return;
    await new Promise((r) => setTimeout(r, 5));
  }
  throw new Error('it did not come to pass');
};

it('writes a turn with one tool call in four appends, intent before effect, outcome after', async () => {
  await start(calls(toolUse('t1')), answers([text('done')]));
  await h.send(hello);
  await h.idle();
  expect(await kinds()).toEqual([
    'turn_started',
    'input',
    'tools_offered',
    'model_started',
    'message',
    'decided',
    'tool_started',
    'tool_result',
    'model_started',
    'message',
    'turn_ended',
  ]);
  const appends = new Set((await h.log()).map((e) => e.at));
  expect(appends.size).toBeLessThanOrEqual(4);
  expect(h.runs).toEqual(['bash t1']);
  expect(h.requests[1]?.messages.at(-1)).toMatchObject({
    role: 'user',
    content: [{ type: 'tool_result', tool_use_id: 't1' }],
  });
});

it('answers several calls in one user message in the order of the model', async () => {
  await start(calls(toolUse('t1', 'read'), toolUse('t2', 'read'), toolUse('t3', 'bash')), answers([text('done')]));
  await h.send(hello);
  await h.idle();
  const last = h.requests[1]?.messages.at(-1);
  expect(last?.content.map((c) => c.tool_use_id)).toEqual(['t1', 't2', 't3']);
});

it('tells the model what was wrong with an input, and that a tool failed', async () => {
  await startWith({
    script: [
      calls(toolUse('t1', 'bash', { bad: true }), toolUse('t2', 'nope')),
      calls(toolUse('t3', 'bash')),
      answers([text('ok')]),
    ],
    tool: async () => {
      throw new Error('secret detail');
    },
  });
  await h.send(hello);
  await h.idle();
  const results = h.requests[2]?.messages.flatMap((m) => m.content.filter((c) => c.type === 'tool_result'));
  expect(results?.map((r) => r.is_error)).toEqual([true, true, true]);
  expect(JSON.stringify(results)).toContain('bad: must not be set');
  expect(JSON.stringify(results)).not.toContain('secret detail');
});

it('tries again after a retryable failure and gives up at once on others', async () => {
  await start(fails(529, 'overloaded_error'), answers([text('ok')]), fails(401, 'authentication_error'));
  await h.send(hello);
  await until(async () => (await ended()).length === 1);
  await h.send(hello);
  await until(async () => (await ended()).length === 2);
  expect((await ended()).map((o) => o.kind)).toEqual(['completed', 'retries_exhausted']);
  expect(h.requests).toHaveLength(3);
});

it('keeps complete blocks and the cut text of an interrupted answer, and starts the next turn with what was queued', async () => {
  await start(hangs([text('partial answer')], 3), answers([text('second')]));
  await h.send(hello);
  await until(() => h.requests.length === 1);
  await until(async () => (await kinds()).includes('model_started'));
  await h.send({ type: 'user.interrupt' }, { type: 'user.message', content: [text('instead')] });
  await until(async () => (await ended()).length === 2);
  expect((await ended()).map((o) => o.kind)).toEqual(['interrupted', 'completed']);
  expect(h.requests[1]?.messages.map((m) => JSON.stringify(m.content))).toEqual([
    expect.stringContaining('hi'),
    expect.stringContaining('partial answer'),
    expect.stringContaining('instead'),
  ]);
});

it('interrupts a running tool and says so in its result', async () => {
  await startWith({
    script: [calls(toolUse('t1')), answers([text('next')])],
    tool: (_input, signal) =>
      new Promise((resolve) => {
        signal.addEventListener('abort', () => resolve({ content: [text('killed')], isError: true }), { once: true });
      }),
  });
  await h.send(hello);
  await until(() => h.runs.length === 1);
  await h.send({ type: 'user.interrupt' });
  await until(async () => (await ended()).length === 1);
  const result = (await h.log()).find((e) => e.kind === 'tool_result');
  expect(result).toMatchObject({ isError: true });
  expect(JSON.stringify(result)).toContain('interrupted');
  await h.send(hello);
  await until(async () => (await ended()).length === 2);
});

it('streams previews under the ids of the events that follow', async () => {
  await start(answers([{ type: 'thinking', thinking: 'hm', signature: 's' }, text('hello')]));
  const seen: TurnEvent[] = [];
  const abort = new AbortController();
  const reading = (async () => {
    for await (const batch of h.engine.follow(
      'default' as never,
      h.session.id,
      { afterSeq: 0, openEvents: false },
      abort.signal,
    )) {
      seen.push(...batch);
      if (batch.some((e) => e.kind === 'entries' && e.entries.some((x) => x.kind === 'turn_ended'))) return;
    }
  })();
  await h.send(hello);
  await reading;
  abort.abort();
  expect(seen.map((e) => (e.kind === 'entries' ? e.entries.map((x) => x.kind) : e.kind))).toEqual([
    'accepted',
    ['turn_started', 'input', 'tools_offered', 'model_started'],
    'preview_start',
    'preview_delta',
    'preview_start',
    'preview_delta',
    ['message', 'turn_ended'],
  ]);
  const seq = (await h.log()).find((e) => e.kind === 'model_started')?.seq;
  expect(seen.flatMap((e) => (e.kind === 'preview_start' ? [e.eventId.slice(-4)] : []))).toEqual([
    `s${seq}b0`,
    `s${seq}b1`,
  ]);
});

it('replays from every position without loss or repetition', async () => {
  await start(calls(toolUse('t1')), answers([text('done')]));
  await h.send(hello);
  await h.idle();
  const all = await h.log();
  for (let after = 0; after <= all.length; after++) {
    const abort = new AbortController();
    const got: number[] = [];
    if (after < all.length) {
      for await (const batch of h.engine.follow(
        'default' as never,
        h.session.id,
        { afterSeq: after, openEvents: true },
        abort.signal,
      )) {
        for (const e of batch) if (e.kind === 'entries') got.push(...e.entries.map((x) => x.seq));
        if (got.at(-1) === all.length) break;
      }
    }
    expect(got).toEqual(all.slice(after).map((e) => e.seq));
  }
});

it('ends a turn that has nothing to send, and the next message goes through', async () => {
  await start(answers([text('ok')]));
  await h.send({ type: 'user.message', content: [text(' ')] });
  await until(async () => (await ended()).length === 1);
  expect(await ended()).toMatchObject([{ kind: 'retries_exhausted' }]);
  await h.send(hello);
  await until(async () => (await ended()).length === 2);
  expect((await ended())[1]).toEqual({ kind: 'completed' });
});

it('gives a reader who comes back in mid-answer the open preview from its start', async () => {
  await start(hangs([text('partial answer')], 3));
  await h.send(hello);
  await until(async () => (await kinds()).includes('model_started'));
  const from = { afterSeq: (await h.log()).length, openEvents: true };
  const abort = new AbortController();
  const seen: TurnEvent[] = [];
  for await (const batch of h.engine.follow('default' as never, h.session.id, from, abort.signal)) {
    seen.push(...batch);
    if (seen.some((e) => e.kind === 'preview_delta')) break;
  }
  expect(seen).toMatchObject([{ kind: 'preview_start' }, { kind: 'preview_delta', text: 'partial answer' }]);
  await h.send({ type: 'user.interrupt' });
  await until(async () => (await ended()).length === 1);
  const after = (await h.log()).length - 1;
  for await (const batch of h.engine.follow(
    'default' as never,
    h.session.id,
    { afterSeq: after, openEvents: true },
    abort.signal,
  )) {
    expect(batch.map((e) => e.kind)).toEqual(['entries']);
    break;
  }
});

it('does not let one link that cannot be loaded fail every later turn', async () => {
  const linked = (request: { messages: readonly unknown[] }) => JSON.stringify(request.messages).includes('"url"');
  const strict: Answer = (request, signal) =>
    linked(request)
      ? fails(400, 'invalid_request_error', 'messages.0.content.1: Unable to download the file')(request, signal)
      : answers([text('ok')])(request, signal);
  await startWith({ script: [], answer: strict });
  const image = { type: 'image', source: { type: 'url', url: 'https://example.invalid/x.png' } };
  await h.send({ type: 'user.message', content: [text('look'), image] });
  await until(async () => (await ended()).length === 1);
  await h.send(hello);
  await until(async () => (await ended()).length === 2);
  expect((await ended()).map((o) => o.kind)).toEqual(['completed', 'completed']);
  expect(h.requests).toHaveLength(3);
  expect((await h.log()).filter((e) => e.kind === 'repaired')).toHaveLength(1);
  const [first, second] = [h.requests[1], h.requests[2]].map((r) =>
    JSON.stringify(r?.messages[0]?.content.map((b) => b.text)),
  );
  expect(first).toContain('could not be loaded');
  expect(second).toBe(first);
});

it('keeps its links after a refusal that is about something else', async () => {
  await start(fails(400, 'invalid_request_error', 'max_tokens: too high'), answers([text('ok')]));
  const image = { type: 'image', source: { type: 'url', url: 'https://example.com/x.png' } };
  await h.send({ type: 'user.message', content: [text('look'), image] });
  await until(async () => (await ended()).length === 1);
  await h.send(hello);
  await until(async () => (await ended()).length === 2);
  expect((await ended()).map((o) => o.kind)).toEqual(['retries_exhausted', 'completed']);
  expect(JSON.stringify(h.requests[1]?.messages)).toContain('example.com');
});
