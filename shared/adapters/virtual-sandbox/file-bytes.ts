// Bytes of stored files, verified by their hash, with a bounded cache; and the packing of what changed into few blobs.

import type { BlobStore } from '../../ports/blob-store.ts';
import type { Hashing, Logger } from '../../ports/system.ts';
import { type BlobKey, blobKey, type SessionId, type TenantId, type WorkspacePath } from '../../types/ids.ts';
import type { FileRef } from '../../types/log.ts';
import type { IndexEntry } from './file-index.ts';

const CACHE_BYTES_MAX = 32 * 1024 * 1024;
/** A file up to this size shares a blob with others. */
const PACKED_FILE_BYTES_MAX = 256 * 1024;
const PACK_BYTES_MAX = 8 * 1024 * 1024;

export interface FileBytes {
  /** The bytes, or undefined where they are missing or not what the hash says. */
  read(entry: IndexEntry): Promise<Uint8Array | undefined>;
  /** Brings files into the cache with one read per blob. */
  preload(entries: readonly IndexEntry[]): Promise<void>;
  /** In memory already. */
  peek(entry: IndexEntry): Uint8Array | undefined;
  /** Stores what has no ref yet; durable when resolved. */
  store(
    where: BlobPlace,
    files: readonly (readonly [WorkspacePath, IndexEntry])[],
  ): Promise<readonly (readonly [WorkspacePath, FileRef])[]>;
}

export interface BlobPlace {
  readonly tenant: TenantId;
  readonly session: SessionId;
}

export interface FileBytesDeps {
  readonly blobs: BlobStore;
  readonly hashing: Hashing;
  readonly logger: Logger;
}

const EMPTY = new Uint8Array();

/** One per sandbox: content is named by its hash, so sessions may share the cache. */
export function createFileBytes(deps: FileBytesDeps): FileBytes {
  const cache = createCache(CACHE_BYTES_MAX);
  const peek = (entry: IndexEntry) => (entry.size === 0 ? EMPTY : (entry.bytes ?? cache.get(entry.sha256)));
  const check = (ref: FileRef, bytes: Uint8Array | undefined) => {
    if (bytes && deps.hashing.sha256(bytes) === ref.sha256) return true;
    deps.logger.error('a stored file is missing or damaged', { blob: ref.blob, sha256: ref.sha256 });
    return false;
  };
  return {
    peek,
    read: async (entry) => {
      const held = peek(entry);
      if (held || !entry.ref) return held;
      const { blob, offset, size } = entry.ref;
      const bytes = await deps.blobs.get(blob, { offset, length: size });
      if (!bytes || !check(entry.ref, bytes)) return undefined;
      cache.set(entry.sha256, bytes);
      return bytes;
    },
    preload: async (entries) => {
      const byBlob = new Map<BlobKey, FileRef[]>();
      for (const entry of entries) {
        if (!entry.ref || peek(entry)) continue;
        byBlob.set(entry.ref.blob, [...(byBlob.get(entry.ref.blob) ?? []), entry.ref]);
      }
      const load = async ([blob, refs]: [BlobKey, FileRef[]]) => {
        const from = Math.min(...refs.map((ref) => ref.offset));
        const to = Math.max(...refs.map((ref) => ref.offset + ref.size));
        const all = await deps.blobs.get(blob, { offset: from, length: to - from });
        for (const ref of refs) {
          const bytes = all && new Uint8Array(all.subarray(ref.offset - from, ref.offset - from + ref.size));
          if (bytes && check(ref, bytes)) cache.set(ref.sha256, bytes);
        }
      };
      await Promise.all([...byBlob].map(load));
    },
    store: async (where, files) => {
      const packs = makePacks(files);
      const stored = await Promise.all(packs.map((pack) => storePack(deps, where, pack)));
      for (const [, entry] of files) if (entry.bytes) cache.set(entry.sha256, entry.bytes);
      return stored.flat();
    },
  };
}

type PackFile = readonly [WorkspacePath, IndexEntry];

/** Small files together, each larger one alone. */
function makePacks(files: readonly PackFile[]): readonly (readonly PackFile[])[] {
  const packs: PackFile[][] = [];
  let open: PackFile[] = [];
  let size = 0;
  for (const file of files) {
    if (file[1].size > PACKED_FILE_BYTES_MAX) packs.push([file]);
    else {
      if (size + file[1].size > PACK_BYTES_MAX) {
        packs.push(open);
        open = [];
        size = 0;
      }
      open.push(file);
      size += file[1].size;
    }
  }
  return open.length > 0 ? [...packs, open] : packs;
}

async function storePack(deps: FileBytesDeps, where: BlobPlace, pack: readonly PackFile[]) {
  const offsets = new Map<string, number>();
  const parts: Uint8Array[] = [];
  let at = 0;
  for (const [, entry] of pack) {
    if (offsets.has(entry.sha256)) continue; // the same bytes twice: once in the blob
    offsets.set(entry.sha256, at);
    parts.push(entry.bytes ?? EMPTY);
    at += entry.size;
  }
  const [only] = parts;
  const bytes = parts.length === 1 && only ? only : Buffer.concat(parts);
  const blob = blobKey(`t/${where.tenant}/${where.session.slice('sesn_'.length)}/${deps.hashing.sha256(bytes)}`);
  if (bytes.length > 0) await deps.blobs.put(blob, bytes);
  return pack.map(([path, entry]) => {
    const { sha256, size, mode, mtimeMs } = entry;
    return [path, { sha256, size, mode, mtimeMs, blob, offset: offsets.get(sha256) ?? 0 }] as const;
  });
}

/** Least recently used bytes leave first. */
function createCache(bytesMax: number) {
  const held = new Map<string, Uint8Array>();
  let total = 0;
  return {
    get: (key: string): Uint8Array | undefined => {
      const bytes = held.get(key);
      if (bytes) {
        held.delete(key);
        held.set(key, bytes);
      }
      return bytes;
    },
    set: (key: string, bytes: Uint8Array): void => {
      if (bytes.length > bytesMax / 4 || held.has(key)) return;
      held.set(key, bytes);
      total += bytes.length;
      for (const [oldest, old] of held) {
        if (total <= bytesMax) break;
        held.delete(oldest);
        total -= old.length;
      }
    },
  };
}
