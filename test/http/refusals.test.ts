// Refusals in words: each names the field and what would do, and where a limit stands in the way, its name and value.

import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { LIMITS, type LimitName } from '../../shared/types/limits.ts';
import { MODEL, says, startHttp } from './harness.ts';

const http = startHttp({ limits: { inboxEventsMax: 2, streamsPerTenantMax: 1 } });
afterAll(() => http.close());
afterEach(() => expect(http.failures.splice(0)).toEqual([]));

interface ErrorBody {
  readonly error: { readonly message: string; readonly details?: Record<string, unknown> };
}

const AGENT = { name: 'A', model: MODEL };
const x = (count: number): string => 'x'.repeat(count);
const many = <T>(count: number, item: T): T[] => Array.from({ length: count }, () => item);
const pairs = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, 'v']));
const custom = (over: object = {}) => ({
  type: 'custom',
  name: 'w',
  description: 'd',
  input_schema: { type: 'object' },
  ...over,
});

async function refused(method: string, path: string, body?: unknown, headers?: Record<string, string>) {
  const answer = await http.call<ErrorBody>(method, path, body, headers);
  expect(answer.status, JSON.stringify(answer.body)).toBeGreaterThanOrEqual(400);
  return answer.body.error;
}

type LimitRow = readonly [path: string, body: object, field: string, limit: LimitName, words: string];

describe('a limit', () => {
  test.each<LimitRow>([
    ['agents', { ...AGENT, name: x(257) }, 'name', 'nameCharsMax', 'at most 256 characters'],
    ['agents', { ...AGENT, description: x(2049) }, 'description', 'descriptionCharsMax', 'at most 2048 characters'],
    ['agents', { ...AGENT, system: x(100_001) }, 'system', 'systemCharsMax', 'at most 100000 characters'],
    ['agents', { name: 'A', model: x(257) }, 'model', 'modelIdCharsMax', 'at most 256 characters'],
    ['agents', { name: 'A', model: { id: x(257) } }, 'model.id', 'modelIdCharsMax', 'at most 256 characters'],
    ['agents', { ...AGENT, metadata: pairs(17) }, 'metadata', 'metadataPairsMax', 'at most 16 pairs'],
    ['agents', { ...AGENT, metadata: { k: x(513) } }, 'metadata.k', 'metadataValueCharsMax', 'at most 512 characters'],
    [
      'agents',
      { ...AGENT, metadata: { [x(65)]: 'v' } },
      'metadata',
      'metadataKeyCharsMax',
      `the key "${x(65)}": at most 64 characters`,
    ],
    ['agents', { ...AGENT, tools: many(129, custom()) }, 'tools', 'agentToolEntriesMax', 'at most 128 tools'],
    [
      'agents',
      { ...AGENT, tools: [custom({ name: x(129) })] },
      'tools[0].name',
      'toolNameCharsMax',
      'at most 128 characters',
    ],
    [
      'agents',
      { ...AGENT, tools: [custom({ input_schema: { type: 'object', title: 'é'.repeat(33_000) } })] },
      'tools[0].input_schema',
      'toolSchemaBytesMax',
      'at most 65536 bytes',
    ],
    ['environments', { name: x(257) }, 'name', 'nameCharsMax', 'at most 256 characters'],
    ['api_keys', { name: x(257) }, 'name', 'nameCharsMax', 'at most 256 characters'],
    [
      'sessions',
      { agent: 'a', environment_id: 'e', title: x(513) },
      'title',
      'titleCharsMax',
      'at most 512 characters',
    ],
    [
      'sessions',
      { agent: 'a', environment_id: 'e', initial_events: many(51, says('x')) },
      'initial_events',
      'initialEventsMax',
      'at most 50 events',
    ],
    [
      'sessions',
      { agent: 'a', environment_id: 'e', resources: many(501, { type: 'file', file_id: 'f' }) },
      'resources',
      'sessionFilesMax',
      'at most 500 files',
    ],
    ['sessions/s/events', { events: many(51, says('x')) }, 'events', 'eventsPerSendMax', 'at most 50 events'],
    [
      'sessions/s/events',
      { events: [{ type: 'user.message', content: many(1001, { type: 'text', text: 'x' }) }] },
      'events[0].content',
      'contentBlocksPerEventMax',
      'at most 1000 blocks',
    ],
  ])('POST %s names itself, its value and the field (%#)', async (path, body, field, limit, words) => {
    const error = await refused('POST', `/v1/${path}`, body);
    expect(error.message).toBe(`${field}: ${words} (${limit})`);
    expect(error.details).toEqual({ field, limit, limit_value: LIMITS[limit] });
  });

  test.each([
    ['agents?limit=1001', 'limit', 'pageSizeMax', 'at most 1000'],
    [`agents?page=${x(2049)}`, 'page', 'pageCursorCharsMax', 'at most 2048 characters'],
    [`files?${'ids[]=f&'.repeat(101)}`, 'ids[]', 'filterValuesMax', 'at most 100 values'],
  ] as const)('of a query names itself (%#)', async (path, field, limit, words) => {
    const error = await refused('GET', `/v1/${path}`);
    expect(error.message).toBe(`${field}: ${words} (${limit})`);
    expect(error.details).toEqual({ field, limit, limit_value: LIMITS[limit] });
  });

  test('of an upload, both ways', async () => {
    for (const [seconds, limit, words] of [
      ['1', 'fileExpirySecondsMin', 'at least 3600'],
      ['99999999', 'fileExpirySecondsMax', 'at most 7776000'],
    ] as const) {
      const form = new FormData();
      form.set('file', new File(['x'], 'x.txt'));
      form.set('expires_in_seconds', seconds);
      const error = await refused('POST', '/v1/files', form);
      expect(error.message).toBe(`expires_in_seconds: ${words} (${limit})`);
      expect(error.details).toEqual({ field: 'expires_in_seconds', limit, limit_value: LIMITS[limit] });
    }
  });

  test('that a change runs into: metadata of all three kinds', async () => {
    const agent = await http.call<{ id: string }>('POST', '/v1/agents', { ...AGENT, metadata: pairs(16) });
    const environment = await http.call<{ id: string }>('POST', '/v1/environments', {
      name: 'e',
      metadata: pairs(16),
    });
    const session = await http.session({}, { metadata: pairs(16) });
    const paths = [`agents/${agent.body.id}`, `environments/${environment.body.id}`, `sessions/${session}`];
    for (const path of paths) {
      const error = await refused('POST', `/v1/${path}`, { metadata: { one_more: 'v' } });
      expect(error.message).toBe('metadata: at most 16 pairs (metadataPairsMax)');
      expect(error.details).toEqual({
        field: 'metadata',
        error_code: 'invalid_metadata',
        limit: 'metadataPairsMax',
        limit_value: 16,
      });
    }
  });

  test('of the queue, of streams, of an idempotency key, of a body', async () => {
    const session = await http.session();
    const path = `/v1/sessions/${session}/events`;
    const full = await refused('POST', path, { events: many(3, says('x')) });
    expect(full.details).toEqual({ field: 'events', limit: 'inboxEventsMax', limit_value: 2 });
    const open = await http.request('GET', `${path}/stream`);
    expect((await refused('GET', `${path}/stream`)).details).toEqual({ limit: 'streamsPerTenantMax', limit_value: 1 });
    await open.body?.cancel();
    const key = await refused('POST', path, { events: [says('x')] }, { 'idempotency-key': x(256) });
    expect(key.details).toEqual({ field: 'idempotency-key', limit: 'idempotencyKeyCharsMax', limit_value: 255 });
    const values = await refused('POST', path, { events: many(100_001, 1) });
    expect(values.message).toBe('the body: at most 100000 values (bodyValuesMax)');
    expect(values.details).toEqual({ limit: 'bodyValuesMax', limit_value: 100_000 });
  });
});

