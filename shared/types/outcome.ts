// How a turn ends, and how a model call failed.

import type { EventId } from './ids.ts';

export interface ModelFailure {
  /** The wire's `session.error.error.type` (digest 13). */
  readonly type:
    | 'model_overloaded_error'
    | 'model_rate_limited_error'
    | 'model_request_failed_error'
    | 'billing_error'
    | 'unknown_error'
    | 'tool_use_limit_reached_error'
    | 'mcp_connection_failed_error';
  /** For people; never holds keys, headers or internals. */
  readonly message: string;
}

export type TurnLimit = 'model_calls' | 'tokens' | 'wall_clock';

export type TurnOutcome =
  | { readonly kind: 'completed' }
  | { readonly kind: 'requires_action'; readonly eventIds: readonly EventId[] }
  | { readonly kind: 'budget_reached' }
  | { readonly kind: 'limit'; readonly limit: TurnLimit; readonly value: number }
  | { readonly kind: 'refused'; readonly category: string | null; readonly explanation: string | null }
  | { readonly kind: 'interrupted' }
  | { readonly kind: 'retries_exhausted'; readonly error: ModelFailure }
  | { readonly kind: 'failed'; readonly error: ModelFailure };
