// List prices of the Messages API as of 2026-12-01, and the cost of a call by them. A model that is not in the table
// costs what the dearest current family costs, so that a budget holds.

import type { ModelUsage, UsageTotals } from '../types/message.ts';
import { type ModelFamily, parseModel } from './facts/model-facts.ts';

/** Micro-cents (millionths of a US cent) per token: 100 is one dollar per million tokens. */
export interface TokenPrice {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite5m: number;
  readonly cacheWrite1h: number;
}

const DOLLAR_PER_MILLION = 100;
const WEB_SEARCH_MICRO_CENTS = 1_000_000; // ten dollars per thousand searches
const HAIKU_LONG_PROMPT_TOKENS = 100_000;

/** Writes cost 1.25 and 2 times the input; reads a tenth of it, on newer models less. */
const price = (input: number, output: number, readShare = 0.1): TokenPrice => ({
  input: input * DOLLAR_PER_MILLION,
  output: output * DOLLAR_PER_MILLION,
  cacheRead: input * DOLLAR_PER_MILLION * readShare,
  cacheWrite5m: input * DOLLAR_PER_MILLION * 1.25,
  cacheWrite1h: input * DOLLAR_PER_MILLION * 2,
});

/** Dollars per million tokens of each family from a version on (5.1 = 501), newest first. */
const PRICES: Readonly<Record<ModelFamily, readonly (readonly [from: number, TokenPrice])[]>> = {
  fable: [
    [502, price(8, 40, 0.025)],
    [501, price(10, 50, 0.025)],
    [0, price(10, 50)],
  ],
  mythos: [
    [502, price(8, 40, 0.025)],
    [501, price(10, 50, 0.025)],
    [0, price(10, 50)],
  ],
  opus: [
    [505, price(4, 20, 0.05)],
    [405, price(5, 25)],
    [0, price(15, 75)],
  ],
  sonnet: [
    [505, price(2, 10, 0.05)],
    [500, price(2, 10)],
    [0, price(3, 15)],
  ],
  haiku: [
    [505, price(0.1, 0.5)],
    [400, price(1, 5)],
    [305, price(0.8, 4)],
    [0, price(0.25, 1.25)],
  ],
};
const HAIKU_LONG = price(0.5, 2.5);
const UNKNOWN = price(10, 50);

/** The prices of a model for a prompt of this many tokens (cached ones included). */
export function priceOf(model: string, promptTokens: number): TokenPrice {
  const known = parseModel(model);
  if (!known) return UNKNOWN;
  const { family, version } = known;
  if (family === 'haiku' && version >= 505 && promptTokens > HAIKU_LONG_PROMPT_TOKENS) return HAIKU_LONG;
  return PRICES[family].find(([from]) => version >= from)?.[1] ?? UNKNOWN;
}

/** What one call costs at list price, web searches included, in millionths of a US cent; an integer, rounded up. */
export function costMicroCents(model: string, usage: ModelUsage): number {
  const writes = cacheWrites(usage);
  const promptTokens = usage.input_tokens + usage.cache_read_input_tokens + writes.fiveMinutes + writes.oneHour;
  const rate = priceOf(model, promptTokens);
  const tokens =
    usage.input_tokens * rate.input +
    usage.output_tokens * rate.output +
    usage.cache_read_input_tokens * rate.cacheRead +
    writes.fiveMinutes * rate.cacheWrite5m +
    writes.oneHour * rate.cacheWrite1h;
  // One thousandth is taken off first, or the error of a product such as 10 × 0.1 would round up to one more.
  return Math.ceil(tokens - 0.001) + (usage.server_tool_use?.web_search_requests ?? 0) * WEB_SEARCH_MICRO_CENTS;
}

/** Written tokens by lifetime; those that the breakdown does not name count as the five-minute ones. */
function cacheWrites(usage: ModelUsage): { readonly fiveMinutes: number; readonly oneHour: number } {
  const oneHour = usage.cache_creation?.ephemeral_1h_input_tokens ?? 0;
  const named = oneHour + (usage.cache_creation?.ephemeral_5m_input_tokens ?? 0);
  return { fiveMinutes: Math.max(named, usage.cache_creation_input_tokens) - oneHour, oneHour };
}

/** The totals after one more call. */
export function addUsage(totals: UsageTotals, usage: ModelUsage, model: string): UsageTotals {
  const writes = cacheWrites(usage);
  return {
    inputTokens: totals.inputTokens + usage.input_tokens,
    outputTokens: totals.outputTokens + usage.output_tokens,
    cacheReadTokens: totals.cacheReadTokens + usage.cache_read_input_tokens,
    cacheWrite5mTokens: totals.cacheWrite5mTokens + writes.fiveMinutes,
    cacheWrite1hTokens: totals.cacheWrite1hTokens + writes.oneHour,
    webSearches: totals.webSearches + (usage.server_tool_use?.web_search_requests ?? 0),
    webFetches: totals.webFetches + (usage.server_tool_use?.web_fetch_requests ?? 0),
    costMicroCents: totals.costMicroCents + costMicroCents(model, usage),
    activeMs: totals.activeMs,
  };
}
