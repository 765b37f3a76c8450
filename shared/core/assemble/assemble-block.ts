// One block of an answer while it streams: as it started, and what deltas have added to it.

import type { ContentBlock } from '../../types/message.ts';
import { type Fields, isRecord, setField, stringOr } from '../facts/fields.ts';

/** A block that has started and not stopped: what it started as, and what deltas have added. */
export interface OpenBlock {
  readonly index: number;
  readonly type: string;
  readonly start: ContentBlock;
  readonly text: string;
  readonly thinking: string;
  readonly signature: string;
  /** Tool input so far, as partial JSON. */
  readonly json: string;
}

/** A block that starts here. */
export const openBlock = (index: number, start: ContentBlock): OpenBlock => ({
  index,
  type: start.type,
  start,
  text: stringOr(start.text, ''),
  thinking: stringOr(start.thinking, ''),
  signature: stringOr(start.signature, ''),
  json: '',
});

/** The block with one more delta; the same object where the delta has nothing. */
export function extendBlock(open: OpenBlock, delta: Fields): OpenBlock {
  switch (delta.type) {
    case 'text_delta':
      return typeof delta.text === 'string' ? { ...open, text: open.text + delta.text } : open;
    case 'thinking_delta':
      return typeof delta.thinking === 'string' ? { ...open, thinking: open.thinking + delta.thinking } : open;
    case 'signature_delta':
      return typeof delta.signature === 'string' ? { ...open, signature: open.signature + delta.signature } : open;
    case 'input_json_delta':
      return typeof delta.partial_json === 'string' ? { ...open, json: open.json + delta.partial_json } : open;
    case 'citations_delta': {
      const before = Array.isArray(open.start.citations) ? (open.start.citations as readonly unknown[]) : [];
      return { ...open, start: { ...open.start, citations: [...before, delta.citation] } };
    }
    default:
      return { ...open, start: keepUnknown(open.start, delta) };
  }
}

/** A delta of unknown type: its texts go on where the block has a text of that name, its other values are set. */
function keepUnknown(block: ContentBlock, delta: Fields): ContentBlock {
  const next: Record<string, unknown> = { ...block };
  for (const [key, value] of Object.entries(delta)) {
    if (key === 'type') continue;
    const before = Object.hasOwn(block, key) ? block[key] : undefined;
    setField(next, key, typeof value === 'string' && typeof before === 'string' ? before + value : value);
  }
  return next as ContentBlock;
}

/** Block types that carry a tool's input. */
export const isCall = (type: string): boolean =>
  type === 'tool_use' || type === 'server_tool_use' || type === 'mcp_tool_use';

/** A call's input as an object, null where it is none; undefined for other blocks. No characters at all mean what the block started with, else {}. */
export function readInput(open: OpenBlock): Fields | null | undefined {
  if (!isCall(open.type) && open.json === '') return undefined;
  if (open.json.trim() === '') return isRecord(open.start.input) ? open.start.input : {};
  try {
    const value: unknown = JSON.parse(open.json);
    return isRecord(value) ? value : null;
  } catch {
    return null;
  }
}

/** The block with what deltas added, its own field order kept. */
export function closeBlock(open: OpenBlock): ContentBlock {
  const { start } = open;
  switch (open.type) {
    case 'text':
      return { ...start, text: open.text } as ContentBlock;
    case 'thinking':
      return { ...start, thinking: open.thinking, signature: open.signature } as ContentBlock;
    default: {
      const added: Record<string, unknown> = {};
      for (const key of ['text', 'thinking', 'signature'] as const) if (open[key] !== '') added[key] = open[key];
      return { ...start, ...added } as ContentBlock;
    }
  }
}
