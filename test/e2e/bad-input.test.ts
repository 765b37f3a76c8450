// Wrong requests, each with its clear documented answer: the SDK's error shape, a request id, the field by name, no stack trace.
// Second answers to one call are in actions.test.ts, deleted sessions in sessions.test.ts, lost clients in stream.test.ts.

import Anthropic, { AuthenticationError, NotFoundError } from '@anthropic-ai/sdk';
import { beforeAll, describe, expect, test } from 'vitest';
import { useHarness } from '../support/harness.ts';
import { createSession, listAll, runTurn, typesOf, userText } from '../support/sessions.ts';

const harness = useHarness();
const ULID = '0'.repeat(26);
let session = '';

beforeAll(async () => {
  session = await createSession(harness.client());
});

interface ErrorBody {
  readonly type: string;
  readonly request_id: string;
  readonly error: { readonly type: string; readonly message: string };
}

/** Sends a raw request and checks what every error answer must be. */
async function refused(path: string, init: RequestInit, status: number): Promise<ErrorBody> {
  const response = await harness.request(path, init);
  const text = await response.text();
  expect(text).not.toMatch(/\n\s+at |node_modules|\.ts:\d|sqlite/i);
  expect(text).not.toContain(process.cwd());
  expect(response.status, text).toBe(status);
  const body = JSON.parse(text) as ErrorBody;
  expect(body.type).toBe('error');
  expect(body.request_id).toBe(response.headers.get('request-id'));
  expect(body.error.message.length).toBeGreaterThan(5);
  return body;
}

const post = (body: string | object): RequestInit => ({
  method: 'POST',
  body: typeof body === 'string' ? body : JSON.stringify(body),
});
const send = (...events: unknown[]) => refused(`/v1/sessions/${session}/events`, post({ events }), 400);

describe('requests', () => {
  test.each([
    ['malformed JSON', '{"events": ['],
    ['no JSON at all', 'hello'],
    ['an empty body', ''],
    ['a bare array', '[]'],
    ['null', 'null'],
    ['a string', '"events"'],
    ['a deep nest', '['.repeat(20_000)],
  ])('%s is a 400', async (_what, body) => {
    const answer = await refused(`/v1/sessions/${session}/events`, post(body), 400);
    expect(answer.error.type).toBe('invalid_request_error');
  });

  test('a body over 32 MB is a 413', async () => {
    const text = 'x'.repeat(33 * 1024 * 1024);
    const body = post({ events: [userText(text)] });
    const answer = await refused(`/v1/sessions/${session}/events`, body, 413);
    expect(answer.error.type).toBe('request_too_large');
  });

  test('an unknown route is a 404 in the same shape', async () => {
    const answer = await harness.request('/v1/nothing/here');
    expect(answer.status).toBe(404);
    expect(await answer.json()).toMatchObject({ type: 'error', error: { type: 'not_found_error' } });
    harness.forgetViolations(/no GET \/v1\/nothing\/here in openapi/);
  });

  test.each(['vaults', 'deployments', 'memory_stores', 'skills'])('/v1/%s is refused by name', async (area) => {
    const response = await harness.request(`/v1/${area}`);
    expect(response.status).toBeGreaterThanOrEqual(400);
    expect(response.status).toBeLessThan(500);
    expect(JSON.stringify(await response.json())).toContain(area.replace('_', ' ').replace(/s$/, '').split(' ')[0]);
    harness.forgetViolations(new RegExp(`no GET /v1/${area} in openapi`));
  });

  test.each([
    ['GET', `/v1/agents/agent_${ULID}`],
    ['POST', `/v1/agents/agent_${ULID}/archive`],
    ['GET', `/v1/agents/agent_${ULID}/versions`],
    ['GET', `/v1/environments/env_${ULID}`],
    ['DELETE', `/v1/environments/env_${ULID}`],
    ['GET', `/v1/sessions/sesn_${ULID}`],
    ['DELETE', `/v1/sessions/sesn_${ULID}`],
    ['POST', `/v1/sessions/sesn_${ULID}/archive`],
    ['GET', `/v1/sessions/sesn_${ULID}/events`],
    ['GET', `/v1/sessions/sesn_${ULID}/events/stream`],
    ['GET', `/v1/sessions/sesn_${ULID}/resources`],
    ['GET', `/v1/files/file_${ULID}`],
    ['GET', `/v1/files/file_${ULID}/content`],
    ['DELETE', `/v1/files/file_${ULID}`],
    ['GET', '/v1/sessions/not-an-id'],
    ['GET', '/v1/sessions/..%2f..%2fetc'],
    ['GET', '/v1/files/%00'],
  ])('%s %s: an unknown id is a 404', async (method, path) => {
    const answer = await refused(path, { method }, 404);
    expect(answer.error.type).toBe('not_found_error');
  });
});

