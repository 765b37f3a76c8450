// A client that leaves while it sends its body is nobody's failure: over a real server, nothing is logged as one.

import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { type ServerType, serve } from '@hono/node-server';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { KEY, startHttp } from './harness.ts';

const http = startHttp();
let server: ServerType;
beforeAll(async () => {
  server = serve({ fetch: http.fetch, port: 0, hostname: '127.0.0.1' });
  await once(server, 'listening');
});
afterAll(async () => {
  server.close();
  await http.close();
});
afterEach(() => expect(http.failures.splice(0)).toEqual([]));

test.each([
  ['/v1/agents', ['content-type: application/json', 'content-length: 5000'], '{"name": "half'],
  ['/v1/agents', ['content-type: application/json', 'transfer-encoding: chunked'], '5\r\n{"nam'],
  ['/v1/files', ['content-type: multipart/form-data; boundary=b', 'content-length: 5000'], '--b\r\n'],
])('%s with %j', async (path, headers, body) => {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const head = [`POST ${path} HTTP/1.1`, 'host: localhost', `x-api-key: ${KEY}`, ...headers];
  socket.write(`${head.join('\r\n')}\r\n\r\n${body}`);
  await new Promise((resolve) => setTimeout(resolve, 100));
  socket.destroy();
  await new Promise((resolve) => setTimeout(resolve, 150));
});
