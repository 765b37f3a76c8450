// The validator that all end-to-end tests lean on does see faults: undocumented paths, statuses and types, and wrong bodies.

import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { type AnswerMeta, createOpenApiValidator } from './open-api.ts';
import { createSseParser } from './sse.ts';

const named = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] };
const failed = { type: 'object', properties: { type: { const: 'error' } }, required: ['type'] };
const json = (schema: unknown) => ({ description: 'd', content: { 'application/json': { schema } } });
const document = {
  openapi: '3.1.0',
  info: { title: 't', version: '1' },
  paths: {
    '/v1/things': { post: { responses: { 200: json({ $ref: '#/components/schemas/Thing' }), '4XX': json(failed) } } },
    '/v1/things/{id}': {
      get: {
        responses: {
          200: json({ $ref: '#/components/schemas/Thing' }),
          default: { $ref: '#/components/responses/Failed' },
        },
      },
    },
    '/v1/things/special': { get: { responses: { 204: { description: 'nothing' } } } },
    '/v1/things/{id}/stream': {
      get: { responses: { 200: { description: 'd', content: { 'text/event-stream': { schema: failed } } } } },
    },
  },
  components: { schemas: { Thing: named }, responses: { Failed: json(failed) } },
};

const file = join(mkdtempSync(join(tmpdir(), 'reprise-openapi-')), 'openapi.yaml');
writeFileSync(file, stringify(document));
const validator = createOpenApiValidator(file);
const meta = (method: string, path: string, status = 200, contentType = 'application/json'): AnswerMeta => ({
  method,
  path,
  status,
  contentType,
});

describe('what is documented passes', () => {
  test.each([
    [meta('POST', '/v1/things'), { name: 'a' }],
    [meta('GET', '/v1/things/7'), { name: 'a', more: 1 }],
    [meta('POST', '/v1/things', 404), { type: 'error' }],
    [meta('GET', '/v1/things/7', 500), { type: 'error' }],
    [meta('GET', '/v1/things/7/stream', 200, 'text/event-stream'), { type: 'error' }],
  ])('%o', (at, body) => expect(validator.validate(at, body)).toEqual([]));

  test('an answer without a body', () => {
    expect(validator.documented(meta('GET', '/v1/things/special', 204, ''))).toEqual([]);
  });
});

describe('what is not is named', () => {
  test.each([
    ['an unknown path', meta('GET', '/v1/other'), {}, 'no GET /v1/other'],
    ['an unknown method', meta('DELETE', '/v1/things/7'), {}, 'no DELETE'],
    ['an unknown status', meta('POST', '/v1/things', 500), {}, 'status 500'],
    ['another content type', meta('POST', '/v1/things', 200, 'text/plain'), {}, 'text/plain'],
    ['a wrong body', meta('POST', '/v1/things'), { name: 1 }, '/name'],
    ['a missing field', meta('GET', '/v1/things/7'), {}, 'name'],
    ['a wrong error', meta('GET', '/v1/things/7', 404), { type: 'oops' }, '/type'],
    ['a wrong frame', meta('GET', '/v1/things/7/stream', 200, 'text/event-stream'), {}, 'type'],
  ])('%s', (_what, at, body, words) => expect(validator.validate(at, body).join()).toContain(words));
});

test('frames are read whole however the bytes are cut', () => {
  const wire = ': hello\n\nevent: message\nid: 1-0\ndata: {"a":"ü"}\n\nevent: ping\ndata: {}\n\n';
  for (let size = 1; size <= wire.length; size += 1) {
    const parse = createSseParser();
    const frames = [];
    for (let at = 0; at < wire.length; at += size) frames.push(...parse(wire.slice(at, at + size)));
    expect(frames).toEqual([
      { event: 'message', id: '1-0', data: '{"a":"ü"}' },
      { event: 'ping', id: undefined, data: '{}' },
    ]);
  }
});
