// The log of a session: one item per append at the slot of its first entry's seq, put if absent; the nonce in a taken slot says
// whether it was us (a lost reply). A writer appends only right behind a view that ends at the end of an append, and stops once
// it has read a higher epoch than its own: so seqs have no gap, and after an entry of epoch e there is none of a lower one.

import type { Item, Row, Store, Write } from '../ports/store.ts';
import { type EpochMs, epochMs, type SessionId } from '../types/ids.ts';
import type { Append, EntryBody, LogEntry } from '../types/log.ts';
import { decodeEntry, encodeEntry } from './entry-codec.ts';
import { logOf, slotSort } from './keys.ts';

const PAGE_ROWS = 500;

export interface NewAppend {
  readonly session: SessionId;
  /** One more than the last seq of the writer's view. */
  readonly seq: number;
  readonly epoch: number;
  /** Fresh for each append, the same when one append is tried again. */
  readonly nonce: string;
  readonly at: EpochMs;
  readonly entries: readonly EntryBody[];
}

export type AppendResult =
  | { readonly kind: 'ok'; readonly entries: readonly LogEntry[] }
  /** Another append has the slot. */
  | { readonly kind: 'lost'; readonly by: Append };

/** The stored form; the slot is in the key and the nonce is the rev. */
interface StoredAppend {
  readonly e: number;
  readonly t: number;
  /** Encoded by `entry-codec`. */
  readonly x: readonly object[];
}

/** An append as part of a `putAll` that takes the lease of its epoch as well; `absent` is its expectation. */
export function appendWrite(append: NewAppend): Write & { readonly item: Item } {
  const { session, seq, epoch, nonce, at, entries } = append;
  if (entries.length === 0) throw new TypeError('an append holds at least one entry');
  const data: StoredAppend = { e: epoch, t: at, x: entries.map((entry) => encodeEntry(entry, at)) };
  const key = { partition: logOf(session), sort: slotSort(seq) };
  return { key, item: { rev: nonce, data }, expect: 'absent' };
}

/** Stores the entries all or nothing. */
export async function appendEntries(store: Store, append: NewAppend): Promise<AppendResult> {
  const { seq, nonce } = append;
  const { key, item } = appendWrite(append);
  const put = await store.put(key, item, 'absent');
  const ours = { kind: 'ok', entries: hydrate({ v: 1, ...append }) } as const;
  if (put.ok) return ours;
  if (!put.current) throw new Error('a slot was refused without an item in it');
  return put.current.rev === nonce ? ours : { kind: 'lost', by: parseAppend(seq, put.current) };
}

/**
 * Entries after `afterSeq`, oldest first, at most `limitEntries` (default all). `afterSeq` may lie within an append; where
 * nothing stands right behind it, that costs a second request: see `readTail` for those who know better.
 */
export async function readLog(
  store: Store,
  session: SessionId,
  afterSeq: number,
  limitEntries = Number.POSITIVE_INFINITY,
): Promise<readonly LogEntry[]> {
  const tail = await readTail(store, session, afterSeq, limitEntries);
  if (afterSeq <= 0 || tail[0]?.seq === afterSeq + 1) return tail;
  const before = { after: slotSort(afterSeq + 1), reverse: true, limit: 1 };
  const [row] = await store.list(logOf(session), before);
  const rest = row ? hydrate(parseRow(row)).filter((entry) => entry.seq > afterSeq) : [];
  // Slots have no gaps, so `rest` ends right before `tail`.
  return [...rest, ...tail].slice(0, limitEntries);
}

/** As `readLog`, where `afterSeq` is known to be the end of an append (a folded state): one request per page. */
export async function readTail(
  store: Store,
  session: SessionId,
  afterSeq: number,
  limitEntries = Number.POSITIVE_INFINITY,
): Promise<readonly LogEntry[]> {
  const entries: LogEntry[] = [];
  for (let after = slotSort(afterSeq); ; ) {
    const limit = Math.min(PAGE_ROWS, limitEntries - entries.length);
    const rows = limit > 0 ? await store.list(logOf(session), { after, limit }) : [];
    for (const row of rows) entries.push(...hydrate(parseRow(row)));
    const last = rows.at(-1);
    if (!last || rows.length < limit || entries.length >= limitEntries) {
      return entries.length > limitEntries ? entries.slice(0, limitEntries) : entries;
    }
    after = last.key.sort;
  }
}

/** Entries before `beforeSeq` (Infinity: from the end), newest first, at most `limit`. */
export async function readLogBackwards(
  store: Store,
  session: SessionId,
  beforeSeq: number,
  limit: number,
): Promise<readonly LogEntry[]> {
  const entries: LogEntry[] = [];
  for (let after = slotSort(beforeSeq); entries.length < limit; ) {
    const rowsMax = Math.min(PAGE_ROWS, limit - entries.length);
    const rows = await store.list(logOf(session), { after, reverse: true, limit: rowsMax });
    for (const row of rows)
      entries.push(
        ...hydrate(parseRow(row))
          .reverse()
          .filter((entry) => entry.seq < beforeSeq),
      );
    const last = rows.at(-1);
    if (!last || rows.length < rowsMax) break;
    after = last.key.sort;
  }
  return entries.slice(0, limit);
}

function hydrate({ seq, epoch, at, entries }: Append): LogEntry[] {
  return entries.map((body, i) => ({ ...body, v: 1, seq: seq + i, epoch, at }));
}

const parseRow = (row: Row): Append => parseAppend(Number(row.key.sort), row);

function parseAppend(seq: number, item: Item): Append {
  const { e, t, x } = item.data as Partial<StoredAppend>;
  if (!Number.isSafeInteger(seq) || typeof e !== 'number' || typeof t !== 'number' || !Array.isArray(x)) {
    throw new Error(`the log item at slot ${seq} is damaged`);
  }
  return { v: 1, seq, epoch: e, nonce: item.rev, at: epochMs(t), entries: x.map((entry) => decodeEntry(entry, t)) };
}
