// Blocks kept outside the log, while a history is sanitised: each is hidden behind a sound block of its own type.

import { isSpilled, type SpilledBlock } from '../../types/log.ts';
import type { ContentBlock, Message } from '../../types/message.ts';
import { isRecord } from '../facts/fields.ts';

const standIns = new WeakMap<ContentBlock, ContentBlock>();
const hidden = new WeakMap<Message, Message>();

export interface Hidden {
  readonly messages: readonly Message[];
  /** Puts the spilled blocks back; a message that was not changed comes back as the given object. */
  readonly restore: (messages: readonly Message[]) => readonly Message[];
}

/** The messages with stand-ins; the same list where nothing is spilled. */
export function hideSpilled(messages: readonly Message[]): Hidden {
  const blocks = new Map<ContentBlock, ContentBlock>();
  const whole = new Map<Message, Message>();
  const shown = messages.map((message) => {
    if (!isRecord(message) || !hasSpilled(message.content)) return message;
    const known = hidden.get(message) ?? { ...message, content: hideIn(message.content) };
    hidden.set(message, known);
    whole.set(known, message);
    collect(message.content, known.content, blocks);
    return known;
  });
  if (whole.size === 0) return { messages, restore: (result) => result };
  const restore = (result: readonly Message[]) =>
    result.map((message) => whole.get(message) ?? restoreMessage(message, blocks));
  return { messages: shown, restore };
}

const listOf = (value: unknown): readonly ContentBlock[] =>
  Array.isArray(value) ? (value as readonly ContentBlock[]) : [];
const isBlock = (value: unknown): value is ContentBlock => isRecord(value) && typeof value.type === 'string';
const hasSpilled = (content: unknown): boolean =>
  listOf(content).some((block) => isBlock(block) && (isSpilled(block) || hasSpilled(block.content)));

const hideIn = (content: readonly ContentBlock[]): readonly ContentBlock[] =>
  content.map((block) => {
    if (!isBlock(block)) return block;
    if (isSpilled(block)) return standInOf(block);
    return hasSpilled(block.content) ? { ...block, content: hideIn(listOf(block.content)) } : block;
  });

function standInOf(block: SpilledBlock): ContentBlock {
  const known = standIns.get(block) ?? makeStandIn(block);
  standIns.set(block, known);
  return known;
}

function makeStandIn(block: SpilledBlock): ContentBlock {
  switch (block.of) {
    case 'text':
      return { type: 'text', text: 'spilled' };
    case 'image':
    case 'document':
      return { type: block.of, source: { type: 'file', file_id: 'spilled' } };
    case 'thinking':
      return { type: 'thinking', thinking: '', signature: `spilled ${block.blob}` };
    case 'redacted_thinking':
      return { type: 'redacted_thinking', data: `spilled ${block.blob}` };
    default:
      return { type: block.of, tool_use_id: block.tool_use_id };
  }
}

function collect(from: unknown, to: unknown, blocks: Map<ContentBlock, ContentBlock>): void {
  const shown = listOf(to);
  listOf(from).forEach((block, i) => {
    const now = shown[i];
    if (!now || now === block) return;
    blocks.set(now, block);
    if (!isSpilled(block)) collect(block.content, now.content, blocks);
  });
}

function restoreMessage(message: Message, blocks: ReadonlyMap<ContentBlock, ContentBlock>): Message {
  const content = restoreIn(message.content, blocks);
  return content === message.content ? message : { ...message, content };
}

function restoreIn(
  content: readonly ContentBlock[],
  blocks: ReadonlyMap<ContentBlock, ContentBlock>,
): readonly ContentBlock[] {
  const restored = listOf(content).map((block) => {
    const known = blocks.get(block);
    if (known || !Array.isArray(block.content)) return known ?? block;
    const inner = restoreIn(listOf(block.content), blocks);
    return inner === block.content ? block : { ...block, content: inner };
  });
  return restored.every((block, i) => block === content[i]) ? content : restored;
}
