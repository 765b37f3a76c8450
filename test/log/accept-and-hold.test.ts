// Accepting and taking the lease in one write, for whoever runs what it accepts: both or, where the lease is another's, the
// events alone.

import { expect, test } from 'vitest';
import { clearDue, readDue } from '../../shared/log/due.ts';
import { acceptEvents, readInbox } from '../../shared/log/inbox.ts';
import { acquireLease, offerLease, readLease, releaseLease } from '../../shared/log/lease.ts';
import { deleteSession } from '../../shared/log/sessions.ts';
import { loseReplies, makeWorld } from './world.ts';

async function start() {
  const world = makeWorld();
  const { id, rev } = await world.newSession();
  const request = { session: id, sessionRev: rev, events: [world.message('one')], claims: [] };
  return { ...world, id, request };
}

test('a free lease is taken with the acceptance: a higher epoch, due at the rev of its holder', async () => {
  const { deps, store, id, request } = await start();
  const before = await acquireLease(deps, id, 'before');
  if (before.kind !== 'acquired') throw new Error(before.kind);
  await releaseLease(deps, id, before.lease);
  const accepted = await acceptEvents(deps, request, await offerLease(deps, id, 'me'));
  if (accepted.kind !== 'accepted' || !accepted.lease) throw new Error('not taken');
  expect(accepted.lease).toMatchObject({ epoch: before.lease.epoch + 1, holder: 'me', dueRev: accepted.dueRev });
  expect(await readLease(store, id)).toEqual({ ...accepted.lease, dueRev: '' });
  expect(await readDue(store, id)).toBe(accepted.dueRev);
  expect(await acquireLease(deps, id, 'other')).toMatchObject({ kind: 'held' });
  await releaseLease(deps, id, accepted.lease);
  expect(await clearDue(store, id, accepted.lease.dueRev)).toBe('cleared');
});

test('none is offered while somebody holds the session, nor after its end', async () => {
  const { deps, id } = await start();
  const held = await acquireLease(deps, id, 'other');
  expect(await offerLease(deps, id, 'me')).toBeUndefined();
  if (held.kind === 'acquired') {
    await releaseLease(deps, id, held.lease);
    await clearDue(deps.store, id, held.lease.dueRev);
  }
  expect(await deleteSession(deps, id)).toBe('deleted');
  expect(await offerLease(deps, id, 'me')).toBeUndefined();
});

test('somebody who is faster keeps the lease, and the events are in', async () => {
  const { deps, store, id, request } = await start();
  const offer = await offerLease(deps, id, 'me');
  const taken = await acquireLease(deps, id, 'other');
  const accepted = await acceptEvents(deps, request, offer);
  expect(accepted).toEqual({ kind: 'accepted', dueRev: await readDue(store, id) });
  expect(await readInbox(store, id)).toHaveLength(1);
  expect(await readLease(store, id)).toMatchObject({ holder: 'other' });
  if (taken.kind !== 'acquired') throw new Error(taken.kind);
  expect(await clearDue(store, id, taken.lease.dueRev)).toBe('changed');
});

test('a lost reply: the lease is known as ours', async () => {
  const { deps, store, id, request } = await start();
  const lossy = { ...deps, store: loseReplies(store) };
  const accepted = await acceptEvents(lossy, request, await offerLease(deps, id, 'me'));
  if (accepted.kind !== 'accepted' || !accepted.lease) throw new Error('not taken');
  expect(await readLease(store, id)).toEqual({ ...accepted.lease, dueRev: '' });
  expect(await readInbox(store, id)).toHaveLength(1);
});

test('a refused send takes no lease', async () => {
  const { deps, store, id, request } = await start();
  const call = request.events[0]?.id;
  if (!call) throw new Error('no event');
  const claims = [{ call, event: call }];
  await acceptEvents(deps, { ...request, claims });
  const again = {
    ...request,
    events: [{ ...request.events[0], id: `${call}x` } as never],
    claims: [{ call, event: `${call}x` as never }],
  };
  expect((await acceptEvents(deps, again, await offerLease(deps, id, 'me'))).kind).toBe('claimed');
  expect(await readLease(store, id)).toBeUndefined();
});
