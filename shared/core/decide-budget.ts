// Which limit stands in the way of one more model call. Limits count over one user input (design 5), money over the session.

import type { Limits } from '../types/limits.ts';
import type { TurnOutcome } from '../types/outcome.ts';
import type { RepriseSettings } from '../types/session.ts';
import type { SessionState } from '../types/turn.ts';

const MICRO_CENTS_PER_CENT = 1_000_000;

/** The outcome that ends the turn before its next model call, or null where nothing is in the way. */
export function decideBudget(state: SessionState, now: number, limits: Limits): TurnOutcome | null {
  if (isBudgetReached(state)) return { kind: 'budget_reached' };
  const counters = state.counters;
  if (!counters) return null;
  const max = turnLimits(state, limits);
  if (counters.modelCalls >= max.modelCalls) return { kind: 'limit', limit: 'model_calls', value: max.modelCalls };
  if (counters.tokens >= max.tokens) return { kind: 'limit', limit: 'tokens', value: max.tokens };
  const active = counters.activeMs + (state.turnStartedAt === null ? 0 : now - state.turnStartedAt);
  if (active >= max.wallClockMs) return { kind: 'limit', limit: 'wall_clock', value: max.wallClockMs };
  return null;
}

/** Whether the session's money is used up: the crossing request finishes, no second one starts (wire digest 14). */
export const isBudgetReached = (state: SessionState): boolean =>
  state.budget !== null && state.totals.costMicroCents >= state.budget.maxListCostCents * MICRO_CENTS_PER_CENT;

/** The limits of a turn: the session's own where set, never above the service's. */
export function turnLimits(
  state: SessionState,
  limits: Limits,
): { modelCalls: number; tokens: number; wallClockMs: number } {
  const own: NonNullable<RepriseSettings['limits']> = {
    ...state.agent.reprise.limits,
    ...state.session.reprise.limits,
  };
  return {
    modelCalls: Math.min(own.model_calls ?? limits.turnModelCallsMax, limits.turnModelCallsMax),
    tokens: Math.min(own.tokens ?? limits.turnTokensMax, limits.turnTokensMax),
    wallClockMs: Math.min((own.wall_clock_seconds ?? Number.POSITIVE_INFINITY) * 1000, limits.turnWallClockMs),
  };
}
