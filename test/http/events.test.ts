// Sending and listing: what a session takes as it stands, once, and every page of what happened.

import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { text, toolUse } from '../core/builders.ts';
import { answers, calls, hangs } from '../turn/harness.ts';
import { says, startHttp } from './harness.ts';

const http = startHttp({ limits: { inboxEventsMax: 8 } });
afterAll(() => http.close());
afterEach(() => expect(http.failures.splice(0)).toEqual([]));

interface Event {
  readonly id: string;
  readonly type: string;
  readonly processed_at: string | null;
  readonly content?: { readonly text?: string }[];
}
interface SentBody {
  readonly data: Event[];
  readonly reprise?: { readonly waiting_for?: string[] };
  readonly error?: { readonly message: string };
}

const ASK = { type: 'agent_toolset_20260401', default_config: { permission_policy: { type: 'always_ask' } } };
const CUSTOM = { type: 'custom', name: 'w', description: 'd', input_schema: { type: 'object' } };
const send = (session: string, events: object[], more: object = {}, headers: Record<string, string> = {}) =>
  http.call<SentBody>('POST', `/v1/sessions/${session}/events`, { events, ...more }, headers);

async function list(session: string, query = ''): Promise<{ data: Event[]; next_page: string | null }> {
  const { status, body } = await http.call<{ data: Event[]; next_page: string | null }>(
    'GET',
    `/v1/sessions/${session}/events${query}`,
  );
  expect(status, JSON.stringify(body)).toBe(200);
  return body;
}

/** Every page, `limit` at a time. */
async function walk(session: string, order: 'asc' | 'desc', limit: number): Promise<Event[]> {
  const events: Event[] = [];
  for (let page: string | null = ''; page !== null; ) {
    const cursor: string = page === '' ? '' : `&page=${encodeURIComponent(page)}`;
    const next = await list(session, `?order=${order}&limit=${limit}${cursor}`);
    expect(next.data.length).toBeLessThanOrEqual(limit);
    events.push(...next.data);
    page = next.next_page;
  }
  return events;
}

describe('pages', () => {
  test('every limit and both orders walk over the same events, each once', async () => {
    http.script(answers([text('one')]), answers([text('two')]));
    const id = await http.session();
    for (const words of ['a', 'b']) {
      await send(id, [says(words)]);
      await http.idle(id);
    }
    const all = (await list(id, '?limit=1000')).data;
    expect(all).toHaveLength(16);
    for (const limit of [1, 2, 3, 5, 7, 16]) {
      expect(await walk(id, 'asc', limit)).toEqual(all);
      expect(await walk(id, 'desc', limit)).toEqual(all.toReversed());
    }
  });

  test('open events come last, newest first they come first; what is taken meanwhile is not lost', async () => {
    http.script(hangs([text('x')], 1), answers([text('then')]));
    const id = await http.session();
    await send(id, [says('go')]);
    await http.asking(id);
    const { data: queued } = (await send(id, [says('q1'), says('q2'), says('q3')])).body;
    const all = (await list(id, '?limit=1000')).data;
    expect(all.slice(-3)).toEqual(queued);
    expect(queued.every((e) => e.processed_at === null)).toBe(true);
    expect(await walk(id, 'asc', 2)).toEqual(all);
    expect(await walk(id, 'desc', 2)).toEqual(all.toReversed());

    const first = await list(id, `?limit=${all.length - 1}`);
    const desc = await list(id, '?order=desc&limit=2');
    await send(id, [{ type: 'user.interrupt' }]);
    await http.idle(id);
    const rest = await list(id, `?limit=50&page=${first.next_page}`);
    expect(rest.data[0]).toMatchObject({ id: queued[2]?.id, processed_at: expect.any(String) });
    const older = await list(id, `?order=desc&limit=50&page=${desc.next_page}`);
    expect([...desc.data, ...older.data].map((e) => e.id)).toEqual(all.toReversed().map((e) => e.id));
  });

  test('types and times filter; a cursor of another order or session is refused', async () => {
    http.script(answers([text('one')]));
    const id = await http.session();
    await send(id, [says('a')]);
    await http.idle(id);
    const only = await list(id, '?types%5B%5D=user.message&types%5B%5D=agent.message&limit=1');
    expect(only.data.map((e) => e.type)).toEqual(['user.message']);
    const next = await list(id, `?types[]=user.message&types[]=agent.message&page=${only.next_page}`);
    expect(next.data.map((e) => e.type)).toEqual(['agent.message']);
    expect((await list(id, '?created_at[gt]=2999-01-01T00:00:00Z')).data).toEqual([]);
    const other = await http.session();
    for (const [session, query] of [
      [id, `order=desc&page=${only.next_page}`],
      [other, `page=${only.next_page}`],
      [id, 'types[]=user.shout'],
    ] as const) {
      expect((await http.call('GET', `/v1/sessions/${session}/events?${query}`)).status).toBe(400);
    }
  });
});

