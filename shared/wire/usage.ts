// Usage and budgets as the wire shows them: whole cents as text, tokens by kind, seconds of running time.

import { z } from 'zod';
import type { UsageTotals } from '../types/message.ts';
import type { Budget } from '../types/session.ts';
import { orNull } from './common.ts';

const MICRO_CENTS_PER_CENT = 1_000_000;

const Money = z
  .object({ amount: z.string().describe('Whole US cents'), currency: z.literal('USD') })
  .meta({ id: 'Money' });

export const BudgetInput = z
  .object({
    type: z.literal('limit'),
    max_list_cost: z.object({
      amount: z
        .string()
        .regex(/^[1-9]\d{0,11}$/, 'must be a whole number of cents as text, above 0, without leading zeros'),
      currency: z.literal('USD'),
    }),
  })
  .meta({ id: 'BudgetInput' });

export const BudgetView = z.object({ type: z.literal('limit'), max_list_cost: Money }).meta({ id: 'Budget' });

export const UsageView = z
  .object({
    input_tokens: z.number().int(),
    output_tokens: z.number().int(),
    cache_read_input_tokens: z.number().int(),
    cache_creation: z.object({
      ephemeral_5m_input_tokens: z.number().int(),
      ephemeral_1h_input_tokens: z.number().int(),
    }),
    list_cost: Money,
    active_seconds: z.number(),
    server_tool_use: z.object({ web_search_requests: z.number().int(), web_fetch_requests: z.number().int() }),
  })
  .meta({ id: 'Usage' });
export type UsageView = z.infer<typeof UsageView>;

export const NullableBudget = orNull(BudgetView);
export type BudgetView = z.infer<typeof BudgetView>;

export const budgetOf = (input: z.infer<typeof BudgetInput>): Budget => ({
  maxListCostCents: Number(input.max_list_cost.amount),
});

export const budgetView = (budget: Budget | null): BudgetView | null =>
  budget === null
    ? null
    : { type: 'limit', max_list_cost: { amount: String(budget.maxListCostCents), currency: 'USD' } };

/** Cents consumed so far, rounded up. */
export const centsOf = (totals: UsageTotals): number => Math.ceil(totals.costMicroCents / MICRO_CENTS_PER_CENT);

export const usageView = (totals: UsageTotals): UsageView => ({
  input_tokens: totals.inputTokens,
  output_tokens: totals.outputTokens,
  cache_read_input_tokens: totals.cacheReadTokens,
  cache_creation: {
    ephemeral_5m_input_tokens: totals.cacheWrite5mTokens,
    ephemeral_1h_input_tokens: totals.cacheWrite1hTokens,
  },
  list_cost: { amount: String(centsOf(totals)), currency: 'USD' },
  active_seconds: totals.activeMs / 1000,
  server_tool_use: { web_search_requests: totals.webSearches, web_fetch_requests: totals.webFetches },
});
