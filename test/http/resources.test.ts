// Creating once under a key, files and their copies, budgets, and what a delete takes with it.

import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { LIMITS } from '../../shared/types/limits.ts';
import { text } from '../core/builders.ts';
import { answers, eventsOf, hangs } from '../turn/harness.ts';
import { MODEL, says, startHttp } from './harness.ts';

const http = startHttp();
afterAll(() => http.close());
afterEach(() => expect(http.failures.splice(0)).toEqual([]));

interface Body {
  readonly id: string;
  readonly error: { readonly message: string; readonly details?: { readonly error_code?: string } };
  readonly data: { readonly id: string }[];
}

async function upload(name = 'a.csv', content = 'a,b\n', more: Record<string, string> = {}) {
  const form = new FormData();
  form.set('file', new File([content], name, { type: 'text/csv' }));
  for (const [key, value] of Object.entries(more)) form.set(key, value);
  return http.call<Body & Record<string, unknown>>('POST', '/v1/files', form);
}

describe('creating under an Idempotency-Key', () => {
  const create = (path: string, body: object, key: string) =>
    http.call<Body>('POST', path, body, { 'idempotency-key': key });

  test('the same request again: the same thing; another one: 422; two at once: one', async () => {
    const body = { name: 'once', model: MODEL };
    const first = await create('/v1/agents', body, 'a');
    expect((await create('/v1/agents', { model: MODEL, name: 'once' }, 'a')).body).toEqual(first.body);
    expect((await create('/v1/agents', { ...body, name: 'other' }, 'a')).status).toBe(422);
    expect((await create('/v1/environments', body, 'a')).status).toBe(422);
    const both = await Promise.all([create('/v1/agents', body, 'b'), create('/v1/agents', body, 'b')]);
    expect(both.map((r) => r.status).filter((s) => s !== 200 && s !== 409)).toEqual([]);
    const { data } = (await http.call<{ data: { name: string }[] }>('GET', '/v1/agents?limit=1000')).body;
    expect(data.filter((a) => a.name === 'once')).toHaveLength(2);
  });

  test('a refused request leaves its key free', async () => {
    const wrong = { agent: 'agent_x', environment_id: 'env_x' };
    expect((await create('/v1/sessions', wrong, 'c')).status).toBe(404);
    const agent = await http.call<Body>('POST', '/v1/agents', { name: 'A', model: MODEL });
    const environment = await http.call<Body>('POST', '/v1/environments', { name: 'e' });
    const right = { agent: agent.body.id, environment_id: environment.body.id };
    const made = await create('/v1/sessions', right, 'c');
    expect(made.status).toBe(200);
    expect((await create('/v1/sessions', right, 'c')).body.id).toBe(made.body.id);
  });
});

