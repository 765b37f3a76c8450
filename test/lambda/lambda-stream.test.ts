// The response-streaming adapter under the genuine runtime client.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type LocalLambda, startLambda } from './support/local-lambda.ts';

const taskRoot = mkdtempSync(join(tmpdir(), 'task-'));
let lambda: LocalLambda;
/** Has little time for an invocation. */
let hasty: LocalLambda;

beforeAll(async () => {
  await build({
    entryPoints: [join(import.meta.dirname, 'support/sample-app.ts')],
    outfile: join(taskRoot, 'index.mjs'),
    bundle: true,
    platform: 'node',
    format: 'esm',
  });
  lambda = await startLambda({ taskRoot });
  hasty = await startLambda({ taskRoot, timeoutMs: 4000 });
});

afterAll(async () => {
  await Promise.all([lambda.close(), hasty.close()]);
  rmSync(taskRoot, { recursive: true });
});

const get = (path: string, init?: RequestInit) => fetch(lambda.url + path, init);

/** Reads a body chunk by chunk; `at` is when each arrived, in ms after the first. */
async function readChunks(response: Response): Promise<{ text: string; at: readonly number[] }> {
  const times: number[] = [];
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of response.body ?? []) {
    times.push(performance.now());
    text += decoder.decode(chunk, { stream: true });
  }
  return { text, at: times.map((time) => time - (times[0] ?? 0)) };
}

test('a request reaches the app whole, and the answer comes back without the headers of one connection', async () => {
  const response = await get('/echo?a=1&a=%20b', {
    method: 'POST',
    headers: { 'content-type': 'text/plain', cookie: 'k=v; l=w', 'x-name': Buffer.from('Zoë ✓').toString('latin1') },
    body: 'héllo',
  });
  expect(response.status).toBe(201);
  expect(response.headers.getSetCookie()).toEqual(['a=1; Path=/', 'b=2']);
  expect(response.headers.get('x-private')).toBeNull();
  expect(response.headers.get('keep-alive')).not.toBe('timeout=77');
  expect(response.headers.get('request-id')).toMatch(/^[0-9a-f-]{36}$/);
  const answer = (await response.json()) as Record<string, string>;
  expect(answer).toMatchObject({ method: 'POST', search: '?a=1&a=%20b', cookie: 'k=v; l=w' });
  expect(answer.body).toBe(Buffer.from('héllo').toString('hex'));
});

test('a body that is not text travels as base64 and arrives byte for byte', async () => {
  const all = Uint8Array.from({ length: 256 }, (_, i) => i);
  const response = await get('/echo', { method: 'PUT', headers: { 'content-type': 'image/png' }, body: all });
  expect(((await response.json()) as { body: string }).body).toBe(Buffer.from(all).toString('hex'));
  expect(new Uint8Array(await (await get('/binary')).arrayBuffer())).toEqual(all);
});

test('text beyond Latin-1 in a header is the bytes that were sent', async () => {
  const event = {
    rawPath: '/echo',
    headers: { 'x-name': 'Zoë ✓' },
    requestContext: { domainName: 'a.example', http: { method: 'GET' } },
  };
  const invocation = lambda.invoke(event);
  const { text } = await readChunks(new Response(ReadableStream.from(invocation.body)));
  const { name } = JSON.parse(text.slice(text.indexOf('\0'.repeat(8)) + 8)) as { name: string };
  expect(Buffer.from(name, 'latin1').toString()).toBe('Zoë ✓');
});

test('chunks arrive as they are written', async () => {
  const { text, at } = await readChunks(await get('/chunks'));
  expect(text).toBe('data: 0\n\ndata: 1\n\ndata: 2\n\ndata: 3\n\n');
  expect(at.length).toBeGreaterThanOrEqual(3); // a busy machine may merge two
  expect(at.at(-1)).toBeGreaterThan(300);
});

test('an empty answer, HEAD and a missing route end at once', async () => {
  expect((await get('/empty')).status).toBe(204);
  const head = await get('/hello', { method: 'HEAD' });
  expect([head.status, await head.text()]).toEqual([200, '']);
  expect((await get('/nowhere')).status).toBe(404);
});

test('an app that throws is a 500 without details', async () => {
  const response = await get('/throws');
  const text = await response.text();
  expect(response.status).toBe(500);
  expect(JSON.parse(text)).toMatchObject({ type: 'error', error: { type: 'api_error' } });
  expect(text).not.toContain('secret');
});

test('a body that fails is cut cleanly and the environment lives on', async () => {
  const before = [...lambda.environments].map((environment) => environment.pid());
  const response = await get('/fails-late');
  expect([response.status, await response.text()]).toEqual([200, 'first']);
  expect((await get('/hello')).status).toBe(200);
  expect([...lambda.environments].map((environment) => environment.pid())).toEqual(expect.arrayContaining(before));
});

test('a body that outlives the invocation is ended before the platform cuts it', async () => {
  const { text } = await readChunks(await fetch(`${hasty.url}/endless`));
  expect(text.length).toBeGreaterThan(5);
  expect((await fetch(`${hasty.url}/hello`)).status).toBe(200);
});

test('an app that never answers is a 504', async () => {
  expect((await fetch(`${hasty.url}/stuck`)).status).toBe(504);
});

test('the runtime is frozen between invocations', async () => {
  const single = await startLambda({ taskRoot, timeoutMs: 4000, concurrencyMax: 1 });
  const hello = async () => (await (await fetch(`${single.url}/hello`)).json()) as { ticks: number; left: number };
  const first = await hello();
  await new Promise((resolve) => setTimeout(resolve, 600));
  const second = await hello();
  await single.close();
  expect(second.ticks - first.ticks).toBeLessThan(10); // of 30
  expect(first.left).toBeGreaterThan(1000);
  expect(first.left).toBeLessThanOrEqual(2500);
});

test('a slow client holds back the app', async () => {
  const response = await get('/large');
  const reader = response.body?.getReader();
  const first = await reader?.read();
  await new Promise((resolve) => setTimeout(resolve, 500));
  const pulled = lambda.output().match(/pulled=/g)?.length ?? 0;
  expect(pulled).toBeGreaterThan(0);
  expect(pulled).toBeLessThan(500); // of 640; the rest is in socket buffers
  let bytes = first?.value?.length ?? 0;
  for (let next = await reader?.read(); next && !next.done; next = await reader?.read()) bytes += next.value.length;
  expect(bytes).toBe(640 * 65_536);
});

test('a client that leaves does not end the invocation, nor break the next', async () => {
  const leaving = new AbortController();
  const response = await get('/chunks', { signal: leaving.signal });
  await response.body?.getReader().read();
  leaving.abort();
  expect((await get('/hello')).status).toBe(200);
});

test('a crash is a 502 and the next request gets a fresh environment', async () => {
  expect((await get('/exit')).status).toBe(502);
  expect((await get('/hello')).status).toBe(200);
});

test('an event that is no HTTP request is refused with its field names', async () => {
  const invocation = lambda.invoke({ Records: [{ body: 'x' }] });
  invocation.body.resume();
  const error = await invocation.finished;
  expect(error?.errorMessage).toContain('function URL events only (payload 2.0); got fields: Records');
});
