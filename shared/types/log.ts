// The log of a session: append-only, two layers (design 2). Message-layer kinds go to the model; the rest restore state.
// A stored append holds 1..k entry bodies; `v`, `seq`, `epoch` and `at` are factored out there and put back on reading.

import type { BlobKey, EpochMs, EventId, ToolUseId, TurnId, WorkspacePath } from './ids.ts';
import type { ContentBlock, ModelUsage, UsageTotals } from './message.ts';
import type { ModelFailure, TurnOutcome } from './outcome.ts';
import type { PermissionMode } from './permission.ts';
import type { AgentSnapshot, Budget, FileResource, Metadata } from './session.ts';

// ---- what clients send ----------------------------------------------------------------------------------------------

export type ClientEvent =
  | {
      readonly type: 'user.message';
      readonly content: readonly ContentBlock[];
      /** Extension `reprise.on_busy: steer`: joins an open turn at its next model call. */
      readonly steer?: boolean;
    }
  | { readonly type: 'user.interrupt' }
  | {
      readonly type: 'user.tool_confirmation';
      readonly tool_use_id: EventId;
      readonly result: 'allow' | 'deny';
      readonly deny_message?: string;
      /** Extension: an edited input (judged again) and "allow from now on in this session". */
      readonly reprise?: { readonly input?: Readonly<Record<string, unknown>>; readonly remember?: 'session' };
    }
  | {
      readonly type: 'user.custom_tool_result';
      readonly custom_tool_use_id: EventId;
      readonly content?: readonly ContentBlock[];
      readonly is_error?: boolean;
    }
  | {
      readonly type: 'user.tool_result';
      readonly tool_use_id: EventId;
      readonly content?: readonly ContentBlock[];
      readonly is_error?: boolean;
    }
  | { readonly type: 'system.message'; readonly content: readonly ContentBlock[] };

/** What a change of a session may carry; only the fields that change are present. */
export interface SessionChange {
  readonly title?: string | null;
  readonly metadata?: Metadata;
  readonly agent?: AgentSnapshot;
  /** null removes the budget for good. */
  readonly budget?: Budget | null;
  readonly resourcesAdded?: readonly FileResource[];
  readonly resourcesRemoved?: readonly string[];
}

/** Inbox items that are no client events: never listed, applied by the holder as `session_updated` and the like. */
export type ControlEvent =
  | {
      readonly type: 'control.update';
      readonly change: SessionChange;
      /** Merged by key into what stands when the change is applied; null deletes. */
      readonly metadataPatch?: Readonly<Record<string, string | null>>;
    }
  | { readonly type: 'control.archive' }
  | { readonly type: 'control.stop' }
  | { readonly type: 'control.compact' };

/** An accepted event: durable in the inbox, with the id it keeps for ever. */
export type InboxEvent = (ClientEvent | ControlEvent) & {
  readonly id: EventId;
  readonly acceptedAt: EpochMs;
};

// ---- what the holder writes -----------------------------------------------------------------------------------------

/** Where a file's bytes lie: `size` bytes at `offset` of the blob (small files are packed). */
export interface FileRef {
  readonly sha256: string;
  readonly size: number;
  readonly mode: number;
  readonly mtimeMs: number;
  readonly blob: BlobKey;
  readonly offset: number;
}

/** The shell's directory and exported variables, carried from call to call. */
export interface ShellState {
  readonly cwd: string;
  readonly exports: Readonly<Record<string, string>>;
  /** Directories without any file, which the file index cannot say. */
  readonly emptyDirectories?: readonly string[];
}

export type CallKind = 'builtin' | 'custom' | 'mcp' | 'unknown';

/** The verdict on one call, from which the `agent.*tool_use` event is projected. */
export interface DecidedCall {
  readonly toolUseId: ToolUseId;
  /** Index of the call's block in the model's answer. */
  readonly block: number;
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly kind: CallKind;
  readonly mcpServer?: string;
  readonly decision: 'allow' | 'ask' | 'deny';
  readonly reason: string;
}

export interface Repair {
  readonly rule: string;
  readonly path: string;
  readonly what: string;
}

