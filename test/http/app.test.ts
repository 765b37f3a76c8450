// The door: keys and scopes, request ids, bodies and their limits, unknown routes, and errors that leak nothing.

import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { type HttpHarness, KEY, MODEL, says, startHttp } from './harness.ts';

interface ErrorBody {
  readonly type: string;
  readonly request_id: string;
  readonly error: { readonly type: string; readonly message: string; readonly details?: Record<string, unknown> };
}

const http = startHttp({ limits: { requestBodyBytesMax: 20_000 } });
afterAll(() => http.close());
afterEach(() => expect(http.failures.splice(0)).toEqual([]));

async function refused(status: number, ...args: Parameters<HttpHarness['request']>): Promise<ErrorBody['error']> {
  const { status: got, body, headers } = await http.call<ErrorBody>(...args);
  expect(got, JSON.stringify(body)).toBe(status);
  expect(body.type).toBe('error');
  expect(headers.get('request-id')).toMatch(/^req_[0-9a-z]{26}$/);
  expect(body.request_id).toBe(headers.get('request-id'));
  return body.error;
}

describe('keys', () => {
  test('without one, with a wrong one, with an empty one: 401', async () => {
    const wrong: Record<string, string>[] = [
      { 'x-api-key': '' },
      { 'x-api-key': `${KEY}x` },
      { 'x-api-key': '', authorization: 'Basic x' },
    ];
    for (const headers of wrong) {
      expect((await refused(401, 'GET', '/v1/agents', undefined, headers)).type).toBe('authentication_error');
    }
  });

  test('Bearer wins over x-api-key', async () => {
    const headers = { 'x-api-key': 'wrong', authorization: `Bearer ${KEY}` };
    expect((await http.call('GET', '/v1/agents', undefined, headers)).status).toBe(200);
  });

  test('a made key works in its tenant alone, is listed without itself, and ends when deleted', async () => {
    const made = await http.call<{ id: string; key: string }>('POST', '/v1/api_keys', { name: 'k', tenant: 'other' });
    const { id, key } = made.body;
    expect(key).toMatch(/^rk_[0-9a-z]{26}_\w{20,}$/);
    const headers = { 'x-api-key': key };
    const session = await http.session();
    await refused(404, 'GET', `/v1/sessions/${session}`, undefined, headers);
    expect((await refused(403, 'GET', '/v1/api_keys', undefined, headers)).type).toBe('permission_error');
    const listed = await http.call<{ data: { id: string }[] }>('GET', '/v1/api_keys');
    expect(listed.body.data.map((k) => k.id)).toContain(id);
    expect(JSON.stringify(listed.body)).not.toContain(key);
    expect((await http.call('DELETE', `/v1/api_keys/${id}`)).status).toBe(200);
    await refused(401, 'GET', '/v1/agents', undefined, headers);
    await refused(404, 'DELETE', `/v1/api_keys/${id}`);
  });

  test("an admin of another tenant sees and makes that tenant's keys only", async () => {
    const body = { name: 'admin', tenant: 'third', scopes: ['api', 'admin'] };
    const { key } = (await http.call<{ key: string }>('POST', '/v1/api_keys', body)).body;
    const headers = { 'x-api-key': key };
    await refused(403, 'POST', '/v1/api_keys', { name: 'x', tenant: 'default' }, headers);
    const listed = await http.call<{ data: { tenant: string }[] }>('GET', '/v1/api_keys', undefined, headers);
    expect(new Set(listed.body.data.map((k) => k.tenant))).toEqual(new Set(['third']));
  });
});