describe('a cursor that was tampered with is a 400, and never a walk from the start', () => {
  const position = (id: string, at: unknown, direction = 'n', order = 'a') =>
    Buffer.from(JSON.stringify([1, `events/${id}`, order, direction, at])).toString('base64url');

  test.each(['x', '', 'l.1', 'l.1.0 ', 'l.-1.0', 'l.0.0', 'l.999.0', 'o.1.x', 'o.999.sevt_x', 'l.9999999999999.0', 3])(
    'the position %j',
    async (at) => {
      http.script(answers([text('one')]));
      const id = await http.session();
      await send(id, [says('a')]);
      await http.idle(id);
      for (const order of ['asc', 'desc'] as const) {
        const page = position(id, at, 'n', order[0]);
        const refused = await http.call<SentBody>('GET', `/v1/sessions/${id}/events?order=${order}&page=${page}`);
        expect(refused.status).toBe(400);
        expect(refused.body.error?.message).toBe('page: is not a cursor of this list');
      }
      const back = await http.call('GET', `/v1/sessions/${id}/events?page=${position(id, 'l.1.0', 'p')}`);
      expect(back.status).toBe(400);
      expect((await list(id, `?page=${position(id, 'l.1.0')}`)).data.length).toBeGreaterThan(0);
    },
  );
});

describe('answers', () => {
  test('each call takes one answer, in any order, and messages wait behind them', async () => {
    http.script(calls(toolUse('t1', 'w', { n: 1 }), toolUse('t2', 'w', { n: 2 })), answers([text('done')]));
    const id = await http.session({ tools: [CUSTOM] });
    await send(id, [says('go')]);
    await http.idle(id);
    const uses = (await list(id)).data.filter((e) => e.type === 'agent.custom_tool_use').map((e) => e.id);
    expect(uses).toHaveLength(2);
    const [first, second] = uses as [string, string];
    const answer = (call: string) => ({
      type: 'user.custom_tool_result',
      custom_tool_use_id: call,
      content: [text('ok')],
    });

    const queued = await send(id, [says('meanwhile')]);
    expect(queued.body.reprise?.waiting_for).toEqual([first, second]);
    const rejected = await send(id, [says('now')], { reprise: { on_busy: 'reject' } });
    expect(rejected.status).toBe(400);
    expect(rejected.body.error?.message).toContain(first);

    const twice = await send(id, [answer(first), answer(first)]);
    expect(twice.body.error?.message).toContain('events[1].custom_tool_use_id');
    const both = await Promise.all([send(id, [answer(second)]), send(id, [answer(second)])]);
    expect(both.map((r) => r.status).sort()).toEqual([200, 400]);
    expect((await send(id, [answer(second)])).status).toBe(400);
    const wrongKind = await send(id, [{ type: 'user.tool_confirmation', tool_use_id: first, result: 'allow' }]);
    expect(wrongKind.body.error?.message).toContain('custom');

    http.script(answers([text('and the message')]));
    const { data } = (await send(id, [answer(first)])).body;
    expect(data[0]?.processed_at).not.toBeNull();
    await http.idle(id);
    const types = (await list(id, '?limit=1000')).data.map((e) => e.type);
    expect(types.filter((t) => t === 'agent.message')).toHaveLength(2);
  });

  test('a confirmation is for calls that ask; a deny message goes with deny', async () => {
    http.script(calls(toolUse('t1', 'bash', { command: 'ls' })));
    const id = await http.session({ tools: [ASK] });
    await send(id, [says('go')]);
    await http.idle(id);
    const use = (await list(id)).data.find((e) => e.type === 'agent.tool_use')?.id as string;
    const confirm = (more: object) => send(id, [{ type: 'user.tool_confirmation', tool_use_id: use, ...more }]);
    expect((await confirm({ result: 'allow', deny_message: 'no' })).status).toBe(400);
    expect((await confirm({ result: 'perhaps' })).body.error?.message).toContain('events[0].result');
    const asResult = await send(id, [{ type: 'user.custom_tool_result', custom_tool_use_id: use }]);
    expect(asResult.status).toBe(400);
    http.script(answers([text('all right')]));
    expect((await confirm({ result: 'deny', deny_message: 'not here' })).status).toBe(200);
    await http.idle(id);
    expect((await confirm({ result: 'allow' })).body.error?.message).toContain('no call');
    const result = (await list(id)).data.find((e) => e.type === 'agent.tool_result');
    expect(result?.content?.[0]?.text).toContain('not here');
  });
});

