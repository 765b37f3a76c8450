// The floor: the official SDK's raw stream and a hand-written loop behind a thin SSE host. Nothing is stored, or, with
// `store=file`, the history is a JSONL file that every turn reads whole and appends to. One file, so that it also runs as JS.

import { appendFile, readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import Anthropic from '@anthropic-ai/sdk';

type Message = Anthropic.MessageParam;
type Block = Anthropic.ContentBlockParam;

const directory = process.env.RAW_DIR ?? '.';
const client = new Anthropic({ maxRetries: 0 });
const sessions = new Map<string, Message[]>();
const system = process.env.RAW_SYSTEM ?? 'You are a helpful agent.';
const tools: Anthropic.Tool[] = [
  {
    name: 'read',
    description: 'Reads a file.',
    input_schema: { type: 'object', properties: { file_path: { type: 'string' } }, required: ['file_path'] },
  },
];

/** Streams one answer, passing each text delta on; gives the complete blocks. */
async function callModel(messages: Message[], onText: (text: string) => void): Promise<Block[]> {
  const stream = await client.messages.create({
    model: 'claude-opus-5-5',
    max_tokens: 32_000,
    system,
    tools,
    messages,
    stream: true,
  });
  const content: Block[] = [];
  let text = '';
  let open: { type: string; id?: string; name?: string } = { type: '' };
  for await (const event of stream) {
    if (event.type === 'content_block_start') {
      open = event.content_block;
      text = '';
    } else if (event.type === 'content_block_delta') {
      if (event.delta.type === 'text_delta') {
        text += event.delta.text;
        onText(event.delta.text);
      } else if (event.delta.type === 'input_json_delta') text += event.delta.partial_json;
    } else if (event.type === 'content_block_stop') {
      if (open.type === 'text') content.push({ type: 'text', text });
      else if (open.type === 'tool_use') {
        content.push({ type: 'tool_use', id: open.id ?? '', name: open.name ?? '', input: JSON.parse(text) });
      }
    }
  }
  return content;
}

async function runTool(block: Block): Promise<Anthropic.ToolResultBlockParam> {
  const { id, input } = block as Anthropic.ToolUseBlockParam;
  const content = await readFile((input as { file_path: string }).file_path, 'utf8');
  return { type: 'tool_result', tool_use_id: id, content };
}

async function runTurn(messages: Message[], user: string, onText: (text: string) => void): Promise<void> {
  messages.push({ role: 'user', content: [{ type: 'text', text: user }] });
  for (;;) {
    const content = await callModel(messages, onText);
    messages.push({ role: 'assistant', content });
    const calls = content.filter((block) => block.type === 'tool_use');
    if (calls.length === 0) return;
    messages.push({ role: 'user', content: await Promise.all(calls.map(runTool)) });
  }
}

async function load(session: string, stored: boolean): Promise<Message[]> {
  if (!stored) {
    const known = sessions.get(session) ?? [];
    sessions.set(session, known);
    return known;
  }
  const text = await readFile(join(directory, `${session}.jsonl`), 'utf8').catch(() => '');
  return text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Message]));
}

async function serveTurn(request: IncomingMessage, response: ServerResponse, query: URLSearchParams): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const { text } = JSON.parse(Buffer.concat(chunks).toString()) as { text: string };
  const session = query.get('session') ?? '';
  const stored = query.get('store') === 'file';
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const messages = await load(session, stored);
  const before = messages.length;
  await runTurn(messages, text, (delta) => {
    response.write(`event: delta\ndata: ${JSON.stringify({ text: delta })}\n\n`);
  });
  if (stored) {
    const lines = messages.slice(before).map((message) => `${JSON.stringify(message)}\n`);
    await appendFile(join(directory, `${session}.jsonl`), lines.join(''));
  }
  response.end('event: done\ndata: {}\n\n');
}

const server = createServer((request, response) => {
  const url = new URL(request.url ?? '/', 'http://localhost');
  if (url.pathname === '/healthz') {
    response.end('ok');
    return;
  }
  serveTurn(request, response, url.searchParams).catch((error: unknown) => {
    console.error(error);
    response.destroy();
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => {
  console.log(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