describe('bodies', () => {
  test('over the limit: 413 with its name and value, with and without a content-length', async () => {
    const text = 'x'.repeat(30_000);
    const error = await refused(413, 'POST', '/v1/agents', { name: 'A', model: MODEL, system: text });
    expect(error).toMatchObject({
      type: 'request_too_large',
      details: { limit: 'requestBodyBytesMax', limit_value: 20_000 },
    });
    const length = { 'content-length': '30100' };
    await refused(413, 'POST', '/v1/agents', { name: 'A', model: MODEL, system: text }, length);
  });

  test('another content type: 415; none: read as JSON', async () => {
    const error = await refused(415, 'POST', '/v1/agents', 'name=A', {
      'content-type': 'application/x-www-form-urlencoded',
    });
    expect(error.message).toContain('application/json');
    const body = JSON.stringify({ name: 'A', model: MODEL });
    const type = { 'content-type': 'application/json; charset=utf-8' };
    expect((await http.call('POST', '/v1/agents', body, type)).status).toBe(200);
  });

  test.each([
    ['{"name": ', 'not valid JSON'],
    ['', 'empty'],
    ['[]', 'the body'],
    ['7', 'the body'],
  ])('%j is a 400', async (body, words) => {
    const type = { 'content-type': 'application/json' };
    expect((await refused(400, 'POST', '/v1/agents', body, type)).message).toContain(words);
  });

  test('millions of tiny values and endless nesting are refused before they are judged', async () => {
    const big = startHttp();
    const send = async (body: string) => {
      const type = { 'content-type': 'application/json' };
      const { status, body: answer } = await big.call<ErrorBody>('POST', '/v1/agents', body, type);
      expect(status).toBe(400);
      return answer.error.message;
    };
    expect(await send(`{"tools": [${'1,'.repeat(3_000_000)}1]}`)).toContain('values');
    expect(await send(`{"x": ${'['.repeat(100_000)}${']'.repeat(100_000)}}`)).toContain(
      'at most 128 levels of nesting',
    );
    await big.close();
  });

  test('a schema nested without end is refused by name, not by a stack', async () => {
    let schema: object = { type: 'object' };
    for (let i = 0; i < 50; i++) schema = { type: 'object', properties: { a: schema } };
    const tools = [{ type: 'custom', name: 'deep', description: 'd', input_schema: schema }];
    const error = await refused(400, 'POST', '/v1/agents', { name: 'A', model: MODEL, tools });
    expect(error.message).toContain('tools[0].input_schema');
  });

  test('the first wrong field of a union is named where it lies deepest', async () => {
    const session = await http.session();
    const events = [says('ok'), { type: 'user.message', content: [{ type: 'image', source: { type: 'base64' } }] }];
    const error = await refused(400, 'POST', `/v1/sessions/${session}/events`, { events });
    expect(error.message).toMatch(/^events\[1\]\.content\[0\]\.source\.(media_type|data): /);
    expect(error.details).toMatchObject({ field: expect.stringMatching(/^events\[1\]/) });
  });
});

describe('parts that are not there yet', () => {
  test.each<[string, string, object, string]>([
    ['skills', '/v1/agents', { name: 'A', model: MODEL, skills: [{ type: 'custom', skill_id: 's' }] }, 'skills'],
    [
      'MCP',
      '/v1/agents',
      { name: 'A', model: MODEL, mcp_servers: [{ type: 'url', name: 'm', url: 'https://m' }] },
      'mcp_servers',
    ],
    [
      'threads',
      '/v1/agents',
      { name: 'A', model: MODEL, multiagent: { type: 'coordinator', agents: [] } },
      'multiagent',
    ],
    [
      'rules',
      '/v1/agents',
      { name: 'A', model: MODEL, reprise: { rules: [{ effect: 'deny', rule: 'Bash' }] } },
      'reprise.rules',
    ],
  ])('%s is a 400 that names it', async (_what, path, body, words) => {
    expect((await refused(400, 'POST', path, body)).message).toContain(`not yet supported: ${words}`);
  });

  test('empty lists and null mean none', async () => {
    const body = { name: 'A', model: MODEL, skills: [], mcp_servers: null, multiagent: null };
    expect((await http.call('POST', '/v1/agents', body)).status).toBe(200);
  });

  test('an outcome is refused by name', async () => {
    const session = await http.session();
    const events = [{ type: 'user.define_outcome', description: 'd', rubric: { type: 'text', content: 'r' } }];
    expect((await refused(400, 'POST', `/v1/sessions/${session}/events`, { events })).message).toContain('outcomes');
  });

  test('a self-hosted environment, packages and a limited network are no place for a session', async () => {
    const agent = await http.call<{ id: string }>('POST', '/v1/agents', { name: 'A', model: MODEL });
    for (const [config, words] of [
      [{ type: 'self_hosted' }, 'self_hosted'],
      [{ type: 'cloud', packages: { pip: ['pandas'] } }, 'config.packages.pip, and the sandbox driver virtual'],
      [{ type: 'cloud', networking: { type: 'limited' } }, 'config.networking'],
    ] as const) {
      const { body } = await http.call<{ id: string }>('POST', '/v1/environments', { name: 'e', config });
      const create = { agent: agent.body.id, environment_id: body.id };
      expect((await refused(400, 'POST', '/v1/sessions', create)).message).toContain(words);
    }
  });

  test.each(['/v1/vaults', '/v1/deployments/x', '/v1/memory_stores', '/v1/skills', '/v1/runs'])('%s', async (path) => {
    expect((await refused(400, 'GET', path)).message).toContain('not yet supported');
  });
});