describe('files', () => {
  test('an upload keeps its name and type, is found by id, not downloadable, and ends when deleted', async () => {
    const { body: file } = await upload('../../etc/pass\u0000wd.csv');
    expect(file).toMatchObject({ filename: 'passwd.csv', mime_type: 'text/csv', size_bytes: 4, downloadable: false });
    const byId = await http.call<Body>('GET', `/v1/files?ids[]=${file.id}&ids[]=file_nothing`);
    expect(byId.body.data.map((f) => f.id)).toEqual([file.id]);
    const content = await http.call<Body>('GET', `/v1/files/${file.id}/content`);
    expect([content.status, content.body.error.message]).toEqual([400, expect.stringContaining('upload')]);
    expect((await http.call('DELETE', `/v1/files/${file.id}`)).body).toEqual({ id: file.id, type: 'file_deleted' });
    expect((await http.call('GET', `/v1/files/${file.id}`)).status).toBe(404);
  });

  test('what is no upload is refused by name', async () => {
    const json = await http.call<Body>('POST', '/v1/files', { file: 'x' });
    expect(json.status).toBe(415);
    const form = new FormData();
    form.set('other', 'x');
    expect((await http.call<Body>('POST', '/v1/files', form)).body.error.message).toContain('file: ');
    const garbage = { 'content-type': 'multipart/form-data; boundary=x' };
    expect((await http.call<Body>('POST', '/v1/files', 'garbage', garbage)).status).toBe(400);
    expect((await upload('a', 'x', { expires_in_seconds: '1' })).body.error.message).toContain('expires_in_seconds');
    expect((await upload('a', 'x', { expires_in_seconds: '3600' })).body.expires_at).not.toBeNull();
  });

  test.each([
    ['../../../etc/passwd', 'mount_path'],
    ['a/../..', 'mount_path'],
    ['dir/', 'mount_path'],
    ['taken.csv', 'mount_path'],
    ['taken.csv/below', 'mount_path'],
    ['new\nline', 'mount_path'],
  ])('mounted at %j: a 400 that names %s', async (mount_path, field) => {
    const { body: file } = await upload();
    const id = await http.session({}, { resources: [{ type: 'file', file_id: file.id, mount_path: '/taken.csv' }] });
    const add = { type: 'file', file_id: file.id, mount_path };
    const { status, body } = await http.call<Body>('POST', `/v1/sessions/${id}/resources`, add);
    expect(status).toBe(400);
    expect(body.error.message).toContain(field);
  });

  test("a session's copy has its own id and goes with the session, blobs included", async () => {
    const { body: file } = await upload();
    const id = await http.session({}, { resources: [{ type: 'file', file_id: file.id }] });
    const { data } = (
      await http.call<{ data: { id: string; file_id: string; mount_path: string }[] }>(
        'GET',
        `/v1/sessions/${id}/resources`,
      )
    ).body;
    expect(data[0]?.file_id).not.toBe(file.id);
    expect(data[0]?.mount_path).toBe(`/mnt/session/uploads/${file.id}`);
    const scoped = await http.call<Body>('GET', `/v1/files?scope_id=${id}`);
    expect(scoped.body.data.map((f) => f.id)).toEqual([data[0]?.file_id]);
    expect((await http.call('DELETE', `/v1/files/${data[0]?.file_id}`)).status).toBe(400);
    const prefix = `t/default/${id.slice(5)}/`;
    expect(await http.ports.blobs.list(prefix, { limit: 10 })).toHaveLength(1);
    await http.call('DELETE', `/v1/sessions/${id}`);
    expect(await http.ports.blobs.list(prefix, { limit: 10 })).toEqual([]);
    expect((await http.call('GET', `/v1/files/${data[0]?.file_id}`)).status).toBe(404);
    expect((await http.call('GET', `/v1/files/${file.id}`)).status).toBe(200);
  });

  test('other kinds of resources are refused by name', async () => {
    const id = await http.session();
    for (const type of ['github_repository', 'memory_store']) {
      const { body } = await http.call<Body>('POST', `/v1/sessions/${id}/resources`, { type });
      expect(body.error.message).toContain(`not yet supported: ${type}`);
    }
  });
});

