// The files of one command: the index becomes a file system whose larger files load on first read, and afterwards what differs
// from the index becomes the list of changes. A killed command leaves nothing, because nothing was written anywhere.

import { InMemoryFs } from 'just-bash';
import {
  isInWorkspace,
  isPathError,
  isUnder,
  STANDING_DIRECTORIES,
  showPath,
  WORKSPACE_ROOTS,
  workspacePath,
} from '../../core/workspace-path.ts';
import type { ExecReply, FileRow } from './protocol.ts';
import { EMPTY_DIRECTORIES_MAX } from './shell-state.ts';
import { trackWrites, type Writes } from './track-writes.ts';

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
  // A command may have put a file where such a directory was.
  const standing = STANDING_DIRECTORIES.filter((directory) => !input.rows.some(([path]) => isUnder(directory, path)));
  for (const directory of [...standing, ...input.emptyDirectories]) fs.mkdirSync(directory, { recursive: true });
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
  let start: Start = { paths: new Set(), writes: null };
  return {
    fs,
    markStart: () => {
      start = { paths: new Set(fs.getAllPaths()), writes: trackWrites(fs) };
    },
    diff: async () => {
      scan.on = true;
      const { emptyDirectories } = input;
      if (start.writes?.any() === false) return { ...NOTHING, emptyDirectories: [...emptyDirectories] };
      return findChanges(fs, input, scan, start);
    },
  };
}

/** The file system as the command found it. */
interface Start {
  readonly paths: ReadonlySet<string>;
  readonly writes: Writes | null;
}

const NOTHING: FilesDiff = { changes: [], removed: [], bodies: [], emptyDirectories: [], notes: [] };

async function findChanges(fs: InMemoryFs, input: FilesInput, scan: Scan, start: Start): Promise<FilesDiff> {
  const rows = new Map(input.rows.map((row) => [row[0], row]));
  const found: Change[] = [];
  const outside: string[] = [];
  const links: string[] = [];
  const odd = new Map<string, string>();
  const directories: string[] = [];
  const seen = new Set<string>();
  for (const path of fs.getAllPaths()) {
    if (start.writes?.mayDiffer(path) === false) {
      if (rows.has(path)) seen.add(path);
      else if (isInWorkspace(path)) directories.push(path);
      continue;
    }
    scan.unread = null; // set by whatever reads the file next, `lstat` included
    const stat = await fs.lstat(path);
    if (!isInWorkspace(path)) {
      if (!start.paths.has(path) && !stat.isDirectory) outside.push(path);
      continue;
    }
    const refused = rows.has(path) ? null : refusal(path);
    if (stat.isSymbolicLink) links.push(path);
    else if (refused !== null) odd.set(path, refused);
    else if (stat.isDirectory) directories.push(path);
    else {
      seen.add(path);
      const bytes = await fs.readFileBuffer(path);
      const meta = { path, mode: stat.mode & 0o7777, mtimeMs: Math.max(0, stat.mtime.getTime() || 0) };
      const known = rows.get(path);
      const before = known && (scan.loaded.get(path) ?? inlineBytes(known, input.body));
      const change = changeOf(meta, { known, before, unread: scan.unread, bytes });
      if (change) found.push(change);
    }
  }
  const empty = emptyOnes(directories, seen);
  return {
    ...placed(found),
    removed: input.rows.map((row) => row[0]).filter((path) => !seen.has(path)),
    emptyDirectories: empty.slice(0, EMPTY_DIRECTORIES_MAX),
    notes: [...notesOn(outside, links), ...notesOnNames(odd), ...notesOnEmpty(empty.length)],
  };
}

interface Meta {
  readonly path: string;
  readonly mode: number;
  readonly mtimeMs: number;
}
type Change = { readonly meta: Meta } & ({ readonly sha256: string } | { readonly bytes: Uint8Array });

/** How a file differs from the index; undefined where it does not. Bytes that were never read are named by their hash. */
function changeOf(
  meta: Meta,
  file: {
    readonly known: FileRow | undefined;
    readonly before: Uint8Array | undefined;
    readonly unread: FileRow | null;
    readonly bytes: Uint8Array;
  },
): Change | undefined {
  const { known, before, unread, bytes } = file;
  const same = known !== undefined && meta.mode === known[2] && meta.mtimeMs === known[3];
  if (unread) return same && unread === known ? undefined : { meta, sha256: unread[4] };
  return same && before && isSame(known, bytes, before) ? undefined : { meta, bytes };
}

/** Changes with their place in one body. */
function placed(found: readonly Change[]): Pick<FilesDiff, 'changes' | 'bodies'> {
  const bodies: Uint8Array[] = [];
  let at = 0;
  const changes = found.map((change) => {
    if ('sha256' in change) return { ...change.meta, sha256: change.sha256 };
    const from = at;
    bodies.push(change.bytes);
    at += change.bytes.length;
    return { ...change.meta, at: from, size: change.bytes.length };
  });
  return { changes, bodies };
}

const inlineBytes = ([, size, , , , offset]: FileRow, body: Uint8Array): Uint8Array =>
  offset < 0 ? EMPTY : body.subarray(offset, offset + size);

const isSame = (row: FileRow, bytes: Uint8Array, before: Uint8Array): boolean =>
  row[1] === bytes.length && Buffer.compare(bytes, before) === 0;

/** Directories that hold neither a file nor another of these, those that always stand left out. */
function emptyOnes(directories: readonly string[], files: ReadonlySet<string>): string[] {
  const used = new Set<string>(STANDING_DIRECTORIES);
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
  const shown = (paths: readonly string[]) =>
    `${paths.slice(0, 3).map(showPath).join(', ')}${paths.length > 3 ? ', …' : ''}`;
  return [
    ...(dropped.length > 0 ? [`not kept, outside ${WORKSPACE_ROOTS.join(', ')}: ${shown(dropped)}`] : []),
    ...(links.length > 0 ? [`symbolic links are not kept: ${shown(links)}`] : []),
  ];
}

/** Why the index cannot hold `path`, or null. One such name in a reply would cost the whole command. */
function refusal(path: string): string | null {
  const checked = workspacePath(path, '/');
  return isPathError(checked) ? checked.error : null;
}

const ODD_NAMES_SHOWN = 3;

/** What lies in a directory that is not kept is not named again. */
function notesOnNames(odd: ReadonlyMap<string, string>): string[] {
  const reasons = [...odd].filter(([path]) => !odd.has(path.slice(0, path.lastIndexOf('/')))).map(([, why]) => why);
  const more = reasons.length - ODD_NAMES_SHOWN;
  return [...reasons.slice(0, ODD_NAMES_SHOWN), ...(more > 0 ? [`${more} more`] : [])].map((why) => `not kept: ${why}`);
}

function notesOnEmpty(count: number): string[] {
  const over = count - EMPTY_DIRECTORIES_MAX;
  return over > 0 ? [`not kept: ${over} of ${count} empty directories, at most ${EMPTY_DIRECTORIES_MAX} are`] : [];
}
