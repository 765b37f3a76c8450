// What stands in a deleted session's place, so that late writers are refused until nothing of them can still arrive.

import type { Item } from '../ports/store.ts';
import type { EpochMs, SessionId } from '../types/ids.ts';

const INDEX = 'tombstones';
const TIME_DIGITS = 13;

export const TOMBSTONES = INDEX;

/** `endsAt`: when the session's last remains may go. */
export const tombstoneItem = (session: SessionId, rev: string, endsAt: EpochMs): Item => ({
  rev,
  data: { deleted: endsAt },
  index: { name: INDEX, sort: `${String(endsAt).padStart(TIME_DIGITS, '0')}/${session}` },
});

export const isTombstone = (item: Item): boolean => typeof (item.data as { deleted?: unknown }).deleted === 'number';

export const tombstoneEnd = (item: Item): number => (item.data as { readonly deleted: number }).deleted;
