// Accepting: what a client sent is in with one atomic write, or not at all. It checks that the session is not deleted, and
// stores the events, their claims, the idempotency record and a new `due`. An inbox event is open iff its id is not in the
// log; removing items is only a broom.

import type { Item, PutResult, Store, Write } from '../ports/store.ts';
import { ServiceError } from '../types/errors.ts';
import { type EpochMs, type EventId, epochMs, type SessionId } from '../types/ids.ts';
import type { EntryBody, InboxEvent } from '../types/log.ts';
import { claimantOf, claimWrite } from './claims.ts';
import { CONFLICTS_MAX, type LogDeps } from './deps.ts';
import { dueWrite } from './due.ts';
import { decodeEvent, encodeEvent } from './entry-codec.ts';
import { type IdempotencyRecord, idempotencyWrite, liveRecord } from './idempotency.ts';
import { inboxOf, newRev, sessionKey } from './keys.ts';
import type { Lease, LeaseOffer } from './lease.ts';
import { appendWrite } from './session-log.ts';
import { isTombstone } from './tombstone.ts';

const PAGE_ROWS = 500;
const SWEEP_WRITES_MAX = 25;

export interface Acceptance {
  readonly session: SessionId;
  /** From `readSession`; it guards against a delete meanwhile. */
  readonly sessionRev: string;
  readonly events: readonly InboxEvent[];
  /** One per answer: the call's event id, and the id of the event that answers it. */
  readonly claims: readonly { readonly call: EventId; readonly event: EventId }[];
  readonly idempotency?: IdempotencyRecord | undefined;
  /** Open events that the caller has just seen; where absent, the inbox is read to count them. */
  readonly open?: number;
}

/** What whoever will run the events brings along. */
export interface HolderOffer extends LeaseOffer {
  /** The holder's first append, which takes all of the events: it stands in the inbox's place, where its slot is free. */
  readonly first?: { readonly seq: number; readonly entries: readonly EntryBody[] } | undefined;
}

export type Accepted =
  /** `lease`: the offered one was free and is ours now. `tookAt`: the first append is in, with this time. */
  | { readonly kind: 'accepted'; readonly dueRev: string; readonly lease?: Lease; readonly tookAt?: EpochMs }
  | { readonly kind: 'deleted' }
  /** This call has an answer already (or two in this send). */
  | { readonly kind: 'claimed'; readonly call: EventId }
  /** More than `inboxEventsMax` open events. */
  | { readonly kind: 'full' }
  /** The idempotency key was used before; `record` is what stands. */
  | { readonly kind: 'repeated'; readonly record: IdempotencyRecord };

/** The stored form of one send; `t` is the acceptance time of its first event. */
interface StoredSend {
  readonly t: number;
  readonly x: readonly object[];
}

/**
 * Makes the events durable. When it resolves with `accepted` they are in, and the session is due: wake someone. A lost reply
 * that the store tried again is recognised by our own ids. An offered lease is taken in the same write, where it is still
 * free, and with it the holder's first append where the log has not grown since. Throws `ServiceError('overloaded')` after too many conflicts.
 */
export async function acceptEvents(deps: LogDeps, request: Acceptance, offered?: HolderOffer): Promise<Accepted> {
  const { store, clock, ids, limits } = deps;
  const { session } = request;
  const twice = request.claims.find(({ call }, i) => request.claims.findIndex((c) => c.call === call) !== i);
  if (twice) return { kind: 'claimed', call: twice.call };
  if (!isUrgent(request.events) && (await isFull(deps, request))) return { kind: 'full' };

  const send = { sort: ids.ulid(), rev: newRev(ids), dueRev: offered?.lease.dueRev ?? newRev(ids), now: clock.now() };
  let offer = offered;
  let { sessionRev } = request;
  let replaces: string | undefined;
  for (let attempt = 0; attempt < CONFLICTS_MAX; attempt++) {
    const first = offer?.first;
    const writes: Write[] = [
      offer && first
        ? appendWrite({ ...first, session, epoch: offer.lease.epoch, nonce: send.rev, at: send.now })
        : inboxWrite(session, send.sort, send.rev, request.events),
      { key: sessionKey(session), expect: { rev: sessionRev } },
    ];
    if (request.idempotency) {
      const expiresAtMs = send.now + limits.idempotencyTtlMs;
      writes.push(idempotencyWrite(request.idempotency, send.rev, expiresAtMs, replaces));
    }
    const claimsFrom = writes.length;
    for (const { call, event } of request.claims) writes.push(claimWrite(session, call, event));
    writes.push(dueWrite(session, send.dueRev, send.now));
    if (offer) writes.push(offer.write);

    const accepted: Accepted = {
      kind: 'accepted',
      dueRev: send.dueRev,
      ...(offer ? { lease: offer.lease } : {}),
      ...(first ? { tookAt: send.now } : {}),
    };
    const put = await store.putAll(writes);
    if (put.ok) return accepted;
    const isSlotTaken = first && put.index === 0 && put.current?.rev !== send.rev;
    if (offer && (isSlotTaken || put.index === writes.length - 1)) {
      offer = undefined; // somebody was faster: the events go in without it
      continue;
    }
    const refused = judgeRefusal(put, { request, rev: send.rev, claimsFrom, now: send.now });
    if (refused === 'accepted') return accepted;
    if (refused.kind !== 'again') return refused;
    sessionRev = refused.sessionRev ?? sessionRev;
    replaces = refused.replaces ?? replaces;
  }
  throw new ServiceError('overloaded', 'too many conflicting writes to this session', {}, 1);
}

