// Usage as the stream gives it: `message_start` has the input side, each `message_delta` the cumulative counts so far.

import type { ModelUsage } from '../../types/message.ts';
import { type Fields, isRecord } from './fields.ts';

/** `before` with every count that `given` has; counts that are absent, null or no whole number ≥ 0 stay as they were. */
export function mergeUsage(before: ModelUsage, given: Fields): ModelUsage {
  const merged = {
    input_tokens: countOr(given.input_tokens, before.input_tokens),
    output_tokens: countOr(given.output_tokens, before.output_tokens),
    cache_read_input_tokens: countOr(given.cache_read_input_tokens, before.cache_read_input_tokens),
    cache_creation_input_tokens: countOr(given.cache_creation_input_tokens, before.cache_creation_input_tokens),
  };
  const { cache_creation: creation, server_tool_use: tools } = given;
  const cacheCreation = isRecord(creation)
    ? {
        ephemeral_5m_input_tokens: countOr(creation.ephemeral_5m_input_tokens, 0),
        ephemeral_1h_input_tokens: countOr(creation.ephemeral_1h_input_tokens, 0),
      }
    : before.cache_creation;
  const serverTools = isRecord(tools)
    ? {
        web_search_requests: countOr(tools.web_search_requests, before.server_tool_use?.web_search_requests ?? 0),
        web_fetch_requests: countOr(tools.web_fetch_requests, before.server_tool_use?.web_fetch_requests ?? 0),
      }
    : before.server_tool_use;
  return {
    ...merged,
    ...(cacheCreation ? { cache_creation: cacheCreation } : {}),
    ...(serverTools ? { server_tool_use: serverTools } : {}),
  };
}

const countOr = (value: unknown, otherwise: number): number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : otherwise;
