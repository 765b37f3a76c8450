// One answer per call: a claim is put if absent at a key made from the call's event id, by the client's answer with its
// acceptance, or by the holder before it answers the call itself.

import type { Item, Store, Write } from '../ports/store.ts';
import type { EventId, SessionId } from '../types/ids.ts';
import { claimKey } from './keys.ts';

/** The claim of `call` as part of a `putAll`. `by`: the answering event's id, or a name for the holder. */
export const claimWrite = (session: SessionId, call: EventId, by: string): Write => ({
  key: claimKey(session, call),
  item: { rev: '1', data: by },
  expect: 'absent',
});

/** Who holds the claim. */
export function claimantOf(item: Item): string {
  if (typeof item.data !== 'string') throw new Error('a claim is damaged');
  return item.data;
}

/** Claims a call. A claim that stands under the same `by` (a lost reply, an earlier holder) counts as taken. */
export async function takeClaim(
  store: Store,
  session: SessionId,
  call: EventId,
  by: string,
): Promise<{ readonly taken: true } | { readonly taken: false; readonly by: string }> {
  const { key } = claimWrite(session, call, by);
  const put = await store.put(key, { rev: '1', data: by }, 'absent');
  if (put.ok) return { taken: true };
  if (!put.current) throw new Error('a claim was refused without one standing');
  const holder = claimantOf(put.current);
  return holder === by ? { taken: true } : { taken: false, by: holder };
}

/** Who claimed the call, or undefined. */
export async function readClaim(store: Store, session: SessionId, call: EventId): Promise<string | undefined> {
  const item = await store.get(claimKey(session, call));
  return item && claimantOf(item);
}