type Refusal =
  | 'accepted'
  | Exclude<Accepted, { kind: 'accepted' }>
  | { readonly kind: 'again'; readonly sessionRev?: string; readonly replaces?: string };

interface Attempt {
  readonly request: Acceptance;
  readonly rev: string;
  readonly claimsFrom: number;
  readonly now: number;
}

/** What the first failed expectation means. The order of the writes matters: ours, deleted, repeated, claimed. */
function judgeRefusal({ index, current }: Extract<PutResult, { ok: false }>, attempt: Attempt): Refusal {
  const { request, rev, claimsFrom, now } = attempt;
  if (index === 0) {
    if (current?.rev === rev) return 'accepted';
    throw new Error('an inbox slot is taken by another send');
  }
  if (index === 1) {
    if (!current || isTombstone(current)) return { kind: 'deleted' };
    return { kind: 'again', sessionRev: current.rev };
  }
  if (index < claimsFrom) {
    if (!current || !request.idempotency) return { kind: 'again' };
    if (current.rev === rev) return 'accepted';
    const record = liveRecord(request.idempotency.key, current, epochMs(now));
    return record ? { kind: 'repeated', record } : { kind: 'again', replaces: current.rev };
  }
  const claim = request.claims[index - claimsFrom];
  if (!claim || !current) return { kind: 'again' };
  return claimantOf(current) === claim.event ? 'accepted' : { kind: 'claimed', call: claim.call };
}

/** The inbox item of one send, as part of a `putAll`; `sort` is the send's ulid, so byte order is the order of acceptance. */
export function inboxWrite(session: SessionId, sort: string, rev: string, events: readonly InboxEvent[]): Write {
  const [first] = events;
  if (!first) throw new TypeError('a send holds at least one event');
  const t = first.acceptedAt;
  const data: StoredSend = { t, x: events.map((event) => encodeEvent({ ...event }, t)) };
  return { key: { partition: inboxOf(session), sort }, item: { rev, data }, expect: 'absent' };
}

/** An interrupt or a change of the session passes a full inbox: it is the way out. */
const isUrgent = (events: readonly InboxEvent[]): boolean =>
  events.every(({ type }) => type === 'user.interrupt' || type.startsWith('control.'));

async function isFull({ store, limits }: LogDeps, { session, events, open }: Acceptance): Promise<boolean> {
  const there = open ?? (await readInbox(store, session)).length;
  return there + events.length > limits.inboxEventsMax;
}

/** All events that stand in the inbox, in order of acceptance; the log may have taken some already (the log wins by id). */
export async function readInbox(store: Store, session: SessionId): Promise<readonly InboxEvent[]> {
  return (await readSends(store, session)).flatMap(({ events }) => events);
}

/** Removes the sends whose events are all taken. */
export async function sweepInbox(store: Store, session: SessionId, taken: (id: EventId) => boolean): Promise<void> {
  const done = (await readSends(store, session)).filter(({ events }) => events.every(({ id }) => taken(id)));
  for (let i = 0; i < done.length; i += SWEEP_WRITES_MAX) {
    const writes = done.slice(i, i + SWEEP_WRITES_MAX).map(({ sort }): Write => {
      return { key: { partition: inboxOf(session), sort }, item: null, expect: 'any' };
    });
    await store.putAll(writes);
  }
}

interface Send {
  readonly sort: string;
  readonly events: readonly InboxEvent[];
}

async function readSends(store: Store, session: SessionId): Promise<readonly Send[]> {
  const sends: Send[] = [];
  for (let after: string | undefined; ; ) {
    const rows = await store.list(inboxOf(session), { ...(after === undefined ? {} : { after }), limit: PAGE_ROWS });
    for (const row of rows) sends.push({ sort: row.key.sort, events: parseSend(row) });
    if (rows.length < PAGE_ROWS) return sends;
    after = rows.at(-1)?.key.sort;
  }
}

function parseSend(item: Item): readonly InboxEvent[] {
  const { t, x } = item.data as Partial<StoredSend>;
  if (typeof t !== 'number' || !Array.isArray(x)) throw new Error('an inbox item is damaged');
  return x.map((event: object) => decodeEvent({ ...event }, t) as unknown as InboxEvent);
}
