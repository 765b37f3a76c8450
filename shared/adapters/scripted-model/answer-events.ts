// An answer as the events of the Messages API's stream, and as the message that a request without streaming gets.

import { randomBytes } from 'node:crypto';
import type { Answer, AnswerBlock, Block } from './script.ts';

export interface StreamEvent {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** What an answer needs beside its script. */
export interface AnswerContext {
  readonly model: string;
  readonly usage: Readonly<Record<string, unknown>>;
}

const DELTA_CHARS = 16;
const newId = (prefix: string): string => `${prefix}_${randomBytes(12).toString('hex')}`;

export function* eventsOf(answer: Answer, context: AnswerContext): Generator<StreamEvent> {
  const chars = answer.deltaChars ?? DELTA_CHARS;
  const blocks = (answer.blocks ?? []).map(toBlock);
  const usage = { ...context.usage, ...answer.usage };
  const message = messageOf([], context.model, { ...usage, output_tokens: 1 });
  yield { type: 'message_start', message };
  for (const [index, { start, deltas }] of blocks.entries()) {
    yield { type: 'content_block_start', index, content_block: start };
    for (const { field, type, text, whole } of deltas) {
      if (whole) yield { type: 'content_block_delta', index, delta: { type, [field]: text } };
      else
        for (const part of cutText(text, chars))
          yield { type: 'content_block_delta', index, delta: { type, [field]: part } };
    }
    yield { type: 'content_block_stop', index };
  }
  yield {
    type: 'message_delta',
    delta: endOf(answer),
    usage: { ...usage, output_tokens: outputTokens(answer), ...answer.usage },
  };
  yield { type: 'message_stop' };
}

export function wholeMessage(answer: Answer, context: AnswerContext): StreamEvent {
  const content = (answer.blocks ?? []).map((block) => toBlock(block).whole);
  const usage = { ...context.usage, output_tokens: outputTokens(answer), ...answer.usage };
  return { ...messageOf(content, context.model, usage), ...endOf(answer) };
}

const messageOf = (content: readonly Block[], model: string, usage: Readonly<Record<string, unknown>>) => ({
  id: newId('msg'),
  type: 'message',
  role: 'assistant',
  model,
  content,
  stop_reason: null,
  stop_sequence: null,
  stop_details: null,
  usage,
});

function endOf(answer: Answer) {
  const calls = (answer.blocks ?? []).some((b) => typeof b !== 'string' && b.type === 'tool_use');
  const stopReason = answer.stopReason ?? (calls ? 'tool_use' : 'end_turn');
  return { stop_reason: stopReason, stop_sequence: null, stop_details: answer.stopDetails ?? null };
}

/** About one token for four characters, as for the input. */
function outputTokens(answer: Answer): number {
  const chars = (answer.blocks ?? []).reduce(
    (sum, b) => sum + (typeof b === 'string' ? b : JSON.stringify(b)).length,
    0,
  );
  return Math.max(1, Math.ceil(chars / 4));
}

interface Delta {
  readonly type: string;
  readonly field: string;
  readonly text: string;
  /** Not cut into pieces. */
  readonly whole: boolean;
}

interface BlockParts {
  readonly start: Block;
  readonly deltas: readonly Delta[];
  readonly whole: Block;
}

function toBlock(given: AnswerBlock): BlockParts {
  const block: Block = typeof given === 'string' ? { type: 'text', text: given } : given;
  switch (block.type) {
    case 'text': {
      const delta = { type: 'text_delta', field: 'text', text: String(block.text), whole: false };
      return { start: { type: 'text', text: '' }, deltas: [delta], whole: block };
    }
    case 'thinking': {
      const signature = String(block.signature ?? Buffer.from(newId('sig')).toString('base64'));
      const thinking = { type: 'thinking_delta', field: 'thinking', text: String(block.thinking), whole: false };
      const signed = { type: 'signature_delta', field: 'signature', text: signature, whole: true };
      const start = { type: 'thinking', thinking: '', signature: '' };
      return { start, deltas: [thinking, signed], whole: { ...block, signature } };
    }
    case 'tool_use': {
      const { json, ...call } = { id: newId('toolu'), input: {}, ...block } as Block & { json?: string };
      const text = json ?? JSON.stringify(call.input);
      const delta = { type: 'input_json_delta', field: 'partial_json', text, whole: false };
      return { start: { ...call, input: {} }, deltas: text === '{}' ? [] : [delta], whole: call };
    }
    default:
      return { start: block, deltas: [], whole: block };
  }
}

/** Pieces of about `size` characters that split no surrogate pair. */
function* cutText(text: string, size: number): Generator<string> {
  for (let at = 0; at < text.length; ) {
    let end = Math.min(text.length, at + Math.max(1, size));
    if (end < text.length && /[\uD800-\uDBFF]/.test(text[end - 1] ?? '')) end++;
    yield text.slice(at, end);
    at = end;
  }
}
