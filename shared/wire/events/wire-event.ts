// An event of the wire as a value, and the two shapes that several projections share.

import type { EpochMs, EventId, SessionId } from '../../types/ids.ts';
import type { ModelFailure } from '../../types/outcome.ts';
import type { Budget } from '../../types/session.ts';
import { timestampOf } from '../common.ts';

/** One event, ready for JSON. */
export interface WireEvent {
  readonly id: string;
  readonly type: string;
  readonly processed_at: string | null;
  readonly [field: string]: unknown;
}

/** What an event needs beside its entry. `budget` is the session's current one. */
export interface EventContext {
  readonly session: SessionId;
  readonly agentName: string;
  readonly budget: Budget | null;
}

/** An event that the service made, processed at the time of its entry. */
export const made = (id: EventId, at: EpochMs, type: string, fields: object): WireEvent => ({
  id,
  type,
  processed_at: timestampOf(at),
  ...fields,
});

/** The `error` of a `session.error`. */
export const errorFields = (error: ModelFailure, retry: 'retrying' | 'exhausted'): object => ({
  type: error.type,
  message: error.message,
  retry_status: { type: retry },
});
