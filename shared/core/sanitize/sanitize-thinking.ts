// Thinking goes back byte for byte or not at all. A damaged block takes with it the thinking that is incomplete without it.

import type { ContentBlock } from '../../types/message.ts';
import { isThinkingBlock } from '../facts/block-facts.ts';
import { type Context, changeBlocks, type Draft, note } from './sanitize-draft.ts';

/**
 * Drops blocks without signature, cut or copied, with the rest of their message's thinking; and, on models that bind
 * thinking to what was before, all older thinking too, as a gap in the middle would be noticed.
 */
export function cleanThinking(drafts: readonly Draft[], context: Context): readonly Draft[] {
  const seen = new Set<unknown>();
  let lastDamaged = -1;
  const cleaned = drafts.map((draft, i) => {
    if (!draft.blocks.some(isThinkingBlock)) return draft;
    const blocks = draft.blocks.flatMap((block): (ContentBlock | 'damaged')[] => {
      if (!isThinkingBlock(block)) return [block];
      const proof = proofOf(block);
      if (draft.role !== 'assistant' || seen.has(proof)) return [];
      if (proof !== undefined) seen.add(proof);
      return proof === undefined ? ['damaged'] : [restored(block)];
    });
    const isDamaged = blocks.includes('damaged');
    if (isDamaged) lastDamaged = i;
    const kept = blocks.filter((b) => b !== 'damaged').filter((b) => !(isDamaged && isThinkingBlock(b)));
    const changed = changeBlocks(draft, kept);
    if (changed !== draft)
      note(
        context,
        'thinking.signature_invalid',
        draft.source,
        'thinking that cannot be sent was put right or left out',
      );
    return changed;
  });
  if (!context.facts.bindsThinking || lastDamaged === -1) return cleaned;
  return cleaned.map((draft, i) => (i < lastDamaged ? dropThinking(draft, context) : draft));
}

/** What a block is recognised by; undefined where it cannot be sent. */
function proofOf(block: ContentBlock): string | undefined {
  if (block.type === 'redacted_thinking') return isSendable(block.data) ? block.data : undefined;
  const { thinking, signature } = block;
  const hasText =
    thinking === undefined || thinking === null || (typeof thinking === 'string' && thinking.isWellFormed());
  return hasText && isSendable(signature) ? signature : undefined;
}

const isSendable = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && value.isWellFormed();

/** With the empty text that a store turned into nothing. */
function restored(block: ContentBlock): ContentBlock {
  if (block.type !== 'thinking' || typeof block.thinking === 'string') return block;
  return { ...block, thinking: '' };
}

export function dropThinking(draft: Draft, context: Context): Draft {
  const changed = changeBlocks(
    draft,
    draft.blocks.filter((block) => !isThinkingBlock(block)),
  );
  if (changed !== draft)
    note(context, 'thinking.prefix_mismatch', draft.source, 'thinking bound to another history was left out');
  return changed;
}