describe('files added at once', () => {
  const add = (id: string, file_id: string, mount_path: string) =>
    http.call<Body>('POST', `/v1/sessions/${id}/resources`, { type: 'file', file_id, mount_path });
  const mounted = async (id: string) =>
    (await http.call<{ data: { id: string; mount_path: string }[] }>('GET', `/v1/sessions/${id}/resources`)).body.data;
  const blobsOf = (id: string) => http.ports.blobs.list(`t/default/${id.slice(5)}/f/`, { limit: 1000 });

  test.each([
    ['resting', ['d', 'd', 'd', 'd']],
    ['resting', ['d/x', 'd', 'd/x/y', 'd']],
    ['running', ['d', 'd', 'd', 'd']],
    ['running', ['d/x', 'd', 'd/x/y', 'd']],
  ])('%s: of the paths %j one gets its place, the others are told so and leave no copy', async (status, paths) => {
    const { body: file } = await upload();
    const id = await http.session();
    if (status === 'running') {
      http.script(hangs([text('x')], 1));
      await http.call('POST', `/v1/sessions/${id}/events`, { events: [says('go')] });
      await http.asking(id);
    }
    const made = await Promise.all(paths.map((path) => add(id, file.id, path)));
    expect(made.map((r) => r.status).toSorted()).toEqual([200, 400, 400, 400]);
    for (const { status: answer, body } of made) {
      if (answer === 400) expect(body.error.message).toMatch(/^mount_path: \S+ is taken by another file$/);
    }
    expect((await mounted(id)).map((r) => r.id)).toEqual(made.filter((r) => r.status === 200).map((r) => r.body.id));
    expect(await blobsOf(id)).toHaveLength(1);
    expect((await http.call<Body>('GET', `/v1/files?scope_id=${id}`)).body.data).toHaveLength(1);
    if (status === 'resting') return;
    await http.call('POST', `/v1/sessions/${id}/events`, { events: [{ type: 'user.interrupt' }] });
    await http.idle(id);
    expect(await mounted(id)).toHaveLength(1);
  });

  test('sessionFilesMax holds', async () => {
    const { body: file } = await upload();
    const resources = Array.from({ length: LIMITS.sessionFilesMax - 1 }, (_, i) => ({
      type: 'file',
      file_id: file.id,
      mount_path: `f${i}`,
    }));
    const id = await http.session({}, { resources });
    const made = await Promise.all(['a', 'b', 'c'].map((path) => add(id, file.id, path)));
    expect(made.map((r) => r.status).toSorted()).toEqual([200, 400, 400]);
    expect(made.find((r) => r.status === 400)?.body.error.message).toContain('sessionFilesMax');
    expect(await blobsOf(id)).toHaveLength(LIMITS.sessionFilesMax);
  });
});

describe('budgets', () => {
  const budget = (amount: string) => ({ type: 'limit', max_list_cost: { amount, currency: 'USD' } });

  test.each(['0', '01', '-1', '1.5', 'x'])('an amount of %j is a 400', async (amount) => {
    await expect(http.session({}, { budget: budget(amount) })).rejects.toThrow(/budget\.max_list_cost\.amount/);
  });

  test('at the cap messages are refused; raising it above the cost opens the door again', async () => {
    const dear = eventsOf([text('dear')]).map((e) =>
      e.type === 'message_delta' ? { ...e, usage: { output_tokens: 1_000_000 } } : e,
    );
    http.script(async function* () {
      yield { kind: 'events', events: dear };
      yield { kind: 'done', requestId: null };
    });
    const id = await http.session({}, { budget: budget('1') });
    const path = `/v1/sessions/${id}`;
    await http.call('POST', `${path}/events`, { events: [says('go')] });
    await http.idle(id);
    const { usage } = (await http.call<{ usage: { list_cost: { amount: string } } }>('GET', path)).body;
    expect(Number(usage.list_cost.amount)).toBeGreaterThan(1);
    const refused = await http.call<Body>('POST', `${path}/events`, { events: [says('more')] });
    expect(refused.body.error.message).toContain('budget');
    expect((await http.call('POST', `${path}/events`, { events: [{ type: 'user.interrupt' }] })).status).toBe(200);
    const same = await http.call<Body>('POST', path, { budget: budget(usage.list_cost.amount.slice(0, 1)) });
    expect(same.body.error.details?.error_code).toBe('budget_not_raised');
    expect((await http.call('POST', path, { budget: null })).body).toMatchObject({ budget: null });
    const again = await http.call<Body>('POST', path, { budget: budget('5') });
    expect(again.body.error.details?.error_code).toBe('budget_create_only');
    http.script(answers([text('on')]));
    expect((await http.call('POST', `${path}/events`, { events: [says('more')] })).status).toBe(200);
    await http.idle(id);
  });
});
