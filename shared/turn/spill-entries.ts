// An append stays under its limit: entries that would not fit go to the blob store whole, and come back when the log is read.

import { readLog, readTail } from '../log/session-log.ts';
import type { BlobStore } from '../ports/blob-store.ts';
import type { Store } from '../ports/store.ts';
import type { Hashing } from '../ports/system.ts';
import { type BlobKey, blobKey, type SessionId, type TenantId } from '../types/ids.ts';
import type { EntryBody, LogEntry } from '../types/log.ts';

export interface SpillTarget {
  readonly blobs: BlobStore;
  readonly hashing: Hashing;
  readonly tenant: TenantId;
  readonly session: SessionId;
}

/** How a spilled entry stands in the log: its kind, and where the rest is. */
interface SpilledEntry {
  readonly kind: EntryBody['kind'];
  readonly spilled: BlobKey;
}

/** The same entries, the largest replaced by pointers until all fit into `bytesMax` bytes. Blobs are stored on return. */
export async function spillEntries(
  to: SpillTarget,
  entries: readonly EntryBody[],
  bytesMax: number,
): Promise<readonly EntryBody[]> {
  const sized = entries.map((entry) => ({ entry, bytes: new TextEncoder().encode(JSON.stringify(entry)) }));
  let total = sized.reduce((n, s) => n + s.bytes.length, 0);
  if (total <= bytesMax) return entries;
  const result = [...entries];
  const largestFirst = sized.map((s, i) => ({ ...s, i })).sort((a, b) => b.bytes.length - a.bytes.length);
  for (const { entry, bytes, i } of largestFirst) {
    if (total <= bytesMax) break;
    const key = blobKey(`t/${to.tenant}/${to.session.slice('sesn_'.length)}/e/${to.hashing.sha256(bytes)}`);
    await to.blobs.put(key, bytes);
    const pointer: SpilledEntry = { kind: entry.kind, spilled: key };
    result[i] = pointer as unknown as EntryBody;
    total -= bytes.length;
  }
  return result;
}

/** The entries of a session after `afterSeq`, spilled ones whole again. Throws where a spilled entry's blob is gone. */
export async function readEntries(
  from: { readonly store: Store; readonly blobs: BlobStore },
  session: SessionId,
  afterSeq: number,
  limit?: number,
): Promise<readonly LogEntry[]> {
  return unspillEntries(from.blobs, await readLog(from.store, session, afterSeq, limit));
}

/** As `readEntries`, where `afterSeq` is known to be the end of an append. */
export async function readTailEntries(
  from: { readonly store: Store; readonly blobs: BlobStore },
  session: SessionId,
  afterSeq: number,
): Promise<readonly LogEntry[]> {
  return unspillEntries(from.blobs, await readTail(from.store, session, afterSeq));
}

/** The same entries, spilled ones whole again. */
export async function unspillEntries(blobs: BlobStore, entries: readonly LogEntry[]): Promise<readonly LogEntry[]> {
  if (!entries.some(isSpilledEntry)) return entries;
  return Promise.all(entries.map((entry) => unspillEntry(blobs, entry)));
}

const isSpilledEntry = (entry: LogEntry): boolean => 'spilled' in entry;

export async function unspillEntry(blobs: BlobStore, entry: LogEntry): Promise<LogEntry> {
  if (!isSpilledEntry(entry)) return entry;
  const bytes = await blobs.get((entry as unknown as SpilledEntry).spilled);
  if (!bytes) throw new Error(`the blob of log entry ${entry.seq} is missing`);
  const { v, seq, epoch, at } = entry;
  return { ...(JSON.parse(new TextDecoder().decode(bytes)) as EntryBody), v, seq, epoch, at };
}