describe('admission', () => {
  test('a system message comes last, behind a message or a result', async () => {
    const id = await http.session();
    const system = { type: 'system.message', content: [text('s')] };
    expect((await send(id, [system])).body.error?.message).toContain('events[0]');
    expect((await send(id, [system, says('x')])).status).toBe(400);
    http.script(answers([text('ok')]));
    expect((await send(id, [says('x'), system])).status).toBe(200);
    await http.idle(id);
  });

  test('on_busy: interrupt stops what runs and goes first; reject names it; a full inbox is a 429', async () => {
    http.script(hangs([text('x')], 1), answers([text('instead')]));
    const id = await http.session();
    await send(id, [says('go')]);
    await http.asking(id);
    const rejected = await send(id, [says('no')], { reprise: { on_busy: 'reject' } });
    expect(rejected.body.error?.message).toContain('running');
    for (let i = 0; i < 7; i++) await send(id, [says(`q${i}`)]);
    const full = await send(id, [says('a'), says('b')]);
    expect(full.status).toBe(429);
    expect(full.headers.get('retry-after')).toBe('1');
    expect(full.body.error?.message).toContain('inboxEventsMax');
    const sent = await send(id, [says('instead')], { reprise: { on_busy: 'interrupt' } });
    expect(sent.status).toBe(429);
    expect((await send(id, [{ type: 'user.interrupt' }])).status).toBe(200);
    await http.idle(id);
    const ends = (await list(id, '?limit=1000')).data.filter((e) => e.type === 'session.status_idle');
    expect(ends).toHaveLength(2);
  });

  test('an interrupt before messages in one request redirects', async () => {
    http.script(hangs([text('x')], 1), answers([text('instead')]));
    const id = await http.session();
    await send(id, [says('go')]);
    await http.asking(id);
    const { body } = await send(id, [says('other')], { reprise: { on_busy: 'interrupt' } });
    expect(body.data.map((e) => e.type)).toEqual(['user.interrupt', 'user.message']);
    await http.idle(id);
    const last = (await list(id, '?limit=1000')).data.filter((e) => e.type === 'agent.message').at(-1);
    expect(last?.content?.[0]?.text).toBe('instead');
  });

  test('an archived session takes nothing more', async () => {
    const id = await http.session();
    expect((await http.call('POST', `/v1/sessions/${id}/archive`)).body).toMatchObject({ status: 'terminated' });
    expect((await send(id, [says('x')])).body.error?.message).toContain('archived');
    expect((await http.call('POST', `/v1/sessions/${id}`, { title: 'T' })).status).toBe(400);
    expect((await http.call('POST', `/v1/sessions/${id}/archive`)).status).toBe(200);
  });

  test('a running session is neither archived nor deleted; stop makes it idle and usable', async () => {
    http.script(hangs([text('x')], 1));
    const id = await http.session();
    await send(id, [says('go')]);
    await http.asking(id);
    for (const [method, path] of [
      ['POST', `/v1/sessions/${id}/archive`],
      ['DELETE', `/v1/sessions/${id}`],
    ] as const) {
      const { status, body } = await http.call<SentBody>(method, path);
      expect(status).toBe(400);
      expect(body.error?.message).toContain('running');
    }
    expect((await http.call('POST', `/v1/sessions/${id}/stop`)).body).toMatchObject({ status: 'idle' });
    http.script(answers([text('back')]));
    await send(id, [says('again')]);
    await http.idle(id);
    expect((await http.call('DELETE', `/v1/sessions/${id}`)).body).toEqual({ id, type: 'session_deleted' });
  });
});

