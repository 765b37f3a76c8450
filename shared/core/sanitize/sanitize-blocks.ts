// One block at a time: fields, texts, inputs, results. A sound block comes back as the same object.

import type { ContentBlock } from '../../types/message.ts';
import { blockFacts, extraFields, isBlank, isGoodName, NAME_CHARS_MAX } from '../facts/block-facts.ts';
import { type Fields, isRecord, setField } from '../facts/fields.ts';
import { type Context, changeBlocks, type Draft, jsonOf, note, textBlock } from './sanitize-draft.ts';
import { cleanMedia } from './sanitize-media.ts';
import { readBlock } from './sanitize-shapes.ts';

/** The draft with each block sound by itself. A call whose input cannot be read keeps it as a string: pairing decides. */
export function cleanDraft(draft: Draft, context: Context): Draft {
  return changeBlocks(
    draft,
    draft.blocks.flatMap((block) => {
      const cleaned = cleanBlock(block, context);
      const rule = cleaned.length === 1 && cleaned[0] === block ? null : ruleOf(block, cleaned.length > 0);
      if (rule) note(context, rule[0], draft.source, rule[1]);
      return cleaned;
    }),
  );
}

function ruleOf(block: ContentBlock, isKept: boolean): readonly [string, string] {
  if (block.type === 'text' && !isKept) return ['text.empty', 'a blank text was left out'];
  if (!blockFacts(block.type)) return ['block.type', `a block of type ${block.type} became text`];
  return [
    `${block.type}.fields`,
    isKept ? `a ${block.type} block was put right` : `a ${block.type} block was left out`,
  ];
}

function cleanBlock(given: ContentBlock, context: Context): readonly ContentBlock[] {
  if (given.type === 'thinking' || given.type === 'redacted_thinking') return [withoutExtras(given, context)];
  const block = wellFormed(withoutExtras(given, context), context);
  switch (block.type) {
    case 'text':
      return cleanText(block);
    case 'image':
    case 'document':
      return [cleanMedia(block)];
    case 'tool_use':
    case 'server_tool_use':
    case 'mcp_tool_use':
      return [cleanCall(block)];
    case 'tool_result':
      return [cleanResult(block, context)];
    default:
      return blockFacts(block.type) ? [block] : unknownAsText(block);
  }
}

function unknownAsText(block: ContentBlock): readonly ContentBlock[] {
  return cleanText(textBlock(typeof block.text === 'string' ? block.text : jsonOf(block)));
}

function cleanText(block: ContentBlock): readonly ContentBlock[] {
  const { text } = block;
  if (typeof text === 'string') return isBlank(text) ? [] : [block];
  return text === undefined || text === null ? [] : [{ ...block, text: jsonOf(text) }];
}

/** Without fields that its type has not; cache marks go where they are in the way. */
function withoutExtras(block: ContentBlock, context: Context): ContentBlock {
  const extra = extraFields(block);
  const marksGo = 'cache_control' in block && [...context.broken].some((rule) => rule.startsWith('cache.'));
  if (extra.length === 0 && !marksGo) return block;
  const kept = Object.entries(block).filter(([key]) => !extra.includes(key) && !(marksGo && key === 'cache_control'));
  return Object.fromEntries(kept) as ContentBlock;
}

function cleanCall(block: ContentBlock): ContentBlock {
  const input = readInput(block.input);
  const name = isGoodName(block.name) ? block.name : nameOf(block.name);
  return input === block.input && name === block.name ? block : { ...block, name, input };
}

const nameOf = (name: unknown): string =>
  typeof name === 'string' && name !== '' ? name.slice(0, NAME_CHARS_MAX).toWellFormed() : 'unknown_tool';

const PARSES_MAX = 3;

/** The input as an object; a string that is no JSON comes back as it is: the call may have been cut. */
function readInput(given: unknown): unknown {
  if (isRecord(given)) return given;
  let value = given;
  for (let i = 0; i < PARSES_MAX && typeof value === 'string' && !isBlank(value); i++) {
    try {
      value = JSON.parse(value) as unknown;
    } catch {
      return i === 0 ? value : { value };
    }
  }
  if (isRecord(value)) return value;
  if (Array.isArray(value)) return value.length === 0 ? {} : { values: value };
  const isNothing = value === undefined || value === null || (typeof value === 'string' && isBlank(value));
  return isNothing ? {} : { value };
}

const NO_MESSAGE = 'The tool failed without a message.';

function cleanResult(block: ContentBlock, context: Context): ContentBlock {
  const { content, is_error: failed, ...rest } = block;
  const isError = failed === true || failed === 'true';
  const cleaned = cleanResultContent(content, isError, context);
  if (cleaned === content && (failed === undefined || typeof failed === 'boolean')) return block;
  return {
    ...rest,
    ...(cleaned === undefined ? {} : { content: cleaned }),
    ...(isError ? { is_error: true } : {}),
  } as ContentBlock;
}

/** Text only and not empty where the tool failed; undefined where nothing is left. */
function cleanResultContent(content: unknown, isError: boolean, context: Context): unknown {
  if (typeof content === 'string') return isError && isBlank(content) ? NO_MESSAGE : content;
  if (content === undefined || content === null) return isError ? NO_MESSAGE : undefined;
  if (!Array.isArray(content) && !(isRecord(content) && blockFacts(content.type)?.inResult)) {
    return isRecord(content) || isError ? jsonOf(content) : String(content);
  }
  const given: readonly unknown[] = Array.isArray(content) ? content : [content];
  const blocks = given.flatMap((item) => cleanInner(item, isError, context));
  if (blocks.length === 0)
    return isError ? NO_MESSAGE : Array.isArray(content) && content.length === 0 ? content : undefined;
  const isSame = Array.isArray(content) && blocks.length === content.length && blocks.every((b, i) => b === content[i]);
  return isSame ? content : blocks;
}

function cleanInner(item: unknown, isError: boolean, context: Context): readonly ContentBlock[] {
  return readBlock(item).flatMap((block) => {
    if (!blockFacts(block.type)?.inResult) return unknownAsText(block);
    const isLost =
      block.type === 'tool_reference' &&
      context.tools &&
      !context.tools.some((tool) => isRecord(tool) && tool.name === block.tool_name);
    if (isLost) return [textBlock(`[a tool that is not available: ${String(block.tool_name)}]`)];
    return cleanBlock(block, context).map((inner) =>
      isError && inner.type !== 'text' ? textBlock(`[${inner.type} left out of a failed result]`) : inner,
    );
  });
}

const DEPTH_MAX = 500;

/** With U+FFFD for half surrogates in all texts and keys, where the history has any. */
function wellFormed(block: ContentBlock, context: Context): ContentBlock {
  if (!context.broken.has('request.lone_surrogate')) return block;
  return mend(block, 0) as ContentBlock;
}

function mend(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return value.toWellFormed();
  if (typeof value !== 'object' || value === null) return value;
  if (depth > DEPTH_MAX) return '[nested too deeply]';
  if (Array.isArray(value)) return mendList(value, depth);
  const entries = Object.entries(value as Fields);
  const mended = entries.map(([key, inner]) => [key.toWellFormed(), mend(inner, depth + 1)] as const);
  if (mended.every(([key, inner], i) => key === entries[i]?.[0] && inner === entries[i]?.[1])) return value;
  const result: Record<string, unknown> = {};
  for (const [key, inner] of mended) setField(result, key, inner);
  return result;
}

function mendList(list: readonly unknown[], depth: number): readonly unknown[] {
  const mended = list.map((item) => mend(item, depth + 1));
  return mended.every((item, i) => item === list[i]) ? list : mended;
}
