import { expect, test } from 'vitest';
import { modelFacts, parseModel } from '../../shared/core/facts/model-facts.ts';
import { addUsage, costMicroCents } from '../../shared/core/price.ts';
import { type ModelUsage, NO_TOTALS, NO_USAGE } from '../../shared/types/message.ts';

const MILLION = 1_000_000;
const cents = (model: string, usage: Partial<ModelUsage>) => costMicroCents(model, { ...NO_USAGE, ...usage }) / MILLION;

test.each([
  ['claude-opus-5-5', { input_tokens: MILLION }, 400],
  ['claude-opus-5-5', { output_tokens: MILLION }, 2000],
  ['claude-opus-5-5', { cache_read_input_tokens: MILLION }, 20],
  ['claude-opus-4-1-20250805', { input_tokens: MILLION }, 1500],
  ['claude-opus-4-8', { input_tokens: MILLION }, 500],
  ['claude-fable-5-2', { cache_read_input_tokens: MILLION }, 20],
  ['claude-sonnet-4-5', { cache_creation_input_tokens: MILLION }, 375],
  [
    'claude-sonnet-4-5',
    {
      cache_creation_input_tokens: MILLION,
      cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: MILLION },
    },
    600,
  ],
  ['claude-haiku-5-5', { input_tokens: 100_000 }, 1],
  ['claude-haiku-5-5', { input_tokens: 200_000 }, 10],
  ['claude-haiku-4-5', { output_tokens: MILLION }, 500],
  ['anthropic.claude-3-5-haiku-20241022-v1:0', { output_tokens: MILLION }, 400],
  ['never-heard-of', { input_tokens: MILLION }, 1000],
  ['claude-opus-5-5', { server_tool_use: { web_search_requests: 3, web_fetch_requests: 9 } }, 3],
])('%s %j costs %d cents', (model, usage, expected) => {
  expect(cents(model, usage)).toBe(expected);
});

test('the cost is a whole number, rounded up', () => {
  expect(costMicroCents('claude-haiku-5-5', { ...NO_USAGE, cache_creation_input_tokens: 1 })).toBe(13);
  expect(costMicroCents('claude-haiku-5-5', { ...NO_USAGE, cache_read_input_tokens: 10 })).toBe(10);
  expect(costMicroCents('claude-haiku-5-5', NO_USAGE)).toBe(0);
});

test('totals add up', () => {
  const usage: ModelUsage = {
    input_tokens: 1,
    output_tokens: 2,
    cache_read_input_tokens: 3,
    cache_creation_input_tokens: 9,
    cache_creation: { ephemeral_5m_input_tokens: 4, ephemeral_1h_input_tokens: 5 },
    server_tool_use: { web_search_requests: 6, web_fetch_requests: 7 },
  };
  const once = addUsage(NO_TOTALS, usage, 'claude-opus-5-5');
  expect(addUsage(once, usage, 'claude-opus-5-5')).toEqual({
    inputTokens: 2,
    outputTokens: 4,
    cacheReadTokens: 6,
    cacheWrite5mTokens: 8,
    cacheWrite1hTokens: 10,
    webSearches: 12,
    webFetches: 14,
    costMicroCents: 2 * (400 + 2 * 2000 + 3 * 20 + 4 * 500 + 5 * 800 + 6 * MILLION),
    activeMs: 0,
  });
});

test.each([
  ['claude-opus-4-8', 'opus', 408],
  ['claude-haiku-4-5-20251001', 'haiku', 405],
  ['claude-sonnet-4-20250514', 'sonnet', 400],
  ['us.anthropic.claude-opus-4-1-20250805-v1:0', 'opus', 401],
  ['claude-3-7-sonnet-latest', 'sonnet', 307],
  ['claude-3-opus-20240229', 'opus', 300],
  ['claude-fable-5', 'fable', 500],
  ['anthropic/claude-opus-4.6', 'opus', 406],
])('%s is %s %d', (model, family, version) => {
  expect(parseModel(model)).toEqual({ family, version });
});

test.each([
  ['claude-fable-5-2', false, 'adaptive', true, true, false, false],
  ['claude-mythos-5-1', false, 'adaptive', true, false, false, false],
  ['claude-opus-5-5', false, 'adaptive', true, true, false, false],
  ['claude-sonnet-5-5', false, 'adaptive between_tools', true, true, false, false],
  ['claude-haiku-5-5', false, 'adaptive disabled', true, true, true, false],
  ['claude-mythos-5', false, 'adaptive', true, false, true, false],
  ['claude-opus-4-8', false, 'adaptive disabled', true, false, true, false],
  ['claude-sonnet-5', false, 'adaptive disabled', false, false, true, false],
  ['claude-opus-4-7', false, 'adaptive disabled', false, false, true, false],
  ['claude-sonnet-4-6', false, 'adaptive enabled disabled', false, false, true, true],
  ['claude-haiku-4-5', true, 'enabled disabled', false, false, true, true],
  ['unknown', false, 'adaptive', true, true, false, false],
])('facts of %s', (model, prefill, thinking, systemRole, binds, forced, textAfter) => {
  const facts = modelFacts(model);
  expect([
    facts.prefill,
    facts.thinkingTypes.join(' '),
    facts.systemRole,
    facts.bindsThinking,
    facts.forcedToolChoice,
    facts.textAfterToolUse,
  ]).toEqual([prefill, thinking, systemRole, binds, forced, textAfter]);
});