describe('routes', () => {
  test('an unknown one and a wrong method are a 404', async () => {
    await refused(404, 'GET', '/v1/nothing');
    await refused(404, 'PUT', '/v1/agents');
    await refused(404, 'PATCH', '/v1/agents');
  });

  test('beta query, beta headers and unknown fields change nothing', async () => {
    const headers = { 'anthropic-beta': 'x,x', 'anthropic-version': '2023-06-01' };
    const { status } = await http.call('POST', '/v1/agents?beta=true', { name: 'A', model: MODEL, colour: 1 }, headers);
    expect(status).toBe(200);
  });

  test.each([
    ['limit=0', 'limit'],
    ['limit=1001', 'limit'],
    ['limit=many', 'limit'],
    ['include_archived=perhaps', 'include_archived'],
    ['created_at%5Bgte%5D=yesterday', 'created_at[gte]'],
    ['page=%00', 'page'],
  ])('?%s is a 400 that names it', async (query, field) => {
    expect((await refused(400, 'GET', `/v1/agents?${query}`)).message).toContain(field);
  });

  test('health, limits, description and its page', async () => {
    const health = await http.request('GET', '/healthz', undefined, { 'x-api-key': '' });
    expect(await health.json()).toMatchObject({ status: 'ok', model: 'scripted' });
    const limits = await http.call<Record<string, number>>('GET', '/v1/limits');
    expect(limits.body.requestBodyBytesMax).toBe(20_000);
    const yaml = await http.request('GET', '/openapi.yaml', undefined, { 'x-api-key': '' });
    expect(await yaml.text()).toMatch(/^openapi:/);
    const docs = await http.request('GET', '/docs', undefined, { 'x-api-key': '' });
    const page = await docs.text();
    expect(page).toContain('A &lt;b&gt; &amp; c');
    expect(page).not.toMatch(/https?:\/\/|<script/);
  });

  test('the root leads to the page, which a slash behind it does not hide', async () => {
    const root = await http.request('GET', '/', undefined, { 'x-api-key': '' });
    expect([root.status, root.headers.get('location')]).toEqual([302, '/docs']);
    const [docs, slashed] = await Promise.all(
      ['/docs', '/docs/'].map((path) => http.request('GET', path, undefined, { 'x-api-key': '' })),
    );
    expect(slashed?.status).toBe(200);
    expect(await slashed?.text()).toBe(await docs?.text());
  });

  test('a failure inside is logged and answered without a word of it', async () => {
    const broken = startHttp();
    await broken.ports.storage.close();
    const { status, body } = await broken.call<ErrorBody>('GET', '/v1/agents');
    expect(status).toBe(500);
    expect(body.error).toEqual({ type: 'api_error', message: 'an internal error; see the log of the service' });
    expect(broken.failures).toHaveLength(1);
    expect(broken.failures[0]).toContain(body.request_id);
  });
});