describe('events', () => {
  test.each<[string, string, unknown]>([
    ['no events', 'events', undefined],
    ['an unknown type', 'events[0].type', { type: 'user.shout' }],
    ['an agent event', 'events[0].type', { type: 'agent.message', content: [{ type: 'text', text: 'hi' }] }],
    ['no content', 'events[0].content', { type: 'user.message' }],
    ['empty content', 'events[0].content', { type: 'user.message', content: [] }],
    ['empty text', 'events[0].content[0].text', { type: 'user.message', content: [{ type: 'text', text: '' }] }],
    ['text as a number', 'events[0].content[0].text', { type: 'user.message', content: [{ type: 'text', text: 1 }] }],
    ['content as a string', 'events[0].content', { type: 'user.message', content: 'hi' }],
    ['a redacted block', 'events[0].content[0]', { type: 'user.message', content: [{ type: 'redacted' }] }],
    ['an unknown block', 'events[0].content[0]', { type: 'user.message', content: [{ type: 'hologram' }] }],
    ['a confirmation without a result', 'events[0].result', { type: 'user.tool_confirmation', tool_use_id: 'sevt_1' }],
    [
      'a deny message with an allow',
      'deny_message',
      { type: 'user.tool_confirmation', tool_use_id: `sevt_${ULID}`, result: 'allow', deny_message: 'no' },
    ],
    [
      'a result for an unknown call',
      'custom_tool_use_id',
      { type: 'user.custom_tool_result', custom_tool_use_id: `sevt_${ULID}` },
    ],
    ['a tool result outside self-hosted', 'self_hosted', { type: 'user.tool_result', tool_use_id: `sevt_${ULID}` }],
  ])('%s: a 400 that names %s', async (_what, field, event) => {
    const body = event === undefined ? {} : { events: [event] };
    const answer = await refused(`/v1/sessions/${session}/events`, post(body), 400);
    expect(answer.error.message).toContain(field);
  });

  test('one wrong event among good ones: nothing of the request is taken', async () => {
    const before = await listAll(harness.client(), session);
    const answer = await send(userText('good'), { type: 'user.message', content: [] });
    expect(answer.error.message).toContain('events[1].content');
    expect(await listAll(harness.client(), session)).toEqual(before);
  });

  test('51 events in one request are refused with the limit by name', async () => {
    const answer = await send(...Array.from({ length: 51 }, () => userText('hi')));
    expect(answer.error.message).toMatch(/50/);
  });

  test('event_deltas takes the two values of the wire only', async () => {
    const path = `/v1/sessions/${session}/events/stream?event_deltas[]=agent.tool_use`;
    expect((await refused(path, {}, 400)).error.message).toContain('event_deltas');
  });

  test.each(['nonsense', '99999-0', '-1'])('Last-Event-ID %s is a 400', async (id) => {
    const path = `/v1/sessions/${session}/events/stream`;
    expect((await refused(path, { headers: { 'last-event-id': id } }, 400)).error.type).toBe('invalid_request_error');
  });

  test('unusual but right text goes through unchanged', async () => {
    const id = await createSession(harness.client());
    const text = 'NUL \u0000, emoji 👩‍👩‍👧, RTL \u202e, quotes "\'`, line\r\nend, </script>, half \ud83d pair';
    const events = await runTurn(harness.client(), id, userText(text));
    const echoes = events.filter((e) => e.type === 'user.message');
    expect(echoes.length).toBeGreaterThan(0);
    expect(JSON.stringify(echoes[0])).toContain('👩‍👩‍👧');
    expect(typesOf(events).at(-1)).toBe('session.status_idle');
  });
});

