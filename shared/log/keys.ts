// Where the items of a session lie: `l/` its log, `i/` its inbox, `c/` its claims, `s/` its lease and `due`. Names and revs are
// short: they are written with every item, and a turn is to write little more than its messages.

import type { Key } from '../ports/store.ts';
import type { IdSource } from '../ports/system.ts';
import { type EventId, ID_PREFIX, type SessionId } from '../types/ids.ts';

const SLOT_DIGITS = 12;
const SLOT_MAX = 10 ** SLOT_DIGITS - 1;

const ulidOf = (session: SessionId): string => session.slice(ID_PREFIX.session.length);

/** A rev of an item that few write at one time: 72 random bits. */
export const newRev = (ids: Pick<IdSource, 'nonce'>): string => ids.nonce().slice(0, 12);

export const SESSIONS = 'sessions';
export const logOf = (session: SessionId): string => `l/${ulidOf(session)}`;
export const inboxOf = (session: SessionId): string => `i/${ulidOf(session)}`;
export const claimsOf = (session: SessionId): string => `c/${ulidOf(session)}`;

export const sessionKey = (session: SessionId): Key => ({ partition: SESSIONS, sort: session });
export const leaseKey = (session: SessionId): Key => ({ partition: `s/${ulidOf(session)}`, sort: 'l' });
export const dueKey = (session: SessionId): Key => ({ partition: `s/${ulidOf(session)}`, sort: 'd' });
export const claimKey = (session: SessionId, call: EventId): Key => ({ partition: claimsOf(session), sort: call });
export const idempotencyKey = (key: string): Key => ({ partition: 'idem', sort: key });

/** The session of a key in one of the partitions `<name>/<ulid>`. */
export const sessionOfPartition = (partition: string): SessionId =>
  (ID_PREFIX.session + partition.slice(partition.indexOf('/') + 1)) as SessionId;

/** A slot's sort key: the seq of the append's first entry, so that byte order is log order. */
export const slotSort = (seq: number): string => String(Math.min(seq, SLOT_MAX)).padStart(SLOT_DIGITS, '0');
