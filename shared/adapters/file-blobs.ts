// The BlobStore port as files under one directory. A blob is whole or absent: written aside, synced, renamed into place.
// Each key has one path inside the directory and no other; a file's name ends in `=`, so a key may also be another's prefix.

import { type FileHandle, mkdir, open, readdir, rename, rm, rmdir, stat, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { BlobStore } from '../ports/blob-store.ts';
import { type BlobKey, blobKey } from '../types/ids.ts';

const SEGMENT_CHARS_MAX = 200;
const ASIDE_KEPT_MS = 24 * 3600 * 1000;
const FILE_MARK = '=';

/** `directory` is made where missing. Throws `TypeError` for a key that `blobKey` refuses or that names no plain path. */
export function createFileBlobs({ directory }: { readonly directory: string }): BlobStore {
  const aside = join(directory, '.aside'); // no key starts with a dot
  const known = new Set<string>();
  let made = 0;
  let ready: Promise<void> | null = null;

  const pathOf = (key: BlobKey): string => join(directory, ...segmentsOf(key)) + FILE_MARK;

  return {
    async put(key, bytes) {
      const path = pathOf(key);
      ready ??= prepareAside(aside);
      await ready;
      const temporary = join(aside, `${process.pid}-${made++}-${Math.random().toString(36).slice(2)}`);
      await writeSynced(temporary, bytes);
      await moveInto(temporary, path, known);
    },
    async get(key, range) {
      const file = await openIfThere(pathOf(key));
      if (!file) return undefined;
      try {
        return range ? await readRange(file, range) : new Uint8Array(await file.readFile());
      } finally {
        await file.close();
      }
    },
    async delete(key) {
      const path = pathOf(key);
      await rm(path, { force: true });
      await removeEmpty(dirname(path), directory, known);
    },
    async list(prefix, { after = '', limit }) {
      const keys: BlobKey[] = [];
      for await (const key of walk(directory, '', { prefix, after })) {
        if (keys.length >= limit) break;
        keys.push(blobKey(key));
      }
      return keys;
    },
  };
}

function segmentsOf(key: BlobKey): readonly string[] {
  const segments = blobKey(key).split('/');
  if (segments.some((s) => s === '' || s === '.' || s.length > SEGMENT_CHARS_MAX)) {
    throw new TypeError(`a part of a blob key is 1 to ${SEGMENT_CHARS_MAX} characters and not a dot`);
  }
  return segments;
}

/** Makes the directory for unfinished files and clears away what crashed processes left there long ago. */
async function prepareAside(aside: string): Promise<void> {
  await mkdir(aside, { recursive: true, mode: 0o700 });
  for (const name of await readdir(aside)) {
    const path = join(aside, name);
    const found = await stat(path).catch(() => undefined);
    if (found && Date.now() - found.mtimeMs > ASIDE_KEPT_MS) await rm(path, { force: true });
  }
}

async function writeSynced(path: string, bytes: Uint8Array): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(bytes);
    await file.sync();
  } catch (error) {
    await unlink(path).catch(() => {});
    throw error;
  } finally {
    await file.close();
  }
}

/** Renames, and syncs the directories whose entries changed. A directory that a delete took away meanwhile is made again. */
async function moveInto(temporary: string, path: string, known: Set<string>): Promise<void> {
  const parent = dirname(path);
  for (let attempt = 1; ; attempt++) {
    if (!known.has(parent)) await makeDirectories(parent);
    known.add(parent);
    try {
      await rename(temporary, path);
      await syncDirectory(parent);
      return;
    } catch (error) {
      known.delete(parent);
      if ((error as NodeJS.ErrnoException).code === 'ENOENT' && attempt < 5) continue;
      await rm(temporary, { force: true });
      throw error;
    }
  }
}

async function makeDirectories(path: string): Promise<void> {
  const first = await mkdir(path, { recursive: true, mode: 0o700 });
  if (first === undefined) return;
  for (let made = path; made.length >= first.length; made = dirname(made)) await syncDirectory(dirname(made));
}

async function syncDirectory(path: string): Promise<void> {
  if (process.platform === 'win32') return; // cannot open directories
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function removeEmpty(path: string, root: string, known: Set<string>): Promise<void> {
  for (let at = path; at.length > root.length; at = dirname(at)) {
    known.delete(at);
    const gone = await rmdir(at).then(
      () => true,
      () => false, // not empty, or gone already
    );
    if (!gone) return;
  }
}

async function openIfThere(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, 'r');
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw error;
  }
}

/** `length` bytes from `offset`, fewer where the blob ends before. */
async function readRange(file: FileHandle, range: { offset: number; length: number }): Promise<Uint8Array> {
  const { size } = await file.stat();
  const bytes = new Uint8Array(Math.max(0, Math.min(range.length, size - range.offset)));
  let done = 0;
  while (done < bytes.length) {
    const { bytesRead } = await file.read(bytes, done, bytes.length - done, range.offset + done);
    if (bytesRead === 0) break;
    done += bytesRead;
  }
  return bytes.subarray(0, done);
}

/** Keys in byte order; directories that cannot hold a wanted key are not read. */
async function* walk(
  directory: string,
  base: string,
  want: { readonly prefix: string; readonly after: string },
): AsyncGenerator<string> {
  const entries = await readdir(directory, { withFileTypes: true }).catch(() => []);
  const names = entries
    .filter((e) => (e.isDirectory() ? !e.name.startsWith('.') : e.name.endsWith(FILE_MARK)))
    .map((e) => (e.isDirectory() ? `${e.name}/` : e.name.slice(0, -FILE_MARK.length)))
    .sort((a, b) => (a < b ? -1 : 1));
  for (const name of names) {
    const key = base + name;
    if (!name.endsWith('/')) {
      if (key.startsWith(want.prefix) && key > want.after) yield key;
    } else if ((key.startsWith(want.prefix) || want.prefix.startsWith(key)) && `${key}\x7f` > want.after) {
      yield* walk(join(directory, name), key, want);
    }
  }
}