describe('Idempotency-Key', () => {
  test('the same request again: the same answer, once in the log; another one: 422', async () => {
    http.script(answers([text('once')]));
    const id = await http.session();
    const headers = { 'idempotency-key': 'key-1' };
    const first = await send(id, [says('x')], {}, headers);
    await http.idle(id);
    const again = await send(id, [says('x')], {}, headers);
    expect(again.body).toEqual(first.body);
    expect((await list(id)).data.filter((e) => e.type === 'user.message')).toHaveLength(1);
    const other = await send(id, [says('y')], {}, headers);
    expect(other.status).toBe(422);
    expect((await send(id, [says('x')], {}, { 'idempotency-key': 'x'.repeat(256) })).status).toBe(400);
  });

  test('two at once are one', async () => {
    http.script(answers([text('once')]));
    const id = await http.session();
    const headers = { 'idempotency-key': 'key-2' };
    const both = await Promise.all([send(id, [says('x')], {}, headers), send(id, [says('x')], {}, headers)]);
    expect(both[0]?.body).toEqual(both[1]?.body);
    await http.idle(id);
    expect((await list(id)).data.filter((e) => e.type === 'user.message')).toHaveLength(1);
  });
});

describe('content', () => {
  test('a block over the inline limit comes back whole, in the echo, the list and a later page', async () => {
    http.script(answers([text('long')]));
    const id = await http.session();
    const long = 'ä'.repeat(70_000);
    const { body } = await send(id, [says(long)]);
    expect(body.data[0]?.content?.[0]?.text).toBe(long);
    await http.idle(id);
    const listed = (await list(id)).data.find((e) => e.type === 'user.message');
    expect(listed?.content?.[0]?.text).toBe(long);
  });

  test('a file of ours becomes text or base64; another one is refused by its field', async () => {
    const form = new FormData();
    form.set('file', new File(['a,b\n1,2\n'], 'a.csv', { type: 'text/csv' }));
    const { body: file } = await http.call<{ id: string }>('POST', '/v1/files', form);
    const id = await http.session();
    const block = (type: string, file_id: string) => ({
      type: 'user.message',
      content: [text('see'), { type, source: { type: 'file', file_id } }],
    });
    http.script(answers([text('seen')]));
    const { body } = await send(id, [block('document', file.id)]);
    expect(body.data[0]?.content?.[1]).toMatchObject({
      title: 'a.csv',
      source: { type: 'text', media_type: 'text/plain', data: 'a,b\n1,2\n' },
    });
    await http.idle(id);
    const asImage = await send(id, [block('image', file.id)]);
    expect(asImage.body.error?.message).toContain('events[0].content[1].source.file_id');
    const unknown = await send(id, [block('document', 'file_nothing')]);
    expect(unknown.status).toBe(400);
    expect(unknown.body.error?.message).toContain('events[0].content[1].source.file_id');
  });
});
