// The parts of a request body, whatever came: a body may reach these readers without having been checked.

import type { Block, RequestBody } from './script.ts';

const isObject = (value: unknown): value is Block =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A string is one text block; what is no block is left out. */
export function asBlocks(content: unknown): readonly Block[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }];
  return Array.isArray(content) ? content.filter(isObject) : [];
}

export const messagesOf = (
  request: RequestBody,
): readonly { readonly role: string; readonly blocks: readonly Block[] }[] =>
  asBlocks(request.messages).map((message) => ({ role: String(message.role), blocks: asBlocks(message.content) }));
