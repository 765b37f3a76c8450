// One working copy: files and shell of one session under one epoch. Commands and writes are serial; a command's changes are taken
// as a whole when it ended by itself, and not at all when it was killed.

import { isUnder } from '../../core/workspace-path.ts';
import type {
  ExecOptions,
  ExecResult,
  OpenWorkspace,
  Search,
  SearchResult,
  Workspace,
  WriteResult,
} from '../../ports/sandbox.ts';
import type { Clock, Hashing, Logger } from '../../ports/system.ts';
import type { WorkspacePath } from '../../types/ids.ts';
import type { Limits } from '../../types/limits.ts';
import type { ShellState } from '../../types/log.ts';
import { checkReply } from './check-reply.ts';
import type { JobOutcome } from './child-process.ts';
import type { FileBytes } from './file-bytes.ts';
import { createFileIndex, type FileIndex, type IndexEntry, refusePath } from './file-index.ts';
import type { Pool } from './pool.ts';
import { type FileRow, SearchReply, type ToChild } from './protocol.ts';
import { carryShell, FRESH_SHELL, isSameShell } from './shell-state.ts';

export interface WorkspaceDeps {
  readonly pool: Pool;
  readonly bytes: FileBytes;
  readonly hashing: Hashing;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly limits: Limits;
}

/** Of each output stream of a command; the tools cut further for the model. */
export const OUTPUT_BYTES_MAX = 4 * 1024 * 1024;
const INLINE_TOTAL_BYTES_MAX = 8 * 1024 * 1024;

/** The working copy; nothing is started or read before it is needed. */
export function openWorkspace(deps: WorkspaceDeps, what: OpenWorkspace): Workspace {
  const { limits } = deps;
  const index = createFileIndex(what.files, {
    bytesMax: Math.min(limits.virtualWorkspaceBytesMax, limits.workspaceBytesMax),
    filesMax: limits.workspaceFilesMax,
  });
  const own: Own = { deps, what, index, shell: what.shell, savedShell: what.shell };
  const inTurn = createTurns();
  return {
    stat: (path) => {
      const entry = index.get(path);
      return entry && { path, size: entry.size, mode: entry.mode, mtimeMs: entry.mtimeMs };
    },
    isDirectory: (path) =>
      index.isDirectory(path) ||
      [own.shell.cwd, ...(own.shell.emptyDirectories ?? [])].some((directory) => isUnder(directory, path)),
    list: index.list,
    read: async (path) => {
      const entry = index.get(path);
      return entry && deps.bytes.read(entry);
    },
    write: (path, bytes) => inTurn(async () => writeFile(own, path, bytes)),
    exec: (command, options, signal) => inTurn(() => exec(own, command, options, signal)),
    search: (search, timeoutMs, signal) => inTurn(() => runSearch(own, search, timeoutMs, signal)),
    get shell() {
      return own.shell;
    },
    restartShell: () => {
      const { emptyDirectories } = own.shell;
      own.shell = { ...FRESH_SHELL, ...(emptyDirectories ? { emptyDirectories } : {}) };
    },
    snapshot: () => inTurn(() => snapshot(own)),
    close: async () => undefined,
  };
}

interface Own {
  readonly deps: WorkspaceDeps;
  readonly what: OpenWorkspace;
  readonly index: FileIndex;
  shell: ShellState;
  savedShell: ShellState;
}

/** Runs one after the other, in the order of the calls; a failure does not stop the next. */
function createTurns(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const result = last.then(work);
    last = result.catch(() => undefined);
    return result;
  };
}

function writeFile(own: Own, path: WorkspacePath, bytes: Uint8Array): WriteResult {
  const { deps, index } = own;
  const refused = refusePath(path, index, own.shell.emptyDirectories ?? []);
  if (refused !== null) return { ok: false, reason: refused };
  const mode = index.get(path)?.mode ?? 0o644;
  const entry = {
    sha256: deps.hashing.sha256(bytes),
    size: bytes.length,
    mode,
    mtimeMs: deps.clock.now(),
    ref: null,
    bytes,
  };
  return index.apply([[path, entry]]);
}

