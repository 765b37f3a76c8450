// Tiny constructors for histories.
import type { ContentBlock, Message } from '../../shared/types/message.ts';

export const text = (value: string): ContentBlock => ({ type: 'text', text: value });
export const thinking = (value: string, signature = `sig-${value}`): ContentBlock => ({
  type: 'thinking',
  thinking: value,
  signature,
});
export const toolUse = (id: string, name = 'bash', input: unknown = { command: id }): ContentBlock => ({
  type: 'tool_use',
  id,
  name,
  input,
});
export const toolResult = (id: string, content: unknown = `out ${id}`, more: object = {}): ContentBlock => ({
  type: 'tool_result',
  tool_use_id: id,
  content,
  ...more,
});
export const errorResult = (id: string, content: string): ContentBlock => toolResult(id, content, { is_error: true });

const blocks = (parts: readonly (string | ContentBlock)[]): readonly ContentBlock[] =>
  parts.map((part) => (typeof part === 'string' ? text(part) : part));
export const user = (...parts: readonly (string | ContentBlock)[]): Message => ({
  role: 'user',
  content: blocks(parts),
});
export const assistant = (...parts: readonly (string | ContentBlock)[]): Message => ({
  role: 'assistant',
  content: blocks(parts),
});
export const system = (...parts: readonly (string | ContentBlock)[]): Message => ({
  role: 'system',
  content: blocks(parts),
});
