// Where the items of a session lie. Key names are short: they are written with every item.

import type { Key } from '../ports/store.ts';
import { type EventId, ID_PREFIX, type SessionId } from '../types/ids.ts';

const SLOT_DIGITS = 12;
const SLOT_MAX = 10 ** SLOT_DIGITS - 1;

const ulidOf = (session: SessionId): string => session.slice(ID_PREFIX.session.length);

export const SESSIONS = 'sessions';
export const logOf = (session: SessionId): string => `log/${ulidOf(session)}`;
export const inboxOf = (session: SessionId): string => `inbox/${ulidOf(session)}`;
export const claimsOf = (session: SessionId): string => `claims/${ulidOf(session)}`;

export const sessionKey = (session: SessionId): Key => ({ partition: SESSIONS, sort: session });
export const leaseKey = (session: SessionId): Key => ({ partition: `session/${ulidOf(session)}`, sort: 'lease' });
export const dueKey = (session: SessionId): Key => ({ partition: `session/${ulidOf(session)}`, sort: 'due' });
export const claimKey = (session: SessionId, call: EventId): Key => ({ partition: claimsOf(session), sort: call });
export const idempotencyKey = (key: string): Key => ({ partition: 'idem', sort: key });

/** The session of a key in one of the partitions `<name>/<ulid>`. */
export const sessionOfPartition = (partition: string): SessionId =>
  (ID_PREFIX.session + partition.slice(partition.indexOf('/') + 1)) as SessionId;

/** A slot's sort key: the seq of the append's first entry, so that byte order is log order. */
export const slotSort = (seq: number): string => String(Math.min(seq, SLOT_MAX)).padStart(SLOT_DIGITS, '0');
