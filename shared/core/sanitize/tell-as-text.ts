// The last resort of sanitising: a history told as plain text, which is sound whatever it was made from.

import type { Message } from '../../types/message.ts';
import { isBlank } from '../facts/block-facts.ts';
import { isRecord } from '../facts/fields.ts';
import { truncateOutput } from '../truncate-output.ts';
import { type Context, jsonOf, note, textBlock } from './sanitize-draft.ts';

const CHARS_MAX = 8 * 1024 * 1024;
const MESSAGES_MAX = 1000;
const TEXT_CHARS_MAX = 100_000;

/** The newest messages, each as one text of its role, beginning and ending with the user. Never throws. */
export function tellAsText(messages: readonly unknown[], context: Context): readonly Message[] {
  note(context, 'request.unsound', 0, 'the history could not be repaired and is told as plain text');
  const told: Message[] = [];
  let chars = 0;
  for (let i = messages.length - 1; i >= 0 && chars < CHARS_MAX && told.length < MESSAGES_MAX; i--) {
    const message = messages[i];
    if (!isRecord(message)) continue;
    const text = truncateOutput(textsIn(message.content), TEXT_CHARS_MAX).text.toWellFormed();
    if (isBlank(text)) continue;
    chars += text.length;
    told.unshift({ role: message.role === 'assistant' ? 'assistant' : 'user', content: [textBlock(text.trimEnd())] });
  }
  if (told.length === 0) return [];
  const stub: Message = { role: 'user', content: [textBlock('(conversation)')] };
  if (told[0]?.role === 'assistant') told.unshift(stub);
  if (told.at(-1)?.role === 'assistant') told.push(stub);
  return told;
}

function textsIn(content: unknown): string {
  if (typeof content === 'string') return content;
  const blocks: readonly unknown[] = Array.isArray(content) ? content : [content];
  return blocks
    .map((block) => {
      if (!isRecord(block) || block.type === 'thinking' || block.type === 'redacted_thinking') return '';
      return typeof block.text === 'string' ? block.text : jsonOf(block);
    })
    .join('\n');
}
