// Sessions from creation to the end of their tombstone.

import { describe, expect, test } from 'vitest';
import { takeClaim } from '../../shared/log/claims.ts';
import { clearDue, listDue, readDue } from '../../shared/log/due.ts';
import { acceptEvents, readInbox } from '../../shared/log/inbox.ts';
import { acquireLease, readLease, releaseLease, renewLease } from '../../shared/log/lease.ts';
import { appendEntries, readLog } from '../../shared/log/session-log.ts';
import {
  createSession,
  deleteSession,
  endTombstones,
  listSessions,
  readSession,
  waitForRest,
} from '../../shared/log/sessions.ts';
import type { SessionId } from '../../shared/types/ids.ts';
import { session as sessionOf } from '../core/builders.ts';
import { loseReplies, makeWorld, offered, TENANT, type World } from './world.ts';

const append = (world: World, id: SessionId, seq: number) =>
  appendEntries(world.store, {
    session: id,
    seq,
    epoch: 1,
    nonce: `n${seq}`,
    at: world.deps.clock.now(),
    entries: [offered('x')],
  });

describe('creating and reading', () => {
  test('a session is there whole, with its first events, and due', async () => {
    const world = makeWorld();
    const event = world.message('hi');
    const session = sessionOf({ title: 'T' });
    const { rev } = await createSession(world.deps, session, [event]);
    expect(await readSession(world.store, session.id)).toEqual({ session, rev });
    expect(await readInbox(world.store, session.id)).toEqual([event]);
    expect(await listDue(world.storage, undefined, 9)).toMatchObject([{ session: session.id, tenant: TENANT }]);
  });

  test('without events it is not due', async () => {
    const world = makeWorld();
    const { id } = await world.newSession();
    expect(await readDue(world.store, id)).toBeUndefined();
  });

  test('a lost reply is our own creation; an id used twice is refused', async () => {
    const world = makeWorld();
    const session = sessionOf();
    const lossy = { ...world.deps, store: loseReplies(world.store) };
    const { rev } = await createSession(lossy, session, [world.message('a')]);
    expect(await readSession(world.store, session.id)).toEqual({ session, rev });
    await expect(createSession(world.deps, session, [])).rejects.toThrow('twice');
  });

  test('unknown ones and those of other tenants are undefined', async () => {
    const world = makeWorld();
    const { id } = await world.newSession();
    expect(await readSession(world.storage.forTenant('other' as typeof TENANT), id)).toBeUndefined();
  });

  test('lists in order of creation, both ways, by pages, without deleted ones', async () => {
    const world = makeWorld();
    const ids: SessionId[] = [];
    for (let i = 0; i < 12; i++) ids.push((await world.newSession()).id);
    const gone = new Set([ids[0], ids[3], ids[4], ids[5], ids[11]]);
    for (const id of gone) await deleteSession(world.deps, id as SessionId);
    const live = ids.filter((id) => !gone.has(id));
    for (const reverse of [false, true]) {
      const seen: SessionId[] = [];
      for (let after: SessionId | undefined; ; after = seen.at(-1)) {
        const page = await listSessions(world.store, { limit: 3, reverse, ...(after ? { after } : {}) });
        seen.push(...page.map((s) => s.session.id));
        if (page.length < 3) break;
      }
      expect(seen).toEqual(reverse ? [...live].reverse() : live);
    }
    expect(await listSessions(world.store, { limit: 0 })).toEqual([]);
  });
});

