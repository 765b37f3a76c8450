// The front door: HTTP to function URL events (payload 2.0), and a streamed response (prelude, NULs, body) back to HTTP.

import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Invocation } from './invocation.ts';

const BODY_BYTES_MAX = 6 * 1024 * 1024;
const TEXT = /^(text\/|application\/(json|javascript|xml|x-www-form-urlencoded))/;
const STREAMED_HTTP = 'application/vnd.awslambda.http-integration-response';
const SEPARATOR = Buffer.alloc(8);

/** Answers one request by invoking the function. */
export async function serveFunctionUrl(
  request: IncomingMessage,
  response: ServerResponse,
  invoke: (event: unknown) => Invocation,
): Promise<void> {
  const body = await readBody(request);
  if (body === undefined) return void response.writeHead(413).end();
  const invocation = invoke(toEvent(request, body));
  response.on('close', () => invocation.body.resume()); // the client left: as on Lambda, the function is not told
  const started = await invocation.started;
  if (started.kind === 'failed') {
    const status = started.error.errorType === 'TooManyRequestsException' ? 429 : 502;
    return void response.writeHead(status, { 'content-type': 'application/json' }).end('{"Message":"Internal Error"}');
  }
  if (started.contentType === STREAMED_HTTP) return streamBack(invocation, response);
  response.writeHead(200, { 'content-type': started.contentType }); // a handler that never wrote a prelude
  invocation.body.pipe(response);
}

async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += chunk.length;
    if (bytes > BODY_BYTES_MAX) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

export function toEvent(request: IncomingMessage, body: Buffer): unknown {
  const { cookie, ...headers } = request.headers;
  const [rawPath = '/', rawQueryString = ''] = (request.url ?? '/').split('?', 2);
  const isText = TEXT.test(headers['content-type'] ?? '');
  return {
    version: '2.0',
    routeKey: '$default',
    rawPath,
    rawQueryString,
    ...(cookie ? { cookies: cookie.split('; ') } : {}),
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value].flat().join(',')])),
    requestContext: {
      accountId: 'anonymous',
      domainName: headers.host,
      http: { method: request.method, path: rawPath, protocol: 'HTTP/1.1', sourceIp: request.socket.remoteAddress },
      requestId: randomUUID(),
      stage: '$default',
    },
    ...(body.length > 0 ? { body: isText ? body.toString() : body.toString('base64') } : {}),
    isBase64Encoded: body.length > 0 && !isText,
  };
}

/** A failure after the headers cuts the connection without the last chunk, as a client of a function URL would see it. */
function streamBack({ body, finished }: Invocation, response: ServerResponse): void {
  let head: Buffer | undefined = Buffer.alloc(0);
  const write = (chunk: Buffer): void => {
    if (response.destroyed || chunk.length === 0 || response.write(chunk)) return;
    body.pause();
    response.once('drain', () => body.resume());
  };
  body.on('data', (chunk: Buffer) => {
    if (head === undefined) return write(chunk);
    head = Buffer.concat([head, chunk]);
    const at = head.indexOf(SEPARATOR);
    if (at < 0) return;
    const { statusCode, headers, cookies } = JSON.parse(head.toString('utf8', 0, at));
    response.writeHead(statusCode, { ...headers, ...(cookies?.length ? { 'set-cookie': cookies } : {}) });
    response.flushHeaders();
    const rest = head.subarray(at + SEPARATOR.length);
    head = undefined;
    write(rest);
  });
  body.on('end', async () => {
    if (await finished) response.destroy();
    else if (head === undefined) response.end();
    else response.writeHead(502).end();
  });
}
