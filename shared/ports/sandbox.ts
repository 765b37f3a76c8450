// The hands: a working copy of a session's files and a shell over it. The only place that runs what the model wrote.
// Nothing here throws for what a tool may meet (missing file, timeout, kill); those are values.

import type { SessionId, TenantId, WorkspacePath } from '../types/ids.ts';
import type { FileRef, ShellState } from '../types/log.ts';

export interface FileStat {
  readonly path: WorkspacePath;
  readonly size: number;
  readonly mode: number;
  readonly mtimeMs: number;
}

export interface ExecOptions {
  readonly timeoutMs: number;
  readonly stdin?: string;
  /** Where to run; default the shell's directory. A command that is not `stateful` leaves shell state as it was. */
  readonly stateful: boolean;
}

export interface ExecResult {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number;
  /** Why it was ended from outside, if so; then files are as before the command. */
  readonly killed: 'timeout' | 'aborted' | 'memory' | 'crashed' | null;
  /** What could not be carried over to the next call, for the model; usually empty. */
  readonly notes: readonly string[];
}

/** A search whose patterns the model wrote; it runs in the sandbox, with its parts as values and never as a shell line. */
export type Search =
  | { readonly kind: 'files'; readonly root: WorkspacePath; readonly pattern: string }
  | {
      readonly kind: 'content';
      /** A directory or one file. */
      readonly root: WorkspacePath;
      readonly pattern: string;
      /** Only files that match this glob. */
      readonly glob?: string;
      readonly output: 'lines' | 'files' | 'counts';
      readonly ignoreCase: boolean;
      readonly multiline: boolean;
      readonly before: number;
      readonly after: number;
    };

export type SearchResult =
  /** `lines`: paths, `path:count`, or `path:line:text` (context lines `path-line-text`); at most `searchLinesMax` of them. */
  | { readonly ok: true; readonly lines: readonly string[]; readonly more: boolean }
  | { readonly ok: false; readonly reason: string };

/** What changed since the last snapshot; blobs are stored already. Its `changes` and `shell` go into `workspace_saved`. */
export interface SnapshotDelta {
  readonly changes: readonly (readonly [WorkspacePath, FileRef | null])[];
  readonly shell: ShellState;
}

export type WriteResult =
  | { readonly ok: true; readonly created: boolean }
  | { readonly ok: false; readonly reason: string };

/** One working copy, of one epoch. Calls are serial but for reads. */
export interface Workspace {
  stat(path: WorkspacePath): FileStat | undefined;
  /** Whether any file lies under this directory. */
  isDirectory(path: WorkspacePath): boolean;
  list(): readonly FileStat[];
  read(path: WorkspacePath): Promise<Uint8Array | undefined>;
  write(path: WorkspacePath, bytes: Uint8Array): Promise<WriteResult>;
  exec(command: string, options: ExecOptions, signal: AbortSignal): Promise<ExecResult>;
  /** Changes nothing. Globs: `*`, `?`, `[…]`, `{a,b}`, `**`; without a slash they match names at any depth. Regexes run in linear time. */
  search(what: Search, timeoutMs: number, signal: AbortSignal): Promise<SearchResult>;
  readonly shell: ShellState;
  /** Forgets directory and exported variables. */
  restartShell(): void;
  /** Stores what changed since the last call and returns it, or null where nothing did. */
  snapshot(): Promise<SnapshotDelta | null>;
  close(): Promise<void>;
}

export interface OpenWorkspace {
  readonly tenant: TenantId;
  readonly session: SessionId;
  readonly epoch: number;
  readonly files: ReadonlyMap<WorkspacePath, FileRef>;
  readonly shell: ShellState;
}

export interface Sandbox {
  readonly driver: 'virtual' | 'process' | 'lambda';
  /** Cheap: nothing is started before the first `exec`. */
  open(what: OpenWorkspace): Workspace;
  close(): Promise<void>;
}