async function exec(own: Own, command: string, options: ExecOptions, signal: AbortSignal): Promise<ExecResult> {
  const { deps, index, shell } = own;
  const { rows, body } = await fileRows(own, 'all');
  const request: ToChild = {
    kind: 'exec',
    command,
    stdin: options.stdin ?? '',
    cwd: shell.cwd,
    exports: shell.exports,
    emptyDirectories: shell.emptyDirectories ?? [],
    files: rows,
    bytesMax:
      Math.max(deps.limits.virtualWorkspaceBytesMax, totalSize(rows)) + deps.limits.virtualWorkspaceBytesMax / 4,
    outputBytesMax: OUTPUT_BYTES_MAX,
    timeoutMs: options.timeoutMs,
  };
  const outcome = await runJob(own, request, body, signal);
  if (outcome.kind === 'killed') return stopped(outcome.why);
  const known = bySha(index);
  const reply = checkReply(outcome.frame, {
    hashing: deps.hashing,
    outputBytesMax: OUTPUT_BYTES_MAX,
    changesMax: 4 * deps.limits.workspaceFilesMax,
    known: (sha256) => known().get(sha256),
  });
  if (!reply) {
    deps.logger.warn('a sandbox child sent an unusable reply', { session: own.what.session });
    return stopped('crashed');
  }
  const { stdout, stderr, exitCode } = reply;
  const applied = index.apply(reply.changes);
  if (!applied.ok) {
    const notes = [`the command's changes were not kept: ${applied.reason}`];
    return { stdout, stderr, exitCode: exitCode === 0 ? 1 : exitCode, killed: null, notes };
  }
  const carried = carryShell(shell, options.stateful ? reply.shell : null, reply.emptyDirectories);
  own.shell = carried.shell;
  return { stdout, stderr, exitCode, killed: null, notes: [...reply.notes, ...carried.notes] };
}

const stopped = (killed: ExecResult['killed']): ExecResult => ({
  stdout: '',
  stderr: '',
  exitCode: 137,
  killed,
  notes: [],
});

async function runSearch(own: Own, search: Search, timeoutMs: number, signal: AbortSignal): Promise<SearchResult> {
  const { rows, body } = await fileRows(own, search.kind === 'files' ? 'names' : 'all');
  const request: ToChild = { kind: 'search', search, files: rows, linesMax: own.deps.limits.searchLinesMax, timeoutMs };
  const outcome = await runJob(own, request, body, signal);
  if (outcome.kind === 'killed') {
    const why = {
      timeout: `timed out after ${timeoutMs} ms`,
      aborted: 'was interrupted',
      memory: 'needed too much memory',
      crashed: 'failed',
    };
    return { ok: false, reason: `the search ${why[outcome.why]}` };
  }
  const reply = SearchReply.safeParse(outcome.frame.header);
  if (!reply.success || reply.data.lines.length > own.deps.limits.searchLinesMax) {
    return { ok: false, reason: 'the search failed' };
  }
  const { error, lines, more } = reply.data;
  return error === null ? { ok: true, lines, more } : { ok: false, reason: error.slice(0, 500) };
}

async function runJob(
  own: Own,
  request: Exclude<ToChild, { kind: 'file' }>,
  body: readonly Uint8Array[],
  signal: AbortSignal,
): Promise<JobOutcome> {
  const known = bySha(own.index);
  const load = async (sha256: string) => {
    const entry = known().get(sha256);
    return entry && own.deps.bytes.read(entry);
  };
  return own.deps.pool.run(own.what.tenant, { request, body, load, timeoutMs: request.timeoutMs, signal });
}

/** Files by content, made when first asked for. */
function bySha(index: FileIndex): () => ReadonlyMap<string, IndexEntry> {
  let made: ReadonlyMap<string, IndexEntry> | undefined;
  return () => {
    made ??= new Map(index.entries().map(([, entry]) => [entry.sha256, entry]));
    return made;
  };
}

const totalSize = (rows: readonly FileRow[]): number => rows.reduce((sum, row) => sum + row[1], 0);

/** The index for the child; small files come along as far as there is room, the others it asks for. */
async function fileRows(
  own: Own,
  want: 'all' | 'names',
): Promise<{ rows: readonly FileRow[]; body: readonly Uint8Array[] }> {
  const { limits, bytes } = own.deps;
  const entries = own.index.entries();
  const small: IndexEntry[] = [];
  let room = want === 'all' ? INLINE_TOTAL_BYTES_MAX : 0;
  for (const [, entry] of entries) {
    if (entry.size > limits.sandboxInlineFileBytesMax || entry.size > room) continue;
    small.push(entry);
    room -= entry.size;
  }
  await bytes.preload(small);
  const inline = new Set(small);
  const body: Uint8Array[] = [];
  let at = 0;
  const rows = entries.map(([path, entry]): FileRow => {
    const held = inline.has(entry) ? bytes.peek(entry) : undefined;
    const offset = held ? at : -1;
    if (held) {
      body.push(held);
      at += held.length;
    }
    return [path, entry.size, entry.mode, entry.mtimeMs, entry.sha256, offset];
  });
  return { rows, body };
}

async function snapshot(own: Own) {
  const { index, deps, what, shell } = own;
  const paths = index.changed();
  if (paths.length === 0 && isSameShell(shell, own.savedShell)) return null;
  const now = paths.map((path) => [path, index.get(path)] as const);
  const unsaved = now.filter(
    (file): file is [WorkspacePath, IndexEntry] => file[1] !== undefined && file[1].ref === null,
  );
  const stored = new Map(await deps.bytes.store(what, unsaved));
  const changes = now.map(([path, entry]) => [path, stored.get(path) ?? entry?.ref ?? null] as const);
  index.settle(changes);
  own.savedShell = shell;
  return { changes, shell };
}
