// What is no request to Node's server or to the adapter still gets an error that clients can read.

import type { Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { listen } from '../../functions/listen.ts';
import { refuseMalformed } from '../../shared/http/malformed.ts';
import { startHttp } from './harness.ts';

const http = startHttp();
let server: Server;
beforeAll(async () => {
  server = await listen({ host: '127.0.0.1', port: 0 }, http.fetch, () => refuseMalformed(http.ports));
});
afterAll(async () => {
  server.close();
  await http.close();
});
afterEach(() => expect(http.failures.splice(0)).toEqual([]));

async function send(target: string, host: string): Promise<string> {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.end(`GET ${target} HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`);
  let text = '';
  for await (const chunk of socket.setEncoding('utf8')) text += chunk;
  return text;
}

test.each([
  ['http://[/v1', 'localhost'],
  ['/v1/agents', ']['],
  ['/v1/agents', 'a/b'],
])('the target %s at the host %s', async (target, host) => {
  const answer = await send(target, host);
  expect(answer).toMatch(/^HTTP\/1\.1 400 /);
  expect(answer).toMatch(/\r\nrequest-id: req_/);
  const body = JSON.parse(/\{.*\}/.exec(answer)?.[0] ?? 'null');
  expect(body).toMatchObject({ type: 'error', error: { type: 'invalid_request_error' } });
});

test('others reach the app', async () => {
  expect(await send('/healthz', 'localhost')).toMatch(/^HTTP\/1\.1 200 /);
});
