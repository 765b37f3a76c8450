// A model for tests and for offline use: a real HTTP server that speaks the Messages API. With a script it answers what the
// script says; without one it works by the demo's rules on the files that the tools show it. Strict like the real API:
// a request that `check` finds a fault in is refused with a 400 that names the rule.

import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { wholeMessage } from './answer-events.ts';
import { answerByRules } from './demo.ts';
import { countTokens, createPrefixMemory } from './prefix-memory.ts';
import { playScript, type RequestBody, type Script, type ScriptPlayer } from './script.ts';
import { sendError, sendStream } from './send-answer.ts';

const BODY_BYTES_MAX = 32 * 1024 * 1024;
const REQUESTS_KEPT = 200;
const REQUESTS_KEPT_DEMO = 20;

export interface ScriptedModelOptions {
  /** Absent: the demo's rules answer. */
  readonly script?: Script;
  /** The first fault of a request body, or null where it is sound; absent: every history is taken. */
  readonly check?: (body: unknown) => { readonly rule: string; readonly path: string; readonly message: string } | null;
  /** Before each event of an answer that names no pace of its own, in ms. */
  readonly delayMs?: number;
  /** The key to demand; absent: any. */
  readonly apiKey?: string;
  /** ms since the epoch, for the life of cached prefixes. */
  readonly now?: () => number;
}

export interface ScriptedModel {
  /** On loopback; port 0 or none = a free one. */
  listen(port?: number): Promise<{ readonly url: string; readonly port: number }>;
  /** Ends open connections too. */
  close(): Promise<void>;
  /** Bodies of the message requests that passed the checks, oldest first; only the last ones are kept. */
  readonly requests: readonly RequestBody[];
  /** Faults of refused requests, as sent: `<rule>: <path>: <message>`. */
  readonly refusals: readonly string[];
  /** Throws where a list of answers was not used up or was asked for more. */
  assertDone(): void;
}

export function createScriptedModel(options: ScriptedModelOptions = {}): ScriptedModel {
  const player = playScript(options.script ?? answerByRules);
  const requests: RequestBody[] = [];
  const refusals: string[] = [];
  const handle = createHandler(options, {
    player,
    onRequest(body) {
      requests.push(body);
      if (requests.length > (options.script === undefined ? REQUESTS_KEPT_DEMO : REQUESTS_KEPT)) requests.shift();
    },
    onRefusal: (message) => refusals.push(message),
  });
  const server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => {
      const message = `the scripted model failed: ${error instanceof Error ? error.message : String(error)}`;
      if (response.headersSent) response.destroy();
      else sendError(response, { status: 500, message });
    });
  });
  return {
    listen: (port = 0) =>
      new Promise((resolve, reject) => {
        server.once('error', reject);
        server.listen(port, '127.0.0.1', () => {
          const { port: bound } = server.address() as AddressInfo;
          resolve({ url: `http://127.0.0.1:${bound}`, port: bound });
        });
      }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
    requests,
    refusals,
    assertDone: () => player.assertDone(),
  };
}

interface Handling {
  readonly player: ScriptPlayer;
  readonly onRequest: (body: RequestBody) => void;
  readonly onRefusal: (message: string) => void;
}

function createHandler(options: ScriptedModelOptions, { player, onRequest, onRefusal }: Handling) {
  const { check, delayMs = 0 } = options;
  const memory = createPrefixMemory(options.now ?? Date.now);
  const answerMessages = async (body: RequestBody, response: ServerResponse) => {
    onRequest(body);
    const answer = { delayMs, ...(await player.next(body)) };
    if (answer.firstDelayMs) await sleep(answer.firstDelayMs);
    if (response.closed) return;
    if (answer.fault?.kind === 'http') {
      const { message = 'as the script says' } = answer.fault;
      return sendError(response, { ...answer.fault, message });
    }
    const context = { model: body.model, usage: memory.use(body) };
    if (body.stream === true) return sendStream(response, answer, context);
    sendJson(response, wholeMessage(answer, context));
  };
  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    response.setHeader('request-id', `req_${randomBytes(12).toString('hex')}`);
    const path = (request.url ?? '/').split('?')[0];
    const counting = path === '/v1/messages/count_tokens';
    const text = await readBody(request);
    if (request.method !== 'POST' || (path !== '/v1/messages' && !counting)) {
      return sendError(response, { status: 404, message: `${request.method} ${path}: not found` });
    }
    if (!isAuthorised(request, options.apiKey))
      return sendError(response, { status: 401, message: 'invalid x-api-key' });
    if (text === null) return sendError(response, { status: 413, message: 'request exceeds the maximum size' });
    const body = parseJson(text);
    if (body === null) return sendError(response, { status: 400, message: 'the body is not valid JSON' });
    const fault = check?.(counting ? { ...body, max_tokens: 1 } : body) ?? null;
    if (fault !== null) {
      const message = `${fault.rule}: ${fault.path}: ${fault.message}`;
      onRefusal(message);
      return sendError(response, { status: 400, message });
    }
    if (counting) return sendJson(response, { input_tokens: countTokens(body) });
    await answerMessages(body, response);
  };
}

function sendJson(response: ServerResponse, body: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

function isAuthorised(request: IncomingMessage, expected: string | undefined): boolean {
  const bearer = /^Bearer\s+(\S.*)$/i.exec(request.headers.authorization ?? '')?.[1];
  const key = bearer ?? request.headers['x-api-key'];
  return expected === undefined ? key !== undefined && key !== '' : key === expected;
}

/** null where the body is larger than the API takes; the rest of it is read and dropped. */
async function readBody(request: IncomingMessage): Promise<string | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes <= BODY_BYTES_MAX) chunks.push(chunk);
  }
  return bytes > BODY_BYTES_MAX ? null : Buffer.concat(chunks).toString('utf8');
}

function parseJson(text: string): RequestBody | null {
  try {
    const body: unknown = JSON.parse(text);
    return typeof body === 'object' && body !== null && !Array.isArray(body) ? (body as RequestBody) : null;
  } catch {
    return null;
  }
}
