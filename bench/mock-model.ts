// A quick model server for the bench: the Messages API's stream, scripted by the last user message. It refuses broken
// tool pairing with a 400 and counts, per API key, what it was sent. Run as a process of its own; prints where it listens.

import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { deltaText, type Script, scriptOf } from './prompts.ts';

interface Block {
  readonly type: string;
  readonly text?: string;
  readonly id?: string;
  readonly tool_use_id?: string;
}

interface Message {
  readonly role: string;
  readonly content: string | readonly Block[];
}

interface Body {
  readonly messages: readonly Message[];
  readonly tools?: readonly { readonly name: string }[];
}

/** What one client sent; times are milliseconds since 1970 with fractions. */
export interface ModelStats {
  readonly requests: number;
  readonly refused: number;
  /** Fewest `cache_control` marks in a request. */
  readonly marksMin: number;
  readonly bodyBytesLast: number;
  readonly receivedAtLast: number;
  readonly firstDeltaAtLast: number;
}

const NOTHING: ModelStats = {
  requests: 0,
  refused: 0,
  marksMin: Number.MAX_SAFE_INTEGER,
  bodyBytesLast: 0,
  receivedAtLast: 0,
  firstDeltaAtLast: 0,
};

const stats = new Map<string, ModelStats>();
const wallClock = (): number => performance.timeOrigin + performance.now();

function note(key: string, change: Partial<ModelStats>): void {
  stats.set(key, { ...(stats.get(key) ?? NOTHING), ...change });
}

const blocksOf = ({ content }: Message): readonly Block[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : content;

/** Every call of an assistant message is answered in the next message, and nothing else is. */
function findFault(messages: readonly Message[]): string | undefined {
  let open: readonly string[] = [];
  for (const [i, message] of messages.entries()) {
    const blocks = blocksOf(message);
    if (blocks.length === 0) return `messages.${i}: no content`;
    const answered = blocks.flatMap((b) => (b.type === 'tool_result' ? [b.tool_use_id ?? ''] : []));
    if (answered.length !== open.length || answered.some((id) => !open.includes(id))) {
      return `messages.${i}: the results do not answer the calls before them`;
    }
    open = blocks.flatMap((b) => (b.type === 'tool_use' ? [b.id ?? ''] : []));
  }
  if (open.length > 0 || messages.at(-1)?.role !== 'user') return 'messages: the last one is not from the user';
  return undefined;
}

/** The script of the last user text that has one, and the tool rounds made since. */
function readScript(messages: readonly Message[]): { readonly script: Script; readonly roundsDone: number } {
  let roundsDone = 0;
  for (const message of messages.toReversed()) {
    if (message.role !== 'user') continue;
    const blocks = blocksOf(message);
    const script = blocks.map((b) => scriptOf(b.text ?? '')).find((s) => s !== undefined);
    if (script) return { script, roundsDone };
    if (blocks.some((b) => b.type === 'tool_result')) roundsDone += 1;
  }
  return { script: { deltas: 10, delayMs: 0, perWrite: 1, rounds: 0, path: '' }, roundsDone: 0 };
}

const frame = (event: { readonly type: string; readonly [field: string]: unknown }): string =>
  `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;

const START = frame({
  type: 'message_start',
  message: {
    id: 'msg_bench',
    type: 'message',
    role: 'assistant',
    model: 'claude-opus-5-5',
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { input_tokens: 100, output_tokens: 1, cache_read_input_tokens: 50, cache_creation_input_tokens: 10 },
  },
});

const end = (stopReason: string): string =>
  frame({ type: 'content_block_stop', index: 0 }) +
  frame({
    type: 'message_delta',
    delta: { stop_reason: stopReason, stop_sequence: null },
    usage: { output_tokens: 20 },
  }) +
  frame({ type: 'message_stop' });

let calls = 0;

function callFrames(tool: string, path: string): string {
  const block = { type: 'tool_use', id: `toolu_bench_${++calls}`, name: tool, input: {} };
  const delta = { type: 'input_json_delta', partial_json: JSON.stringify({ file_path: path }) };
  return (
    START +
    frame({ type: 'content_block_start', index: 0, content_block: block }) +
    frame({ type: 'content_block_delta', index: 0, delta }) +
    end('tool_use')
  );
}

const deltaFrame = (index: number): string =>
  frame({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: deltaText(index) } });

async function writeAnswer(response: ServerResponse, script: Script, key: string): Promise<void> {
  response.write(START + frame({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }));
  for (let i = 0; i < script.deltas; i += script.perWrite) {
    if (i > 0 && script.delayMs > 0) await delay(script.delayMs);
    if (i === 0) note(key, { firstDeltaAtLast: wallClock() });
    let chunk = '';
    for (let j = i; j < Math.min(i + script.perWrite, script.deltas); j++) chunk += deltaFrame(j);
    if (!response.write(chunk) && !response.destroyed) await once(response, 'drain');
    if (response.destroyed) return;
  }
  response.end(end('end_turn'));
}

function refuse(response: ServerResponse, message: string): void {
  response.writeHead(400, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ type: 'error', error: { type: 'invalid_request_error', message } }));
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const key = String(request.headers['x-api-key'] ?? request.headers.authorization ?? '').replace(/^Bearer /, '');
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString();
  const seen = stats.get(key) ?? NOTHING;
  note(key, {
    requests: seen.requests + 1,
    marksMin: Math.min(seen.marksMin, text.split('"cache_control":').length - 1),
    bodyBytesLast: text.length,
    receivedAtLast: wallClock(),
  });
  const body = JSON.parse(text) as Body;
  const fault = findFault(body.messages);
  if (fault !== undefined) {
    note(key, { refused: seen.refused + 1 });
    refuse(response, fault);
    return;
  }
  const { script, roundsDone } = readScript(body.messages);
  response.writeHead(200, { 'content-type': 'text/event-stream', 'request-id': 'req_bench' });
  const tool = body.tools?.find(({ name }) => /^(read|echo)$/i.test(name))?.name;
  if (roundsDone < script.rounds && tool !== undefined) response.end(callFrames(tool, script.path));
  else await writeAnswer(response, script, key);
}

/** `POST /v1/messages` is the model; `GET /stats` what it saw; `DELETE /stats` forgets that. */
const server = createServer((request, response) => {
  const path = request.url ?? '';
  if (path === '/healthz') {
    response.end('ok');
    return;
  }
  if (path.startsWith('/stats')) {
    if (request.method === 'DELETE') stats.clear();
    response.end(JSON.stringify(Object.fromEntries(stats)));
    return;
  }
  answer(request, response).catch((error: unknown) => {
    console.error(error);
    response.destroy();
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => {
  console.log(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
