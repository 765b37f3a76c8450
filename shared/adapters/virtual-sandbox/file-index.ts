// The files of a working copy: the committed index with what changed since laid over it. All limits of a workspace are held here,
// and a set of changes is taken whole or not at all.

import { isInWorkspace, isUnder, STANDING_DIRECTORIES } from '../../core/workspace-path.ts';
import type { FileStat, WriteResult } from '../../ports/sandbox.ts';
import type { WorkspacePath } from '../../types/ids.ts';
import type { FileRef } from '../../types/log.ts';

/** A file as it is now; `ref` once its bytes are stored, `bytes` until then. */
export interface IndexEntry {
  readonly sha256: string;
  readonly size: number;
  readonly mode: number;
  readonly mtimeMs: number;
  readonly ref: FileRef | null;
  readonly bytes: Uint8Array | null;
}

export type IndexChanges = readonly (readonly [WorkspacePath, IndexEntry | null])[];

export interface FileIndex {
  get(path: WorkspacePath): IndexEntry | undefined;
  entries(): readonly (readonly [WorkspacePath, IndexEntry])[];
  list(): readonly FileStat[];
  isDirectory(path: string): boolean;
  /** Takes all changes, or says which limit or rule they break. */
  apply(changes: IndexChanges): WriteResult;
  /** Paths changed since the last `settle`. */
  changed(): readonly WorkspacePath[];
  /** Notes that these are stored now. */
  settle(stored: readonly (readonly [WorkspacePath, FileRef | null])[]): void;
}

export interface IndexLimits {
  readonly bytesMax: number;
  readonly filesMax: number;
}

const entryOf = (ref: FileRef): IndexEntry => ({
  sha256: ref.sha256,
  size: ref.size,
  mode: ref.mode,
  mtimeMs: ref.mtimeMs,
  ref,
  bytes: null,
});

/** An index over `committed`, which is not changed. */
export function createFileIndex(committed: ReadonlyMap<WorkspacePath, FileRef>, limits: IndexLimits): FileIndex {
  const files = new Map([...committed].map(([path, ref]) => [path, entryOf(ref)] as const));
  const open = new Set<WorkspacePath>();
  let bytes = [...files.values()].reduce((sum, entry) => sum + entry.size, 0);
  let directories: ReadonlySet<string> | undefined;
  const isDirectory = (path: string) => {
    directories ??= directoriesOf(files.keys());
    return directories.has(path);
  };
  return {
    get: (path) => files.get(path),
    entries: () => [...files],
    list: () => [...files].map(([path, { size, mode, mtimeMs }]) => ({ path, size, mode, mtimeMs })),
    isDirectory,
    apply: (changes) => {
      const sums = { bytes, files: files.size };
      for (const [path, entry] of changes) {
        const before = files.get(path);
        sums.bytes += (entry?.size ?? 0) - (before?.size ?? 0);
        sums.files += (entry ? 1 : 0) - (before ? 1 : 0);
      }
      const over = overLimit(sums, limits, bytes, files.size);
      if (over !== null) return { ok: false, reason: over };
      const created = changes.some(([path]) => !files.has(path));
      for (const [path, entry] of changes) {
        if (entry) files.set(path, entry);
        else files.delete(path);
        open.add(path);
      }
      bytes = sums.bytes;
      directories = undefined;
      return { ok: true, created };
    },
    changed: () => [...open],
    settle: (stored) => {
      for (const [path, ref] of stored) {
        const now = files.get(path);
        if (ref && now?.sha256 === ref.sha256) files.set(path, { ...entryOf(ref), bytes: null });
        open.delete(path);
      }
    },
  };
}

/** Why these sums are not taken. What only shrinks is always taken. */
function overLimit(
  sums: { bytes: number; files: number },
  limits: IndexLimits,
  bytesBefore: number,
  filesBefore: number,
): string | null {
  if (sums.bytes > limits.bytesMax && sums.bytes > bytesBefore) {
    return `no space left: the workspace would have ${sums.bytes} bytes, at most ${limits.bytesMax} (virtualWorkspaceBytesMax)`;
  }
  if (sums.files > limits.filesMax && sums.files > filesBefore) {
    return `too many files: the workspace would have ${sums.files}, at most ${limits.filesMax} (workspaceFilesMax)`;
  }
  return null;
}

function directoriesOf(paths: Iterable<string>): ReadonlySet<string> {
  const found = new Set<string>(['/', ...STANDING_DIRECTORIES]);
  for (const path of paths) {
    for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1)) {
      const parent = path.slice(0, at);
      if (found.has(parent)) break;
      found.add(parent);
    }
  }
  return found;
}

/** Why no file can lie at `path`, or null. */
export function refusePath(path: WorkspacePath, index: FileIndex, emptyDirectories: readonly string[]): string | null {
  if (index.isDirectory(path) || emptyDirectories.some((directory) => isUnder(directory, path)))
    return 'is a directory';
  for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1)) {
    const parent = path.slice(0, at);
    if (isInWorkspace(parent) && index.get(parent as WorkspacePath)) return `${parent} is a file, not a directory`;
  }
  return null;
}
