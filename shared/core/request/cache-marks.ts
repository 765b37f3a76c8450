// Cache marks: set when a request is built, at the ends of turns, and taken off wherever they came from.

import type { ContentBlock, Message } from '../../types/message.ts';

export const MARK = { type: 'ephemeral' } as const;

/** The request before this one ended where the second of these ends now, so its prefix is found again. */
const MARKED_TURNS = 2;

/** Blocks (or tools) without `cache_control`, those inside results too; the same reference where there is none. */
export function withoutMarks<T>(value: T): T;
export function withoutMarks(value: unknown): unknown {
  if (!Array.isArray(value) || !value.some(isMarked)) return value;
  return value.map((item: unknown) => {
    if (!isMarked(item)) return item;
    const { cache_control: _, ...rest } = item;
    return Array.isArray(rest.content) ? { ...rest, content: withoutMarks<unknown>(rest.content) } : rest;
  });
}

const isMarked = (value: unknown): value is ContentBlock =>
  typeof value === 'object' &&
  value !== null &&
  ('cache_control' in value || ('content' in value && Array.isArray(value.content) && value.content.some(isMarked)));

const bare = new WeakMap<Message, Message>();

/** The message as blocks without marks, the same object where it is so; looked at once per object. */
function bareMessage(message: Message): Message {
  const known = bare.get(message);
  if (known) return known;
  const content =
    typeof message.content === 'string' ? [{ type: 'text', text: message.content }] : withoutMarks(message.content);
  const result = content === message.content ? message : { ...message, content };
  bare.set(message, result);
  return result;
}

/** The messages with a mark at the end of the last user turns; all others are the same objects. */
export function markTurns(messages: readonly Message[]): readonly Message[] {
  const marked = messages.map(bareMessage);
  let left = MARKED_TURNS;
  for (let i = messages.length - 1; i >= 0 && left > 0; i--) {
    const message = marked[i];
    if (message?.role !== 'user' || marked[i + 1]?.role === 'user') continue;
    const at = message.content.findLastIndex(takesMark);
    if (at === -1) continue;
    marked[i] = { ...message, content: message.content.map((b, j) => (j === at ? { ...b, cache_control: MARK } : b)) };
    left -= 1;
  }
  return marked;
}

/** Not thinking, and no text that is empty. */
const takesMark = (block: ContentBlock): boolean =>
  block.type !== 'thinking' && block.type !== 'redacted_thinking' && !(block.type === 'text' && block.text === '');