describe('words', () => {
  test.each<[object | string, string]>([
    [{ name: 'A' }, 'model: is required'],
    [{ model: MODEL }, 'name: is required'],
    [{ name: '', model: MODEL }, 'name: must not be empty'],
    [{ name: 7, model: MODEL }, 'name: expected string'],
    [{ name: 'A', model: 7 }, 'model: expected string or object'],
    [{ name: 'A', model: {} }, 'model.id: is required'],
    [{ name: 'A', model: { id: MODEL, effort: 'huge' } }, 'model.effort: must be one of low, medium, high, xhigh, max'],
    [
      { name: 'A', model: { id: MODEL, effort: { type: 'huge' } } },
      'model.effort.type: must be one of low, medium, high, xhigh, max',
    ],
    [{ name: 'A', model: { id: MODEL, speed: 'warp' } }, 'model.speed: must be one of standard, fast'],
    [{ ...AGENT, description: 7 }, 'description: expected string or null'],
    [{ ...AGENT, tools: [{}] }, 'tools[0].type: is required'],
    [
      { ...AGENT, tools: [{ type: 'hammer' }] },
      'tools[0].type: must be one of agent_toolset_20260401, custom, mcp_toolset',
    ],
    [{ ...AGENT, metadata: { k: 1 } }, 'metadata.k: expected string'],
    [{ ...AGENT, reprise: { limits: { tokens: 1.5 } } }, 'reprise.limits.tokens: must be a whole number'],
    [[], 'the body: expected object'],
  ])('%j', async (body, words) => {
    expect((await refused('POST', '/v1/agents', body)).message).toBe(words);
  });

  test('of a query', async () => {
    const session = await http.session();
    const events = `/v1/sessions/${session}/events`;
    expect((await refused('GET', `${events}?types[]=user.message&types[]=x`)).message).toMatch(
      /^types\[\]: must be one of user\.message, /,
    );
    expect((await refused('GET', `${events}?order=up`)).message).toBe('order: must be one of asc, desc');
    expect((await refused('GET', `${events}?limit=many`)).message).toBe('limit: expected number');
    expect((await refused('GET', `${events}?created_at[gt]=noon`)).message).toBe(
      'created_at[gt]: must be a time as in RFC 3339',
    );
  });

  test('a field stands in the details where a resource does not do', async () => {
    const agent = await http.call<{ id: string }>('POST', '/v1/agents', AGENT);
    const environment = async (config: object) =>
      (await http.call<{ id: string }>('POST', '/v1/environments', { name: 'e', config })).body.id;
    const cloud = await environment({ type: 'cloud' });
    const own = await environment({ type: 'self_hosted' });
    const base = { agent: agent.body.id, environment_id: cloud };
    const missing = { type: 'file', file_id: 'file_x' };
    for (const [body, field] of [
      [{ ...base, environment_id: own }, 'environment_id'],
      [{ ...base, environment_id: 'env_x' }, 'environment_id'],
      [{ ...base, agent: 'agent_x' }, 'agent'],
      [{ ...base, agent: { type: 'agent', id: agent.body.id, version: 9 } }, 'agent.version'],
      [{ ...base, resources: [missing] }, 'resources[0].file_id'],
    ] as const) {
      const error = await refused('POST', '/v1/sessions', body);
      expect(error.details).toMatchObject({ field });
      expect(error.message).toMatch(new RegExp(`^${field.replaceAll(/[[\].]/g, '\\$&')}: `));
    }
    const session = await http.session();
    const added = await refused('POST', `/v1/sessions/${session}/resources`, missing);
    expect(added.details).toEqual({ field: 'file_id' });
  });
});

