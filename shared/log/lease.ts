// One holder at a time advances a session. The lease is one small item, changed only at the rev its changer has read. Every
// lease taken has a higher epoch than all before, and rewrites `due` with a new rev in the same atomic write, so that a holder
// that comes to its end late cannot remove it. Times only decide who may try: safety is in the revs and the log's slots.

import type { Item, Store, Write } from '../ports/store.ts';
import { ServiceError } from '../types/errors.ts';
import { type EpochMs, epochMs, type SessionId } from '../types/ids.ts';
import { CONFLICTS_MAX, type LogDeps } from './deps.ts';
import { dueWrite } from './due.ts';
import { leaseKey, newRev, sessionKey } from './keys.ts';

export interface Lease {
  readonly epoch: number;
  /** Fresh for each taking: with the epoch it names one holder. */
  readonly holder: string;
  readonly until: EpochMs;
  readonly rev: string;
  /** The rev of `due` as this holder wrote it; empty where the lease was only read. */
  readonly dueRev: string;
}

/** The stored form; a released lease has its epoch only, that of a deleted session `d`. */
interface StoredLease {
  readonly e: number;
  readonly h?: string;
  readonly u?: number;
  readonly d?: 1;
}

export const isLive = (lease: Lease, now: EpochMs): boolean => lease.until > now;

export async function readLease(store: Store, session: SessionId): Promise<Lease | undefined> {
  const item = await store.get(leaseKey(session));
  return item && leaseOf(item, parseLease(item));
}

/**
 * Takes the lease for leaseMs. Before the holder's first append is in, it may do nothing else. `held`: somebody has it until
 * then. `deleted`: there is no such session (any more). Throws `ServiceError('overloaded')` after too many conflicts.
 */
export async function acquireLease(
  deps: LogDeps,
  session: SessionId,
  holder: string,
): Promise<
  | { readonly kind: 'acquired'; readonly lease: Lease }
  | { readonly kind: 'held'; readonly until: EpochMs }
  | { readonly kind: 'deleted' }
> {
  const { store, clock, ids, limits } = deps;
  const rev = newRev(ids);
  const dueRev = newRev(ids);
  let found = await store.get(leaseKey(session));
  for (let attempt = 0; attempt < CONFLICTS_MAX; attempt++) {
    const now = clock.now();
    const stored = found && parseLease(found);
    if (found?.rev === rev && stored) return { kind: 'acquired', lease: { ...leaseOf(found, stored), dueRev } };
    if (stored?.d) return { kind: 'deleted' };
    if (found && stored && isLive(leaseOf(found, stored), now)) return { kind: 'held', until: epochMs(stored.u ?? 0) };
    const lease: Lease = { epoch: (stored?.e ?? 0) + 1, holder, until: epochMs(now + limits.leaseMs), rev, dueRev };
    const put = await store.putAll([
      { key: leaseKey(session), item: itemOf(lease), expect: found ? { rev: found.rev } : 'absent' },
      { key: sessionKey(session), expect: 'exists' },
      dueWrite(session, dueRev, now),
    ]);
    if (put.ok) return { kind: 'acquired', lease };
    if (put.index === 1) return { kind: 'deleted' };
    found = put.current;
  }
  throw new ServiceError('overloaded', 'too many conflicting writes to this session', {}, 1);
}

/** A lease that is taken together with other writes, or not at all. */
export interface LeaseOffer {
  readonly lease: Lease;
  /** Belongs into a `putAll` that checks that the session is there and makes it due at `lease.dueRev`. */
  readonly write: Write;
}

/** For whoever accepts events and will run them itself (design 3). Undefined where somebody holds the session now. */
export async function offerLease(deps: LogDeps, session: SessionId, holder: string): Promise<LeaseOffer | undefined> {
  const { store, clock, ids, limits } = deps;
  const found = await store.get(leaseKey(session));
  const stored = found && parseLease(found);
  const now = clock.now();
  if (stored?.d || (found && stored && isLive(leaseOf(found, stored), now))) return undefined;
  const until = epochMs(now + limits.leaseMs);
  const lease: Lease = { epoch: (stored?.e ?? 0) + 1, holder, until, rev: newRev(ids), dueRev: newRev(ids) };
  const expect = found ? { rev: found.rev } : 'absent';
  return { lease, write: { key: leaseKey(session), item: itemOf(lease), expect } };
}

/** Holds the lease for another leaseMs from now. `lost`: it is somebody else's; stop. */
export async function renewLease(deps: LogDeps, session: SessionId, lease: Lease): Promise<Lease | 'lost'> {
  const until = epochMs(deps.clock.now() + deps.limits.leaseMs);
  const renewed: Lease = { ...lease, until, rev: newRev(deps.ids) };
  return (await changeOwn(deps.store, session, lease, itemOf(renewed))) ? renewed : 'lost';
}

/** Gives the lease back; its epoch stays. Afterwards look for work once more, then `clearDue` or wake. */
export async function releaseLease(deps: LogDeps, session: SessionId, lease: Lease): Promise<undefined | 'lost'> {
  const data: StoredLease = { e: lease.epoch };
  return (await changeOwn(deps.store, session, lease, { rev: newRev(deps.ids), data })) ? undefined : 'lost';
}

/** A conflict with ourselves (a lost reply, a renewal that was under way) is none: epoch and holder name us. */
async function changeOwn(store: Store, session: SessionId, lease: Lease, item: Item): Promise<boolean> {
  let rev = lease.rev;
  for (let attempt = 0; attempt < CONFLICTS_MAX; attempt++) {
    const put = await store.put(leaseKey(session), item, { rev });
    if (put.ok || put.current?.rev === item.rev) return true;
    const stored = put.current && parseLease(put.current);
    if (!put.current || stored?.e !== lease.epoch || stored.h !== lease.holder) return false;
    rev = put.current.rev;
  }
  throw new ServiceError('overloaded', 'too many conflicting writes to this lease', {}, 1);
}

/** The lease of a session that is being deleted: a higher epoch that nobody can take over. */
export const deletedLease = (epoch: number, rev: string): Item => {
  const data: StoredLease = { e: epoch, d: 1 };
  return { rev, data };
};

function itemOf({ epoch, holder, until, rev }: Lease): Item {
  const data: StoredLease = { e: epoch, h: holder, u: until };
  return { rev, data };
}

function leaseOf({ rev }: Item, { e, h, u }: StoredLease): Lease {
  return { epoch: e, holder: h ?? '', until: epochMs(u ?? 0), rev, dueRev: '' };
}

function parseLease(item: Item): StoredLease {
  const data = item.data as Partial<StoredLease>;
  if (typeof data.e !== 'number') throw new Error('a lease is damaged');
  return { ...data, e: data.e };
}
