// What a newcomer meets: `npm start` without any configuration, its first key, its public pages, and that it says it is a demo.

import { readFile } from 'node:fs/promises';
import Anthropic, { AuthenticationError } from '@anthropic-ai/sdk';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Service, startService } from '../support/start-service.ts';

let service: Service;
beforeAll(async () => {
  service = await startService({ apiKey: '' });
});
afterAll(() => service.stop());

const printedKey = () => /rk_\w+/.exec(service.output())?.[0];
const get = (path: string, headers: Record<string, string> = {}) => fetch(`${service.url}${path}`, { headers });

test('without a key of the model it runs the demo model and says so plainly', () => {
  expect(service.output()).toMatch(/demo model/i);
  expect(service.output()).toMatch(/offline|no real answers/i);
});

test('the first client key is made and printed once; it goes on working', async () => {
  const key = printedKey();
  if (!key) throw new Error(`no key in: ${service.output()}`);
  const list = () => new Anthropic({ apiKey: key, baseURL: service.url, maxRetries: 0 }).beta.agents.list();
  expect((await list()).data).toEqual([]);
  await service.restart();
  expect(printedKey()).toBeUndefined();
  expect((await list()).data).toEqual([]);
  const wrong = new Anthropic({ apiKey: `${key}x`, baseURL: service.url, maxRetries: 0 });
  await expect(wrong.beta.agents.list()).rejects.toThrow(AuthenticationError);
});

test('healthz, the API description and its page need no key; the limits do', async () => {
  expect((await get('/healthz')).status).toBe(200);
  const description = await get('/openapi.yaml');
  const text = await description.text();
  expect(text).toBe(await readFile(new URL('../../openapi.yaml', import.meta.url), 'utf8'));
  expect(text.split('\n')[0]).toMatch(/^openapi: /);
  const docs = await get('/docs');
  expect(docs.status).toBe(200);
  expect(docs.headers.get('content-type')).toContain('text/html');
  expect((await get('/v1/limits')).status).toBe(401);
});

test('every answer carries a request id, errors and unknown routes too', async () => {
  for (const path of ['/v1/agents', '/v1/nothing', '/v1/limits', '/healthz']) {
    expect((await get(path)).headers.get('request-id'), path).toMatch(/^req_/);
  }
});
