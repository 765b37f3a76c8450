// Answers kept under the client's Idempotency-Key, stored in the same atomic write as what they answer for.

import type { Item, Store, Write } from '../ports/store.ts';
import type { EpochMs } from '../types/ids.ts';
import { idempotencyKey } from './keys.ts';

export interface IdempotencyRecord {
  /** As the client sent it: 1 to 255 printable ASCII characters, which the door checks. */
  readonly key: string;
  /** Of route and body: the same key with another one is refused by the door. */
  readonly fingerprint: string;
  /** What to answer again; JSON. */
  readonly answer: unknown;
}

/** Stores the record as part of a `putAll`. `replaces`: the rev of an expired one. */
export function idempotencyWrite(
  record: IdempotencyRecord,
  rev: string,
  expiresAtMs: number,
  replaces?: string,
): Write {
  const data = { f: record.fingerprint, a: record.answer };
  const expect = replaces === undefined ? 'absent' : { rev: replaces };
  return { key: idempotencyKey(record.key), item: { rev, data, expiresAtMs }, expect };
}

/** The record in a stored item, or undefined where its time is over (the broom may be late). */
export function liveRecord(key: string, item: Item, now: EpochMs): IdempotencyRecord | undefined {
  if (item.expiresAtMs !== undefined && item.expiresAtMs <= now) return undefined;
  const { f, a } = item.data as { readonly f?: unknown; readonly a?: unknown };
  if (typeof f !== 'string') throw new Error('an idempotency record is damaged');
  return { key, fingerprint: f, answer: a };
}

/** The answer that stands under `key`, or undefined. */
export async function readIdempotency(store: Store, key: string, now: EpochMs): Promise<IdempotencyRecord | undefined> {
  const item = await store.get(idempotencyKey(key));
  return item && liveRecord(key, item, now);
}
