// A turn and what is folded from the log: the state that every decision is made from.

import type { EpochMs, EventId, ToolUseId, TurnId, WorkspacePath } from './ids.ts';
import type { Limits } from './limits.ts';
import type { CallKind, EntryBody, FileRef, InboxEvent, LogEntry, Repair, ShellState } from './log.ts';
import type { ContentBlock, Message, UsageTotals } from './message.ts';
import type { ModelFailure, TurnOutcome } from './outcome.ts';
import type { PermissionMode } from './permission.ts';
import type { AgentSnapshot, Budget, FileResource, Metadata, Session } from './session.ts';

/** One tool call of the latest answer, from the message until all calls of that answer have results. */
export interface CallState {
  readonly toolUseId: ToolUseId;
  readonly modelSeq: number;
  readonly block: number;
  readonly eventId: EventId;
  readonly name: string;
  /** The input to run with: the model's own, or an approver's edit. */
  readonly input: Readonly<Record<string, unknown>>;
  readonly kind: CallKind;
  readonly decision: 'allow' | 'ask' | 'deny' | null;
  readonly reason: string;
  readonly confirmation: { readonly result: 'allow' | 'deny'; readonly message: string | null } | null;
  readonly started: boolean;
  readonly result: { readonly content: readonly ContentBlock[]; readonly isError: boolean } | null;
}

/** Counted over one user input, across `requires_action` and hand-overs; waiting is not counted. */
export interface TurnCounters {
  readonly turnId: TurnId;
  readonly modelCalls: number;
  readonly tokens: number;
  readonly activeMs: number;
  /** Failed attempts of the current model step. */
  readonly attempts: number;
  readonly waitedMs: number;
}

export interface SessionState {
  readonly session: Session;
  /** Current values, after all `session_updated`. */
  readonly agent: AgentSnapshot;
  readonly title: string | null;
  readonly metadata: Metadata;
  readonly budget: Budget | null;
  readonly resources: readonly FileResource[];
  readonly mode: PermissionMode | null;
  readonly archivedAt: EpochMs | null;
  readonly updatedAt: EpochMs;
  readonly lastSeq: number;
  readonly epoch: number;
  /** The history as the model is to see it, before sanitising. */
  readonly messages: readonly Message[];
  readonly calls: readonly CallState[];
  readonly turnOpen: boolean;
  readonly turnStartedAt: EpochMs | null;
  readonly counters: TurnCounters | null;
  /** The `model_started` that has no outcome yet. */
  readonly openModel: { readonly seq: number; readonly attempt: number; readonly model: string } | null;
  /** Set by a `message` until the next step: how the last answer ended. */
  readonly lastStop: {
    readonly stopReason: string;
    readonly category: string | null;
    readonly explanation: string | null;
    readonly cut: boolean;
    readonly callCut: boolean;
    readonly hadCalls: boolean;
  } | null;
  /** Set by a `model_failed` until the next `model_started`. */
  readonly lastFailure: {
    readonly retry: 'retrying' | 'exhausted' | null;
    readonly reason: string;
    readonly error: ModelFailure | null;
    readonly waitMs: number;
    readonly at: EpochMs;
  } | null;
  readonly lastOutcome: TurnOutcome | null;
  readonly toolsOffered: string | null;
  /** What the newest `repaired` says: the same repairs are told once. */
  readonly lastRepairs: readonly Repair[];
  readonly totals: UsageTotals;
  /** Ids of inbox events that the log has taken, with the seq that took them; oldest first. */
  readonly inputs: readonly { readonly id: EventId; readonly seq: number }[];
  readonly files: ReadonlyMap<WorkspacePath, FileRef>;
  readonly shell: ShellState;
}

/** What to do next; the only place where control flow is decided is `core/next-step`. */
export type NextStep =
  | { readonly kind: 'append'; readonly entries: readonly EntryBody[] }
  | { readonly kind: 'call_model'; readonly attempt: number; readonly waitMs: number }
  | { readonly kind: 'run_tools'; readonly calls: readonly CallState[] }
  | { readonly kind: 'compact' }
  /** The turn is over (or pauses): append this and leave. */
  | { readonly kind: 'end'; readonly outcome: TurnOutcome; readonly entries: readonly EntryBody[] }
  /** No turn is open and nothing can be taken now. */
  | { readonly kind: 'wait' };

export interface StepInput {
  readonly state: SessionState;
  /** Open inbox events, in order of acceptance. */
  readonly inbox: readonly InboxEvent[];
  readonly now: EpochMs;
  readonly limits: Limits;
  /** The id for a turn that this step may start. */
  readonly newTurnId: TurnId;
}

export type WireEventType =
  | 'agent.message'
  | 'agent.thinking'
  | 'agent.tool_use'
  | 'agent.custom_tool_use'
  | 'agent.mcp_tool_use';

/** What leaves a running turn through `emit`: entries are the truth, previews are announced and never state. */
export type TurnEvent =
  | { readonly kind: 'entries'; readonly entries: readonly LogEntry[] }
  | { readonly kind: 'accepted'; readonly events: readonly InboxEvent[] }
  | {
      readonly kind: 'preview_start';
      readonly eventType: WireEventType;
      readonly eventId: EventId;
      readonly name?: string;
    }
  | {
      readonly kind: 'preview_delta';
      readonly eventType: WireEventType;
      readonly eventId: EventId;
      /** Index among the event's `content`. */
      readonly index: number;
      readonly text: string;
    }
  | { readonly kind: 'deleted' };
