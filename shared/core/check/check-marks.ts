// Cache marks: how many, on what, and in which order of lifetimes.

import { isThinkingBlock } from '../facts/block-facts.ts';
import { type Fields, isRecord } from '../facts/fields.ts';
import type { Checked } from './check-report.ts';

const MARKS_MAX = 4;

/** Rules `cache.*`. */
export function checkMarks({ body, blocks, report }: Checked): void {
  const marked: Marked[] = [];
  collect(body.tools, 'tools', marked);
  collect(body.system, 'system', marked);
  for (const { block, path } of blocks) {
    if (isMark(block.cache_control)) marked.push({ block, path });
    if (block.type === 'tool_result') collect(block.content, `${path}.content`, marked);
  }
  const count = marked.length + (isMark(body.cache_control) ? 1 : 0);
  if (count > MARKS_MAX) report('cache.too_many', 'messages', 'a maximum of 4 blocks with cache_control');
  let hasShort = false;
  for (const { block, path } of marked) {
    if (isThinkingBlock(block)) report('cache.on_thinking', path, 'cache_control cannot be set for thinking blocks');
    if (block.type === 'text' && block.text === '') {
      report('cache.empty_text', path, 'cache_control cannot be set for empty text blocks');
    }
    const isLong = isRecord(block.cache_control) && block.cache_control.ttl === '1h';
    if (isLong && hasShort) report('cache.ttl_order', path, 'a 1h mark must not come after a 5m mark');
    hasShort ||= !isLong;
  }
}

interface Marked {
  readonly block: Fields;
  readonly path: string;
}

const isMark = (value: unknown): boolean => value !== undefined && value !== null;

function collect(blocks: unknown, path: string, marked: Marked[]): void {
  if (!Array.isArray(blocks)) return;
  blocks.forEach((block: unknown, i) => {
    if (isRecord(block) && isMark(block.cache_control)) marked.push({ block, path: `${path}.${i}` });
  });
}