describe('keys', () => {
  test('Bearer and x-api-key both open the door', async () => {
    const { apiKey } = harness.service;
    const bearer = await harness.request('/v1/agents', { headers: { authorization: `Bearer ${apiKey}` } });
    const header = await harness.request('/v1/agents', { headers: { 'x-api-key': apiKey } });
    expect([bearer.status, header.status]).toEqual([200, 200]);
  });

  test.each([
    ['no key', { authorization: '' }],
    ['a wrong key', { 'x-api-key': 'rk_wrong_0000000000000000' }],
    ['a wrong bearer', { authorization: 'Bearer rk_wrong_0000000000000000' }],
    ['another scheme', { authorization: 'Basic dXNlcjpwYXNz' }],
  ])('%s is a 401', async (_what, headers) => {
    const answer = await refused('/v1/agents', { headers: headers as unknown as Record<string, string> }, 401);
    expect(answer.error.type).toBe('authentication_error');
  });

  test('the SDK sees a 401 as its own error', async () => {
    await expect(harness.client('rk_wrong_0000000000000000').beta.agents.list()).rejects.toThrow(AuthenticationError);
  });

  test('a second tenant sees nothing of the first, by any route', async () => {
    const created = await harness.request('/v1/api_keys', post({ name: 'other', tenant: 'other' }));
    expect(created.status).toBeLessThan(300);
    const { key, id } = (await created.json()) as { key: string; id: string };
    const other = harness.client(key).beta;
    const { beta } = harness.client();
    const own = await beta.sessions.retrieve(session);
    const file = await beta.files.upload({ file: new File(['a,b\n1,2\n'], 'a.csv', { type: 'text/csv' }) });

    const foreign: (() => PromiseLike<unknown>)[] = [
      () => other.sessions.retrieve(session),
      () => other.sessions.update(session, { title: 'mine' }),
      () => other.sessions.delete(session),
      () => other.sessions.archive(session),
      () => other.sessions.events.list(session),
      () => other.sessions.events.stream(session),
      () => other.sessions.events.send(session, { events: [userText('hi')] }),
      () => other.sessions.resources.list(session),
      () => other.agents.retrieve(own.agent.id),
      () => other.agents.update(own.agent.id, { name: 'mine' }),
      () => other.environments.retrieve(own.environment_id),
      () => other.environments.delete(own.environment_id),
      () => other.files.retrieveMetadata(file.id),
      () => other.files.download(file.id),
      () => other.files.delete(file.id),
    ];
    for (const attempt of foreign) await expect(attempt(), attempt.toString()).rejects.toThrow(NotFoundError);
    expect((await other.sessions.list()).data).toEqual([]);
    expect((await other.agents.list()).data).toEqual([]);
    expect((await other.files.list()).data).toEqual([]);

    const agent = await other.agents.create({ name: 'theirs', model: 'claude-opus-5-5' });
    const environment = await other.environments.create({ name: 'theirs' });
    const mixed = other.sessions.create({ agent: own.agent.id, environment_id: environment.id });
    await expect(mixed).rejects.toThrow(Anthropic.APIError);
    const borrowed = other.sessions.create({
      agent: agent.id,
      environment_id: environment.id,
      resources: [{ type: 'file', file_id: file.id }],
    });
    await expect(borrowed).rejects.toThrow(Anthropic.APIError);

    expect(id).toMatch(/^key_/);
    const notAdmin = await harness.request('/v1/api_keys', {
      ...post({ name: 'third', tenant: 'third' }),
      headers: { 'x-api-key': key },
    });
    expect(notAdmin.status).toBe(403);
  });
});
