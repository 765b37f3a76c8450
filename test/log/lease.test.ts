// The lease: one holder, rising epochs, `due` rewritten with each taking, renewals and losses, lost replies, deleted sessions.

import { describe, expect, test } from 'vitest';
import { clearDue, listDue, readDue } from '../../shared/log/due.ts';
import { acceptEvents } from '../../shared/log/inbox.ts';
import { acquireLease, isLive, type Lease, readLease, releaseLease, renewLease } from '../../shared/log/lease.ts';
import { deleteSession } from '../../shared/log/sessions.ts';
import type { Store } from '../../shared/ports/store.ts';
import { loseReplies, makeWorld, TENANT } from './world.ts';

async function start() {
  const world = makeWorld();
  const { id, rev } = await world.newSession();
  const take = async (holder: string, store: Store = world.store): Promise<Lease> => {
    const taken = await acquireLease({ ...world.deps, store }, id, holder);
    if (taken.kind !== 'acquired') throw new Error(taken.kind);
    return taken.lease;
  };
  return { ...world, id, rev, take };
}

describe('taking', () => {
  test('a first holder gets epoch 1; while it lives nobody else gets in, and time decides', async () => {
    const { take, deps, id, store, pass } = await start();
    expect(await readLease(store, id)).toBeUndefined();
    const lease = await take('a');
    expect(lease).toMatchObject({ epoch: 1, holder: 'a', until: deps.clock.now() + deps.limits.leaseMs });
    expect(await acquireLease(deps, id, 'b')).toEqual({ kind: 'held', until: lease.until });
    pass(deps.limits.leaseMs - 1);
    expect(await acquireLease(deps, id, 'b')).toEqual({ kind: 'held', until: lease.until });
    pass(1);
    expect(await take('b')).toMatchObject({ epoch: 2, holder: 'b' });
  });

  test('a released lease is free at once, and its epoch stays', async () => {
    const { take, deps, id, store } = await start();
    await releaseLease(deps, id, await take('a'));
    const idle = await readLease(store, id);
    expect(idle).toMatchObject({ epoch: 1, holder: '', until: 0 });
    expect(idle && isLive(idle, deps.clock.now())).toBe(false);
    expect(await take('b')).toMatchObject({ epoch: 2 });
  });

  test('of many that try at once, one gets it', async () => {
    const { deps, id } = await start();
    const all = await Promise.all(Array.from({ length: 10 }, (_, i) => acquireLease(deps, id, `h${i}`)));
    expect(all.filter((t) => t.kind === 'acquired')).toHaveLength(1);
    expect(all.filter((t) => t.kind === 'held')).toHaveLength(9);
  });

  test('each taking rewrites due, so an earlier holder cannot remove it', async () => {
    const { take, deps, id, store, pass } = await start();
    const a = await take('a');
    expect(await readDue(store, id)).toBe(a.dueRev);
    pass(deps.limits.leaseMs);
    const b = await take('b');
    expect(await clearDue(store, id, a.dueRev)).toBe('changed');
    expect(await readDue(store, id)).toBe(b.dueRev);
  });

  test('an acceptance after the taking keeps due from being cleared', async () => {
    const { take, deps, id, rev, message, store } = await start();
    const lease = await take('a');
    await acceptEvents(deps, { session: id, sessionRev: rev, events: [message('x')], claims: [] });
    await releaseLease(deps, id, lease);
    expect(await clearDue(store, id, lease.dueRev)).toBe('changed');
    expect(await readDue(store, id)).toBeDefined();
  });

  test('a deleted or unknown session has no lease to take, and becomes due no more', async () => {
    const { deps, id, store, take } = await start();
    const lease = await take('a');
    await releaseLease(deps, id, lease);
    await clearDue(store, id, lease.dueRev);
    expect(await deleteSession(deps, id)).toBe('deleted');
    expect(await acquireLease(deps, id, 'b')).toEqual({ kind: 'deleted' });
    const never = `sesn_${deps.ids.ulid()}` as typeof id;
    expect(await acquireLease(deps, never, 'b')).toEqual({ kind: 'deleted' });
    expect(await readDue(store, id)).toBeUndefined();
    expect(await readLease(store, never)).toBeUndefined();
  });

  test('a lost reply is our own taking', async () => {
    const { take, store, id } = await start();
    const lease = await take('a', loseReplies(store));
    expect(lease).toMatchObject({ epoch: 1, holder: 'a', dueRev: await readDue(store, id) });
    expect(await readLease(store, id)).toMatchObject({ epoch: 1, rev: lease.rev });
  });
});

describe('holding', () => {
  test('renewing moves the end; the epoch stays', async () => {
    const { take, deps, id, store, pass } = await start();
    const lease = await take('a');
    pass(3000);
    const renewed = await renewLease(deps, id, lease);
    expect(renewed).toMatchObject({ epoch: 1, holder: 'a', until: lease.until + 3000, dueRev: lease.dueRev });
    expect(await readLease(store, id)).toMatchObject({ until: lease.until + 3000 });
    expect(await renewLease({ ...deps, store: loseReplies(store) }, id, renewed as Lease)).not.toBe('lost');
  });

  test('after a takeover the earlier holder can neither renew nor release', async () => {
    const { take, deps, id, store, pass } = await start();
    const a = await take('a');
    pass(deps.limits.leaseMs);
    const b = await take('b');
    expect(await renewLease(deps, id, a)).toBe('lost');
    expect(await releaseLease(deps, id, a)).toBe('lost');
    expect(await readLease(store, id)).toMatchObject({ epoch: 2, holder: 'b', rev: b.rev });
    await releaseLease(deps, id, b);
    expect(await renewLease(deps, id, b)).toBe('lost');
    expect(await releaseLease(deps, id, a)).toBe('lost');
  });

  test('a late renewal of an expired lease that nobody took goes through', async () => {
    const { take, deps, id, pass } = await start();
    const a = await take('a');
    pass(10 * deps.limits.leaseMs);
    expect(await renewLease(deps, id, a)).toMatchObject({ epoch: 1 });
  });

  test('a renewal that is under way does not make the release fail', async () => {
    const { take, deps, id, store } = await start();
    const lease = await take('a');
    await renewLease(deps, id, lease);
    expect(await releaseLease(deps, id, lease)).toBeUndefined();
    expect(await readLease(store, id)).toMatchObject({ epoch: 1, until: 0 });
    const again = await take('b');
    expect(await releaseLease({ ...deps, store: loseReplies(store) }, id, again)).toBeUndefined();
  });
});

describe('listing what is due', () => {
  test('over all tenants, longest first, by pages', async () => {
    const world = makeWorld();
    const ids = [];
    for (let i = 0; i < 5; i++) {
      ids.push((await world.newSession(world.message('x'))).id);
      world.pass(1000);
    }
    await world.newSession();
    const now = world.deps.clock.now();
    const first = await listDue(world.storage, undefined, 3);
    const rest = await listDue(world.storage, first.at(-1)?.position, 3);
    const all = [...first, ...rest];
    expect(all.map((d) => d.session)).toEqual(ids);
    expect(all.map((d) => d.tenant)).toEqual(Array(5).fill(TENANT));
    expect(all.map((d) => now - d.at)).toEqual([5000, 4000, 3000, 2000, 1000]);
  });
});
