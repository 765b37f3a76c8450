// The files of one command: the index becomes a file system whose larger files load on first read, and afterwards what differs
// from the index becomes the list of changes. A killed command leaves nothing, because nothing was written anywhere.

import { InMemoryFs } from 'just-bash';
import { isInWorkspace, WORKSPACE_ROOTS } from '../../core/workspace-path.ts';
import type { ExecReply, FileRow } from './protocol.ts';

export interface ChildFiles {
  readonly fs: InMemoryFs;
  /** Call once the shell has put its own files in place. */
  markStart(): void;
  diff(): Promise<FilesDiff>;
}

export interface FilesDiff extends Pick<ExecReply, 'changes' | 'removed' | 'emptyDirectories' | 'notes'> {
  readonly bodies: readonly Uint8Array[];
}

interface FilesInput {
  readonly rows: readonly FileRow[];
  readonly body: Uint8Array;
  readonly emptyDirectories: readonly string[];
  readonly bytesMax: number;
  readonly load: (sha256: string) => Promise<Uint8Array>;
}

/** While changes are looked for, a file that is still unread answers with its row instead of being fetched. */
interface Scan {
  on: boolean;
  unread: FileRow | null;
  readonly loaded: Map<string, Uint8Array>;
}

const EMPTY = new Uint8Array();

/** The file system of one command. */
export function createFiles(input: FilesInput): ChildFiles {
  const fs = new InMemoryFs({}, { maxTotalBytes: input.bytesMax });
  const scan: Scan = { on: false, unread: null, loaded: new Map() };
  for (const directory of [...WORKSPACE_ROOTS, ...input.emptyDirectories]) fs.mkdirSync(directory, { recursive: true });
  for (const row of input.rows) {
    const [path, size, mode, mtimeMs, sha256, offset] = row;
    const metadata = { mode, mtime: new Date(mtimeMs) };
    const inline = offset >= 0 ? input.body.subarray(offset, offset + size) : size === 0 ? EMPTY : null;
    if (inline) fs.writeFileSync(path, inline, undefined, metadata);
    else {
      const lazy = async () => {
        if (scan.on) {
          scan.unread = row;
          return EMPTY;
        }
        const bytes = await input.load(sha256);
        scan.loaded.set(path, bytes);
        return bytes;
      };
      fs.writeFileLazy(path, lazy, metadata);
    }
  }
  let start: ReadonlySet<string> = new Set();
  return {
    fs,
    markStart: () => {
      start = new Set(fs.getAllPaths());
    },
    diff: () => {
      scan.on = true;
      return findChanges(fs, input, scan, start);
    },
  };
}

async function findChanges(
  fs: InMemoryFs,
  input: FilesInput,
  scan: Scan,
  start: ReadonlySet<string>,
): Promise<FilesDiff> {
  const rows = new Map(input.rows.map((row) => [row[0], row]));
  const changes: FilesDiff['changes'] = [];
  const bodies: Uint8Array[] = [];
  const dropped: string[] = [];
  const links: string[] = [];
  const seen = new Set<string>();
  const directories: string[] = [];
  let at = 0;
  for (const path of fs.getAllPaths()) {
    scan.unread = null; // set by whatever reads the file next, `lstat` included
    const stat = await fs.lstat(path);
    if (!isInWorkspace(path)) {
      if (!start.has(path) && !stat.isDirectory) dropped.push(path);
    } else if (stat.isSymbolicLink) links.push(path);
    else if (stat.isDirectory) directories.push(path);
    else {
      seen.add(path);
      const bytes = await fs.readFileBuffer(path);
      const known = rows.get(path);
      const meta = { path, mode: stat.mode & 0o7777, mtimeMs: stat.mtime.getTime() };
      const same = known && meta.mode === known[2] && meta.mtimeMs === known[3];
      const unread: FileRow | null = scan.unread;
      if (unread) {
        if (!same || unread !== known) changes.push({ ...meta, sha256: unread[4] });
      } else if (!known || !same || !isSame(known, bytes, scan.loaded.get(path) ?? inlineBytes(known, input.body))) {
        changes.push({ ...meta, at, size: bytes.length });
        bodies.push(bytes);
        at += bytes.length;
      }
    }
  }
  return {
    changes,
    bodies,
    removed: input.rows.map((row) => row[0]).filter((path) => !seen.has(path)),
    emptyDirectories: emptyOnes(directories, seen),
    notes: notesOn(dropped, links),
  };
}

const inlineBytes = ([, size, , , , offset]: FileRow, body: Uint8Array): Uint8Array =>
  offset < 0 ? EMPTY : body.subarray(offset, offset + size);

const isSame = (row: FileRow, bytes: Uint8Array, before: Uint8Array): boolean =>
  row[1] === bytes.length && Buffer.compare(bytes, before) === 0;

/** Directories that hold neither a file nor another of these, the roots left out. */
function emptyOnes(directories: readonly string[], files: ReadonlySet<string>): string[] {
  const used = new Set<string>(WORKSPACE_ROOTS);
  const useParents = (path: string) => {
    for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1)) {
      const parent = path.slice(0, at);
      if (used.has(parent)) return;
      used.add(parent);
    }
  };
  for (const file of files) useParents(file);
  for (const directory of directories) useParents(directory);
  return directories.filter((directory) => !used.has(directory));
}

function notesOn(dropped: readonly string[], links: readonly string[]): string[] {
  const shown = (paths: readonly string[]) => `${paths.slice(0, 3).join(', ')}${paths.length > 3 ? ', …' : ''}`;
  return [
    ...(dropped.length > 0 ? [`not kept, outside ${WORKSPACE_ROOTS.join(', ')}: ${shown(dropped)}`] : []),
    ...(links.length > 0 ? [`symbolic links are not kept: ${shown(links)}`] : []),
  ];
}
