// A history within the size of one request: old media first, then the largest outputs; pairs and texts stay.

import type { ContentBlock } from '../../types/message.ts';
import { isSigned } from '../facts/block-facts.ts';
import { truncateOutput } from '../truncate-output.ts';
import { type Context, changeBlocks, type Draft, jsonOf, note, textBlock } from './sanitize-draft.ts';
import { mapMedia, mediaIn } from './sanitize-media.ts';

/** Leaves room for system prompt, tools and what repairs add. */
const CHARS_MAX = 30 * 1024 * 1024;
const SHORT_CHARS = 2000;
const NEWEST_MESSAGES = 90_000;

/** Starts at the last signed compaction block, whose text stands for all before it. */
export function fromCompaction(drafts: readonly Draft[], context: Context): readonly Draft[] {
  const at = drafts.findLastIndex((draft) => draft.role === 'assistant' && draft.blocks.some(isSigned));
  const draft = drafts[at];
  if (!draft) return drafts;
  const first = changeBlocks(draft, draft.blocks.slice(draft.blocks.findLastIndex(isSigned)));
  if (at === 0 && first === draft) return drafts;
  note(context, 'compaction.misplaced', draft.source, 'what stood before the compaction block was left out');
  return [first, ...drafts.slice(at + 1)];
}

/** The newest messages, from a user's on, where there are more than one request takes. */
export function newestMessages(drafts: readonly Draft[], context: Context): readonly Draft[] {
  if (!context.broken.has('request.too_many_messages')) return drafts;
  const from = Math.max(0, drafts.length - NEWEST_MESSAGES);
  const start = drafts.findIndex((d, i) => i >= from && d.role === 'user' && d.blocks.every((b) => b.type === 'text'));
  note(context, 'request.too_many_messages', drafts[0]?.source ?? 0, 'the oldest messages were left out');
  return drafts.slice(start === -1 ? from : start);
}

/** Oldest media, then the largest results, then the largest texts, until the rest fits. */
export function limitSize(drafts: readonly Draft[], context: Context): readonly Draft[] {
  if (!context.broken.has('request.too_large')) return drafts;
  let excess = drafts.reduce((sum, draft) => sum + charsOf(draft.blocks), 0) - CHARS_MAX;
  const withoutMedia = drafts.map((draft) =>
    changeBlocks(
      draft,
      draft.blocks.map((block) => {
        if (excess <= 0 || mediaIn(block).length === 0) return block;
        excess -= charsOf(block);
        const less = mapMedia(block, (media) =>
          textBlock(`[an older ${media.type} left out: the request was too large]`),
        );
        excess += charsOf(less);
        return less;
      }),
    ),
  );
  const all = withoutMedia.flatMap((draft) => draft.blocks).map((block) => ({ block, chars: charsOf(block) }));
  const bySize = all.toSorted((a, b) => rankOf(a.block) - rankOf(b.block) || b.chars - a.chars);
  const shortened = new Map<ContentBlock, ContentBlock>();
  for (const { block, chars } of bySize) {
    if (excess <= 0) break;
    const less = shorten(block);
    shortened.set(block, less);
    excess -= chars - charsOf(less);
  }
  return withoutMedia.map((draft, i) => {
    const changed = changeBlocks(
      draft,
      draft.blocks.map((block) => shortened.get(block) ?? block),
    );
    if (changed !== drafts[i])
      note(context, 'request.too_large', draft.source, 'content was shortened: the request was too large');
    return changed;
  });
}

const charsOf = (value: unknown): number => jsonOf(value).length;
const RANKS = ['tool_result', 'text', 'tool_use'];
/** What is shortened first; other blocks come last. */
const rankOf = (block: ContentBlock): number => {
  const rank = RANKS.indexOf(block.type);
  return rank === -1 ? RANKS.length : rank;
};

function shorten(block: ContentBlock): ContentBlock {
  const short = (value: unknown): string =>
    truncateOutput(typeof value === 'string' ? value : jsonOf(value), SHORT_CHARS).text;
  if (block.type === 'tool_result') return { ...block, content: short(textOf(block.content)) };
  if (block.type === 'text') return { ...block, text: short(block.text) };
  if (block.type === 'tool_use') return { ...block, input: { shortened_input: short(block.input) } };
  return block;
}

/** The texts of a result's content. */
const textOf = (content: unknown): string =>
  Array.isArray(content)
    ? content.map((b: ContentBlock) => (typeof b.text === 'string' ? b.text : jsonOf(b))).join('\n')
    : String(content ?? '');
