// What the doors may ask of the turn: load a session, accept events for it, run it, follow it.

import type { EventId, SessionId, TenantId } from '../types/ids.ts';
import type { InboxEvent } from '../types/log.ts';
import type { SessionState, TurnEvent } from '../types/turn.ts';

export type SessionStatus = 'idle' | 'running' | 'rescheduling' | 'terminated';

/** A consistent view: the inbox was read before the log, and events that the log has are not in `inbox`. */
export interface SessionSnapshot {
  readonly state: SessionState;
  /** Open events in order of acceptance, control events included. */
  readonly inbox: readonly InboxEvent[];
  readonly leaseLive: boolean;
  readonly status: SessionStatus;
  /** Revision of the session's record; guards an accept against a delete. */
  readonly sessionRev: string;
}

export interface IdempotencyKey {
  readonly key: string;
  /** Hash of route and body: the same key with another one is a 422. */
  readonly fingerprint: string;
  /** The answer to store with the acceptance, JSON. */
  readonly answer: unknown;
}

export interface AcceptRequest {
  readonly tenant: TenantId;
  readonly session: SessionId;
  readonly sessionRev: string;
  readonly events: readonly InboxEvent[];
  /** One per answer (confirmation, custom or tool result): the call's event id. */
  readonly claims: readonly { readonly call: EventId; readonly event: EventId }[];
  readonly idempotency?: IdempotencyKey;
  /** How many open events the caller has just seen, so that they need not be counted again. */
  readonly open?: number;
}

export type AcceptOutcome =
  | { readonly kind: 'accepted' }
  | { readonly kind: 'deleted' }
  | { readonly kind: 'claimed'; readonly call: EventId }
  | { readonly kind: 'full' }
  | { readonly kind: 'repeated'; readonly fingerprint: string; readonly answer: unknown };

export interface FollowFrom {
  readonly afterSeq: number;
  /** Whether the still open inbox events follow the replay (a resumed stream) or not (a stream from now on). */
  readonly openEvents: boolean;
}

export interface Engine {
  /** Warm where this process has seen the session: then only the log's tail is read. */
  load(tenant: TenantId, session: SessionId): Promise<SessionSnapshot | 'deleted' | undefined>;
  /** Stores, echoes the queued events to readers of this process, and starts the work. */
  accept(request: AcceptRequest): Promise<AcceptOutcome>;
  /** Takes the lease if it is free and works until nothing is left to do here. Never throws for what a turn may meet. */
  run(tenant: TenantId, session: SessionId): Promise<void>;
  /**
   * Entries after `from.afterSeq`, gap-free and in order, then live with previews and queued echoes. One yielded batch is
   * what arrived in one tick. It listens from the call on, not from the first pull. Ends after `deleted` or on abort; a
   * reader that must be shed (too far behind) is the caller's to abort.
   */
  follow(
    tenant: TenantId,
    session: SessionId,
    from: FollowFrom,
    signal: AbortSignal,
  ): AsyncIterable<readonly TurnEvent[]>;
  /** Wakes every session that is due and not run here; at the start and now and then: what a dead process left goes on. */
  resumeDue(): Promise<void>;
  /** Tells this process's readers that the session is gone. */
  announceDeleted(session: SessionId): void;
  /** Waits for running turns to end (at most `timeoutMs`), for a clean shutdown. */
  drain(timeoutMs: number): Promise<void>;
}
