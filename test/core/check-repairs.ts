// How repairs are checked: what comes out, that something was noted, and that a second run changes nothing.
import { expect } from 'vitest';
import { OUTCOME_UNKNOWN } from '../../shared/core/sanitize/sanitize-pairs.ts';
import { type SanitizeOptions, sanitizeMessages } from '../../shared/core/sanitize-messages.ts';
import type { ContentBlock, Message } from '../../shared/types/message.ts';
import { assistant, errorResult, text, toolResult, toolUse, user } from './make-messages.ts';

export const OPUS = { model: 'claude-opus-5-5' };
export const UNKNOWN = (id: string) => errorResult(id, OUTCOME_UNKNOWN);
export const CARRIED = 'Output of a tool whose call is not in this conversation:';
export const DOT = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABAQAAAAA3bvkkAAAACklEQVR42mNgAAAAAgAB5Sfe/AAAAABJRU5ErkJggg==';
export const WIDE = 'iVBORw0KGgoAAAANSUhEUgAACDQAAAABAQAAAADTd1Ed';
export const image = (data = DOT, type = 'image/png'): ContentBlock => ({
  type: 'image',
  source: { type: 'base64', media_type: type, data },
});
export const serverCall = (id: string, name = 'web_search'): ContentBlock => ({
  type: 'server_tool_use',
  id,
  name,
  input: {},
});
export const serverResult = (id: string): ContentBlock => ({
  type: 'web_search_tool_result',
  tool_use_id: id,
  content: [],
});
export const fromCode = { ...toolUse('t1'), caller: { type: 'code_execution_20250825', tool_id: 's1' } };
export const compaction = { type: 'compaction', content: 'sum', signature: 'x' };
export const marked = (block: ContentBlock): ContentBlock => ({ ...block, cache_control: { type: 'ephemeral' } });

export const pair = [user('go'), assistant(toolUse('t1')), user(toolResult('t1'))];

/** Same-role messages in a row are one turn: how they are cut into messages does not matter here. */
export function turns(messages: readonly Message[]): readonly Message[] {
  const merged: { role: Message['role']; content: ContentBlock[] }[] = [];
  for (const { role, content } of messages) {
    const blocks = typeof content === 'string' ? [text(content)] : content;
    if (merged.at(-1)?.role === role) merged.at(-1)?.content.push(...blocks);
    else merged.push({ role, content: [...blocks] });
  }
  return merged;
}

export function check(given: unknown, expected: readonly Message[], options: SanitizeOptions = OPUS): void {
  const result = sanitizeMessages(given as readonly Message[], options);
  expect(turns(result.messages)).toEqual(turns(expected));
  expect(result.repairs.length).toBeGreaterThan(0);
  expect(result.repairs.map((repair) => repair.rule)).not.toContain('request.unsound');
  expect(sanitizeMessages(result.messages, options)).toEqual({ messages: result.messages, repairs: [] });
}

/** One kind of repair: its name, a history, what it becomes. */
export type RepairRow = [string, unknown, readonly Message[], SanitizeOptions?];
