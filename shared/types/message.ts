// The Messages API's own shapes, parsed loosely from storage: unknown fields and unknown block types are kept as they came.
// Guards narrow; nothing here changes a block.

import type { ToolUseId } from './ids.ts';

/** Any content block of the Messages API. `type` is the API's discriminator; narrow with the guards below. */
export interface ContentBlock {
  readonly type: string;
  readonly [field: string]: unknown;
}

export interface TextBlock extends ContentBlock {
  readonly type: 'text';
  readonly text: string;
}
export interface ThinkingBlock extends ContentBlock {
  readonly type: 'thinking';
  readonly thinking: string;
  readonly signature: string;
}
export interface ToolUseBlock extends ContentBlock {
  readonly type: 'tool_use';
  readonly id: ToolUseId;
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
}
export interface ToolResultBlock extends ContentBlock {
  readonly type: 'tool_result';
  readonly tool_use_id: ToolUseId;
  readonly content?: string | readonly ContentBlock[];
  readonly is_error?: boolean;
}

export const isText = (b: ContentBlock): b is TextBlock => b.type === 'text';
export const isThinking = (b: ContentBlock): b is ThinkingBlock => b.type === 'thinking';
export const isToolUse = (b: ContentBlock): b is ToolUseBlock => b.type === 'tool_use';
export const isToolResult = (b: ContentBlock): b is ToolResultBlock => b.type === 'tool_result';

/** One entry of the `messages` array. Ours always hold blocks, never a bare string. */
export interface Message {
  readonly role: 'user' | 'assistant' | 'system';
  readonly content: readonly ContentBlock[];
}

/** Token usage of one model call, in the API's names; counts of tokens. */
export interface ModelUsage {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cache_read_input_tokens: number;
  readonly cache_creation_input_tokens: number;
  readonly cache_creation?: { readonly ephemeral_5m_input_tokens: number; readonly ephemeral_1h_input_tokens: number };
  readonly server_tool_use?: { readonly web_search_requests: number; readonly web_fetch_requests: number };
}

export const NO_USAGE: ModelUsage = {
  input_tokens: 0,
  output_tokens: 0,
  cache_read_input_tokens: 0,
  cache_creation_input_tokens: 0,
};

/** Cumulative usage of a session; `activeMs` is the time turns were running. */
export interface UsageTotals {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWrite5mTokens: number;
  readonly cacheWrite1hTokens: number;
  readonly webSearches: number;
  readonly webFetches: number;
  /** List price in millionths of a US cent, an integer. */
  readonly costMicroCents: number;
  readonly activeMs: number;
}

export const NO_TOTALS: UsageTotals = {
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWrite5mTokens: 0,
  cacheWrite1hTokens: 0,
  webSearches: 0,
  webFetches: 0,
  costMicroCents: 0,
  activeMs: 0,
};