describe('deleting', () => {
  test('removes everything but the tombstone, and tells later callers', async () => {
    const world = makeWorld();
    const { deps, store } = world;
    const { id, rev } = await world.newSession();
    await takeClaim(store, id, world.newEventId(), 'holder');
    await acceptEvents(deps, { session: id, sessionRev: rev, events: [world.message('x')], claims: [] });
    const taken = await acquireLease(deps, id, 'a');
    if (taken.kind !== 'acquired') throw new Error(taken.kind);
    for (let seq = 1; seq <= 70; seq++) await append(world, id, seq);
    await releaseLease(deps, id, taken.lease);
    await clearDue(store, id, taken.lease.dueRev);

    expect(await deleteSession(deps, id)).toBe('deleted');
    expect(await readSession(store, id)).toEqual({ deleted: true });
    expect(await readLog(store, id, 0)).toEqual([]);
    expect(await readInbox(store, id)).toEqual([]);
    expect(await deleteSession(deps, id)).toBe('missing');
    expect(await deleteSession(deps, 'sesn_01k0000000000000000000000z' as SessionId)).toBe('missing');
  });

  test('fences an earlier holder by a higher epoch', async () => {
    const world = makeWorld();
    const { deps, store, pass } = world;
    const { id } = await world.newSession();
    const taken = await acquireLease(deps, id, 'a');
    if (taken.kind !== 'acquired') throw new Error(taken.kind);
    await clearDue(store, id, taken.lease.dueRev);
    expect(await deleteSession(deps, id)).toBe('busy');
    pass(deps.limits.leaseMs);
    expect(await deleteSession(deps, id)).toBe('deleted');
    expect(await renewLease(deps, id, taken.lease)).toBe('lost');
    expect(await releaseLease(deps, id, taken.lease)).toBe('lost');
    expect((await readLease(store, id))?.epoch).toBe(2);
  });

  test('refuses what is due', async () => {
    const world = makeWorld();
    const { id } = await world.newSession(world.message('x'));
    expect(await deleteSession(world.deps, id)).toBe('busy');
    expect(await readInbox(world.store, id)).toHaveLength(1);
  });

  test('a lost reply is our own deletion', async () => {
    const world = makeWorld();
    const { id } = await world.newSession();
    expect(await deleteSession({ ...world.deps, store: loseReplies(world.store) }, id)).toBe('deleted');
  });

  test('of an acceptance and a deletion at once, exactly one goes through', async () => {
    for (let round = 0; round < 20; round++) {
      const world = makeWorld();
      const { id, rev } = await world.newSession();
      const send = { session: id, sessionRev: rev, events: [world.message('x')], claims: [] };
      const [accepted, deleted] = await Promise.all([acceptEvents(world.deps, send), deleteSession(world.deps, id)]);
      expect(accepted.kind === 'accepted').toBe(deleted === 'busy');
      expect(accepted.kind === 'deleted').toBe(deleted === 'deleted');
    }
  });

  test('waits for rest while a holder is about to leave, and gives up in time', async () => {
    const world = makeWorld();
    const { deps, store } = world;
    const { id } = await world.newSession();
    const never = new AbortController().signal;
    expect(await waitForRest(deps, id, never)).toBe(true);
    const taken = await acquireLease(deps, id, 'a');
    if (taken.kind !== 'acquired') throw new Error(taken.kind);
    const before = deps.clock.now();
    expect(await waitForRest(deps, id, never)).toBe(false);
    expect(deps.clock.now() - before).toBeLessThanOrEqual(deps.limits.archiveWaitMs + 50);
    const leave = async () => {
      await releaseLease(deps, id, taken.lease);
      await clearDue(store, id, taken.lease.dueRev);
    };
    expect(await waitForRest({ ...deps, clock: { ...deps.clock, sleep: leave } }, id, never)).toBe(true);
  });

  test('at the end of its tombstone even what a frozen worker wrote back is gone', async () => {
    const world = makeWorld();
    const { deps, store, storage, pass } = world;
    const { id } = await world.newSession();
    await deleteSession(deps, id);
    await append(world, id, 1);
    expect(await endTombstones(storage, deps.clock.now(), 10)).toEqual([]);
    pass(deps.limits.tombstoneMs);
    expect(await endTombstones(storage, deps.clock.now(), 10)).toEqual([{ tenant: TENANT, session: id }]);
    expect(await readLog(store, id, 0)).toEqual([]);
    expect(await readSession(store, id)).toBeUndefined();
    expect(await readLease(store, id)).toBeUndefined();
    expect(await endTombstones(storage, deps.clock.now(), 10)).toEqual([]);
  });
});
