// The content blocks that the Messages API takes: in whose turn, with which fields. For checking and for repairing.

import { type Fields, isRecord } from './fields.ts';

export type BlockRole = 'user' | 'assistant' | 'system';

interface BlockFacts {
  readonly roles: readonly BlockRole[];
  /** All fields but `type` and `cache_control`; null where the set is not known well enough to judge. */
  readonly fields: readonly string[] | null;
  /** Whether it may stand inside a tool_result. */
  readonly inResult?: true;
}

const FACTS: Readonly<Record<string, BlockFacts>> = {
  text: { roles: ['user', 'assistant', 'system'], fields: ['text', 'citations'], inResult: true },
  image: { roles: ['user'], fields: ['source', 'transformations'], inResult: true },
  document: { roles: ['user'], fields: ['source', 'title', 'context', 'citations'], inResult: true },
  search_result: { roles: ['user'], fields: ['source', 'title', 'content', 'citations'], inResult: true },
  tool_reference: { roles: [], fields: ['tool_name'], inResult: true },
  browser_state: { roles: [], fields: null, inResult: true },
  tool_result: { roles: ['user'], fields: ['tool_use_id', 'content', 'is_error', 'toolset_name'] },
  tool_use: { roles: ['assistant'], fields: ['id', 'name', 'input', 'caller', 'toolset_name'] },
  server_tool_use: { roles: ['assistant'], fields: ['id', 'name', 'input', 'caller'] },
  mcp_tool_use: { roles: ['assistant'], fields: ['id', 'name', 'input', 'server_name'] },
  thinking: { roles: ['assistant'], fields: ['thinking', 'signature'] },
  redacted_thinking: { roles: ['assistant'], fields: ['data'] },
  compaction: { roles: ['assistant'], fields: null },
  fallback: { roles: ['assistant'], fields: null },
  container_upload: { roles: ['user', 'assistant'], fields: null },
  tool_addition: { roles: ['user', 'system'], fields: null },
  tool_removal: { roles: ['user', 'system'], fields: null },
};

const SERVER_RESULT: BlockFacts = { roles: ['assistant'], fields: null };

/** What is known of a block type; undefined for one that the API does not take. */
export function blockFacts(type: unknown): BlockFacts | undefined {
  if (typeof type !== 'string') return undefined;
  if (Object.hasOwn(FACTS, type)) return FACTS[type];
  return isServerResultType(type) ? SERVER_RESULT : undefined;
}

const isServerResultType = (type: string): boolean => type.endsWith('_tool_result') && type !== 'tool_result';

/** The result block of a tool that the API runs itself; it stands in the assistant's turn. */
export const isServerResult = (block: Fields): boolean =>
  typeof block.type === 'string' && isServerResultType(block.type);
/** A call of a tool that the API runs itself. */
export const isServerCall = (block: Fields): boolean =>
  block.type === 'server_tool_use' || block.type === 'mcp_tool_use';
export const isThinkingBlock = (block: Fields): boolean =>
  block.type === 'thinking' || block.type === 'redacted_thinking';
/** A call that code running at the API made; its results must come alone. */
export const isFromCode = (call: Fields): boolean =>
  isRecord(call.caller) && typeof call.caller.type === 'string' && call.caller.type.startsWith('code_execution');

/** Fields that the block has and its type has not. */
export function extraFields(block: Fields): readonly string[] {
  const fields = blockFacts(block.type)?.fields;
  if (!fields) return [];
  return Object.keys(block).filter((key) => key !== 'type' && key !== 'cache_control' && !fields.includes(key));
}

const ID = /^[a-zA-Z0-9_-]+$/;
export const isGoodId = (id: unknown): id is string => typeof id === 'string' && ID.test(id);

export const NAME_CHARS_MAX = 200;
export const isGoodName = (name: unknown): name is string =>
  typeof name === 'string' && name.length > 0 && name.length <= NAME_CHARS_MAX;

/** Whether a text is white space only. */
export const isBlank = (text: string): boolean => text.trim() === '';

/** A compaction block made on demand: it has to be the first block of a request. */
export const isSigned = (block: Fields): boolean =>
  block.type === 'compaction' && typeof block.signature === 'string' && block.signature !== '';
