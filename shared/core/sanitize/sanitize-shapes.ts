// Whatever stands in a history → messages with a known role and a list of blocks. Other vendors' shapes are translated.

import type { ContentBlock, Message } from '../../types/message.ts';
import { type Fields, isRecord } from '../facts/fields.ts';
import { type Context, changeBlocks, type Draft, jsonOf, note, textBlock } from './sanitize-draft.ts';

const ROLES: Readonly<Record<string, Draft['role']>> = {
  user: 'user',
  human: 'user',
  assistant: 'assistant',
  model: 'assistant',
  ai: 'assistant',
  system: 'system',
  developer: 'system',
};

/** The messages as drafts, in their order; what is no message at all is left out. */
export function readMessages(messages: readonly unknown[], context: Context): readonly Draft[] {
  return messages.flatMap((value, source) => {
    const draft = readMessage(value, source);
    if (!draft) {
      note(context, 'message.content_type', source, 'left out: not a message');
      return [];
    }
    if (draft.original === null) note(context, 'message.content_type', source, 'translated to the Messages format');
    return [draft];
  });
}

function readMessage(value: unknown, source: number): Draft | undefined {
  if (typeof value === 'string') return { role: 'user', blocks: [textBlock(value)], source, original: null };
  if (!isRecord(value)) return undefined;
  if (value.role === 'tool' || value.role === 'function') {
    const result = { type: 'tool_result', tool_use_id: value.tool_call_id ?? value.id ?? null, content: value.content };
    return { role: 'user', blocks: [result], source, original: null };
  }
  const role = (typeof value.role === 'string' && Object.hasOwn(ROLES, value.role) && ROLES[value.role]) || 'user';
  const calls = Array.isArray(value.tool_calls) ? value.tool_calls.flatMap(readCall) : [];
  const content = readContent(value.content);
  const isPlain =
    role === value.role &&
    calls.length === 0 &&
    Object.keys(value).length === 2 &&
    isPlainContent(value.content, content);
  return { role, blocks: [...content, ...calls], source, original: isPlain ? (value as unknown as Message) : null };
}

/** Whether the content was read as it stands. */
const isPlainContent = (content: unknown, read: readonly ContentBlock[]): boolean =>
  typeof content === 'string' ||
  (Array.isArray(content) && content.length === read.length && read.every((block, i) => block === content[i]));

/** Blocks with a string `type`, whatever the content was; what has none becomes text. */
function readContent(content: unknown): readonly ContentBlock[] {
  if (content === undefined || content === null || content === '') return [];
  if (typeof content === 'string') return [textBlock(content)];
  return (Array.isArray(content) ? content : [content]).flatMap(readBlock);
}

/** One item of a content list as blocks: strings are text, foreign parts are translated, `null` is nothing. */
export function readBlock(value: unknown): readonly ContentBlock[] {
  if (value === null || value === undefined) return [];
  if (typeof value === 'string') return [textBlock(value)];
  if (!isRecord(value) || typeof value.type !== 'string') {
    return [textBlock(isRecord(value) && typeof value.text === 'string' ? value.text : jsonOf(value))];
  }
  switch (value.type) {
    case 'image_url':
    case 'input_image':
      return [readImage(value)];
    case 'input_text':
    case 'output_text':
    case 'refusal':
      return [textBlock(String(value.text ?? value.refusal ?? ''))];
    case 'reasoning':
    case 'reasoning_content':
      return [];
    default:
      return [value as ContentBlock];
  }
}

/** A data URL becomes base64, any other URL a source by URL. */
function readImage(part: Fields): ContentBlock {
  const given = isRecord(part.image_url) ? part.image_url.url : part.image_url;
  const url = typeof given === 'string' ? given : '';
  const data = /^data:([a-z0-9/+.-]+);base64,/i.exec(url);
  const source = data
    ? { type: 'base64', media_type: data[1]?.toLowerCase(), data: url.slice(data[0].length) }
    : { type: 'url', url: url || undefined };
  return { type: 'image', source };
}

/** `tool_calls` of another vendor. */
function readCall(value: unknown): readonly ContentBlock[] {
  if (!isRecord(value)) return [];
  const called = isRecord(value.function) ? value.function : value;
  return [{ type: 'tool_use', id: value.id, name: called.name, input: called.arguments ?? called.input }];
}

/** Drafts in which no block object stands twice, so that each can be told by its identity. */
export function uniqueBlocks(drafts: readonly Draft[]): readonly Draft[] {
  const seen = new Set<ContentBlock>();
  return drafts.map((draft) =>
    changeBlocks(
      draft,
      draft.blocks.map((block) => {
        const own = seen.has(block) ? { ...block } : block;
        seen.add(own);
        return own;
      }),
    ),
  );
}
