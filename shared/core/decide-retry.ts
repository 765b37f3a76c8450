// What a failed model call means: try again after a wait, or give up with the wire's error type (design 5, wire digest 13).

import type { Limits } from '../types/limits.ts';
import type { ModelFailure } from '../types/outcome.ts';

/** What the model port tells about a failure. */
export interface CallFailure {
  readonly kind: 'network' | 'http' | 'stream' | 'stalled' | 'cut' | 'aborted';
  readonly status: number | null;
  readonly apiType: string | null;
  readonly message: string;
  readonly retryAfterMs: number | null;
}

export interface RetryDecision {
  readonly error: ModelFailure;
  readonly retry: 'retrying' | 'exhausted';
  /** Milliseconds to wait before the next attempt; 0 where there is none. */
  readonly waitMs: number;
}

export interface RetryHistory {
  /** Failed attempts of this step before the one that is judged. */
  readonly attempts: number;
  readonly waitedMs: number;
  /** 0 ≤ x < 1, for the jitter. */
  readonly random: number;
}

const RETRYABLE_STATUS = new Set([408, 409, 429]);
const RETRYABLE_API = new Set(['overloaded_error', 'rate_limit_error', 'api_error', 'timeout_error']);

/** Backoff is exponential from `retryBaseMs` with full jitter in its upper half; `retry-after` is honoured within the limits. */
export function decideRetry(failure: CallFailure, history: RetryHistory, limits: Limits): RetryDecision {
  const error: ModelFailure = { type: failureType(failure), message: failure.message };
  const backoff = Math.min(limits.retryBaseMs * 2 ** history.attempts, limits.retryWaitMaxMs);
  const waitMs = Math.round(failure.retryAfterMs ?? backoff * (0.5 + history.random / 2));
  const attemptsLeft = history.attempts + 1 < limits.modelAttemptsMax;
  const timeLeft = history.waitedMs + waitMs <= limits.modelRetryWaitTotalMs;
  if (isRetryable(failure) && attemptsLeft && timeLeft) return { error, retry: 'retrying', waitMs };
  return { error, retry: 'exhausted', waitMs: 0 };
}

function isRetryable(failure: CallFailure): boolean {
  if (failure.kind === 'http') {
    const status = failure.status ?? 0;
    return RETRYABLE_STATUS.has(status) || status >= 500;
  }
  if (failure.kind === 'stream') return failure.apiType === null || RETRYABLE_API.has(failure.apiType);
  return failure.kind !== 'aborted';
}

function failureType(failure: CallFailure): ModelFailure['type'] {
  if (failure.status === 529 || failure.apiType === 'overloaded_error') return 'model_overloaded_error';
  if (failure.status === 429 || failure.apiType === 'rate_limit_error') return 'model_rate_limited_error';
  if (failure.status === 402 || failure.apiType === 'billing_error') return 'billing_error';
  return 'model_request_failed_error';
}