export type EntryBody =
  | {
      readonly kind: 'turn_started';
      readonly turnId: TurnId;
      /** True where a turn goes on after `requires_action`: limits count on. */
      readonly continues?: boolean;
    }
  | { readonly kind: 'resumed'; readonly turnId: TurnId }
  | { readonly kind: 'input'; readonly event: InboxEvent }
  | {
      readonly kind: 'model_started';
      readonly model: string;
      /** 1 for the first try of this step. */
      readonly attempt: number;
      /** Of the request's cacheable prefix and messages; folding again must give the same. */
      readonly fingerprint: string;
    }
  | {
      readonly kind: 'message';
      /** `seq` of the `model_started` that this answers. */
      readonly modelSeq: number;
      readonly content: readonly ContentBlock[];
      readonly model: string;
      readonly usage: ModelUsage;
      readonly stopReason: string;
      readonly stopDetails?: { readonly category: string | null; readonly explanation: string | null };
      /** True where an interrupt cut the answer: the complete blocks and the text of a cut text block stand here. */
      readonly cut?: boolean;
      /** True where the answer ended inside a tool call, which is neither kept nor run. */
      readonly callCut?: boolean;
    }
  | {
      readonly kind: 'model_failed';
      readonly modelSeq: number;
      readonly reason: 'error' | 'interrupted' | 'handed_over' | 'lost';
      readonly error?: ModelFailure;
      readonly retry?: 'retrying' | 'exhausted';
      readonly usage?: ModelUsage;
      readonly waitMs?: number;
    }
  | { readonly kind: 'decided'; readonly modelSeq: number; readonly calls: readonly DecidedCall[] }
  | { readonly kind: 'tool_started'; readonly toolUseIds: readonly ToolUseId[] }
  | {
      readonly kind: 'tool_result';
      readonly toolUseId: ToolUseId;
      readonly modelSeq: number;
      readonly block: number;
      readonly callKind: CallKind;
      readonly content: readonly ContentBlock[];
      readonly isError: boolean;
    }
  | {
      readonly kind: 'repaired';
      readonly repairs: readonly Repair[];
      /** Media by URL from this message of the history on became text, for good: the model's API could not load it. */
      readonly unlinkedFrom?: number;
    }
  | { readonly kind: 'tools_offered'; readonly names: readonly string[]; readonly hash: string }
  | {
      readonly kind: 'session_updated';
      readonly inputId: EventId;
      readonly change: SessionChange;
      readonly archived?: boolean;
    }
  | { readonly kind: 'mode_changed'; readonly mode: PermissionMode }
  | { readonly kind: 'compacted'; readonly checkpoint: BlobKey }
  | {
      readonly kind: 'workspace_saved';
      /** Changed paths; null = removed. */
      readonly changes: readonly (readonly [WorkspacePath, FileRef | null])[];
      readonly shell?: ShellState;
    }
  | { readonly kind: 'rescheduled'; readonly delayMs: number; readonly reason: string }
  | {
      readonly kind: 'imported';
      readonly messages: readonly { role: 'user' | 'assistant' | 'system'; content: readonly ContentBlock[] }[];
      readonly records?: readonly unknown[];
    }
  | {
      readonly kind: 'turn_ended';
      readonly turnId: TurnId;
      readonly outcome: TurnOutcome;
      /** Cumulative for the session, so that views need no fold. */
      readonly totals: UsageTotals;
    };

export type EntryKind = EntryBody['kind'];

export interface EntryBase {
  readonly v: 1;
  /** Position in the session's log, from 1, without gaps. */
  readonly seq: number;
  readonly epoch: number;
  readonly at: EpochMs;
}

export type LogEntry = EntryBody & EntryBase;
export type EntryOf<K extends EntryKind> = Extract<EntryBody, { kind: K }> & EntryBase;

/** One stored append: all or nothing, at slot `seq` (the seq of its first entry). */
export interface Append {
  readonly v: 1;
  readonly seq: number;
  readonly epoch: number;
  readonly nonce: string;
  readonly at: EpochMs;
  readonly entries: readonly EntryBody[];
}

/** A content block of more than `blockInlineBytesMax`, kept in the blob store; hydrated before it is sent or shown. */
export interface SpilledBlock extends ContentBlock {
  readonly type: 'reprise_spilled';
  readonly blob: BlobKey;
  readonly bytes: number;
  /** The block's own type. */
  readonly of: string;
}
export const isSpilled = (b: ContentBlock): b is SpilledBlock => b.type === 'reprise_spilled';