describe('an input schema that is none', () => {
  const schema = (properties: object, more: object = {}) => ({ type: 'object', properties, ...more });
  test.each<[object, string]>([
    [schema({ a: { type: 'strin' } }), 'properties.a.type: must be one of array, '],
    [schema({ a: { type: ['string', 'text'] } }), 'properties.a.type: must be one of array, '],
    [schema({ a: 'string' }), 'properties.a: must be a schema'],
    [schema([] as object), 'properties: must be an object of schemas'],
    [schema({}, { required: 'a' }), 'required: must be a list of names'],
    [schema({}, { required: ['a', 'a'] }), 'required: must be a list of names, each once'],
    [schema({ a: { enum: 'x' } }), 'properties.a.enum: must be a list'],
    [schema({ a: { type: 'array', items: [{ type: 'string' }] } }), 'properties.a.items: must be a schema'],
    [schema({ a: { type: 'array', items: { type: 'int' } } }), 'properties.a.items.type: '],
    [schema({ a: { anyOf: [{ type: 'string' }, { type: 'no' }] } }), 'properties.a.anyOf[1].type: '],
    [schema({ a: { anyOf: [] } }), 'properties.a.anyOf: must be a list of schemas, not empty'],
    [schema({}, { additionalProperties: 'no' }), 'additionalProperties: must be a schema'],
    [schema({ a: { minimum: '1' } }), 'properties.a.minimum: must be a number'],
    [schema({ a: { maxLength: -1 } }), 'properties.a.maxLength: must be a whole number'],
    [schema({ a: { description: 7 } }), 'properties.a.description: must be a text'],
    [schema({ a: { not: schema({ b: { type: 'date' } }) } }), 'properties.a.not.properties.b.type: '],
  ])('%j', async (input_schema, words) => {
    const error = await refused('POST', '/v1/agents', { ...AGENT, tools: [custom({ input_schema })] });
    expect(error.message).toContain(`tools[0].input_schema.${words}`);
  });

  test('sound ones pass, with keywords that nobody knows', async () => {
    const sound = [
      schema({ type: { type: 'string' }, items: { type: ['string', 'null'], enum: ['a', null], default: 3 } }),
      schema({ a: { type: 'array', prefixItems: [true], items: false, minItems: 0 } }, { required: ['a'] }),
      schema({ a: { $defs: { b: { type: 'integer' } }, 'x-own': { type: 'strin' }, const: { type: 'strin' } } }),
      { type: 'object', properties: null, required: null, additionalProperties: false },
    ];
    for (const input_schema of sound) {
      const { status, body } = await http.call('POST', '/v1/agents', { ...AGENT, tools: [custom({ input_schema })] });
      expect(status, JSON.stringify(body)).toBe(200);
    }
  });
});
