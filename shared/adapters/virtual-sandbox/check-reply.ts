// A child's reply, checked as what a stranger sent: shapes, paths, ranges, sizes and counts. Anything odd refuses all of it.

import { workspacePath } from '../../core/workspace-path.ts';
import type { Hashing } from '../../ports/system.ts';
import type { WorkspacePath } from '../../types/ids.ts';
import type { IndexChanges, IndexEntry } from './file-index.ts';
import type { Frame } from './frames.ts';
import { ExecReply } from './protocol.ts';

export interface CheckedReply {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number;
  readonly changes: IndexChanges;
  readonly emptyDirectories: readonly string[];
  readonly shell: ExecReply['shell'];
  readonly notes: readonly string[];
}

export interface ReplyContext {
  readonly hashing: Hashing;
  readonly outputBytesMax: number;
  readonly changesMax: number;
  /** A file of the index before the command, by its hash. */
  readonly known: (sha256: string) => IndexEntry | undefined;
}

/** The reply's content, or undefined where it is not what a child of ours would send. */
export function checkReply(frame: Frame, context: ReplyContext): CheckedReply | undefined {
  const parsed = ExecReply.safeParse(frame.header);
  if (!parsed.success) return undefined;
  const reply = parsed.data;
  const { stdoutBytes, stderrBytes } = reply;
  if (Math.max(stdoutBytes, stderrBytes) > context.outputBytesMax) return undefined;
  if (reply.changes.length + reply.removed.length > context.changesMax) return undefined;
  const filesFrom = stdoutBytes + stderrBytes;
  if (filesFrom > frame.body.length) return undefined;
  const files = frame.body.subarray(filesFrom);
  const changes = new Map<WorkspacePath, IndexEntry | null>();
  for (const path of reply.removed) {
    const checked = plainPath(path);
    if (checked === undefined) return undefined;
    changes.set(checked, null);
  }
  for (const change of reply.changes) {
    const path = plainPath(change.path);
    const entry = path === undefined ? undefined : entryOf(change, files, context);
    if (path === undefined || entry === undefined || changes.has(path)) return undefined;
    changes.set(path, entry);
  }
  const text = (from: number, length: number) => Buffer.from(frame.body.subarray(from, from + length)).toString('utf8');
  return {
    stdout: text(0, stdoutBytes),
    stderr: text(stdoutBytes, stderrBytes),
    exitCode: reply.exitCode,
    changes: [...changes],
    emptyDirectories: reply.emptyDirectories,
    shell: reply.shell,
    notes: reply.notes.slice(0, 10).map((note) => note.slice(0, 500)),
  };
}

function plainPath(path: string): WorkspacePath | undefined {
  const checked = workspacePath(path, '/');
  return typeof checked === 'string' && checked === path ? checked : undefined;
}

function entryOf(
  change: ExecReply['changes'][number],
  files: Uint8Array,
  context: ReplyContext,
): IndexEntry | undefined {
  const { mode, mtimeMs, at, size, sha256 } = change;
  if (sha256 !== undefined) {
    const known = context.known(sha256);
    return known && { ...known, mode, mtimeMs, ref: known.ref && { ...known.ref, mode, mtimeMs } };
  }
  if (at === undefined || size === undefined || at + size > files.length) return undefined;
  // A copy: the frame it lies in would be held as a whole otherwise.
  const bytes = new Uint8Array(files.subarray(at, at + size));
  return { sha256: context.hashing.sha256(bytes), size, mode, mtimeMs, ref: null, bytes };
}
