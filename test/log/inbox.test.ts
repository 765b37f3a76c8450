// Accepting: one atomic write that is in or not; what refuses it; lost replies; the broom.

import { describe, expect, test } from 'vitest';
import { readClaim, takeClaim } from '../../shared/log/claims.ts';
import { clearDue, readDue } from '../../shared/log/due.ts';
import { readIdempotency } from '../../shared/log/idempotency.ts';
import { type Acceptance, acceptEvents, readInbox, sweepInbox } from '../../shared/log/inbox.ts';
import { deleteSession } from '../../shared/log/sessions.ts';
import type { InboxEvent } from '../../shared/types/log.ts';
import { loseReplies, makeWorld, type World } from './world.ts';

async function start(limits = {}) {
  const world = makeWorld(limits);
  const { id, rev } = await world.newSession();
  const accept = (events: readonly InboxEvent[], more: Partial<Acceptance> = {}, deps = world.deps) =>
    acceptEvents(deps, { session: id, sessionRev: rev, events, claims: [], ...more });
  return { ...world, id, rev, accept };
}

const answer = (world: World, call: InboxEvent['id']): InboxEvent => ({
  type: 'user.custom_tool_result',
  custom_tool_use_id: call,
  id: world.newEventId(),
  acceptedAt: world.deps.clock.now(),
});

describe('accepting', () => {
  test('stores the events in order, and makes the session due', async () => {
    const { accept, message, event, store, id, pass } = await start();
    const first = [message('one'), event('user.interrupt')];
    const accepted = await accept(first);
    expect(accepted).toEqual({ kind: 'accepted', dueRev: await readDue(store, id) });
    pass(1000);
    const second = [message('two')];
    const again = await accept(second);
    expect(await readInbox(store, id)).toEqual([...first, ...second]);
    expect(again).toEqual({ kind: 'accepted', dueRev: await readDue(store, id) });
    expect(again).not.toEqual(accepted);
  });

  test('one request where the caller counted what is open, one more where it did not', async () => {
    const { accept, message, counts } = await start();
    const before = { ...counts };
    await accept([message('a')], { open: 0 });
    expect([counts.writes - before.writes, counts.get - before.get, counts.list - before.list]).toEqual([1, 0, 0]);
    await accept([message('b')]);
    expect([counts.writes - before.writes, counts.get - before.get, counts.list - before.list]).toEqual([2, 0, 1]);
  });

  test('recognises its own write after a lost reply', async () => {
    const world = await start();
    const { accept, message, store, id, deps } = world;
    const call = world.newEventId();
    const event = answer(world, call);
    const more = { claims: [{ call, event: event.id }], idempotency: { key: 'k', fingerprint: 'f', answer: 1 } };
    const lossy = { ...deps, store: loseReplies(store) };
    expect(await accept([event], more, lossy)).toEqual({ kind: 'accepted', dueRev: await readDue(store, id) });
    expect(await accept([message('next')], {}, lossy)).toMatchObject({ kind: 'accepted' });
    expect(await readInbox(store, id)).toHaveLength(2);
  });

  test('a deleted or unknown session takes nothing, and nothing is left of the send', async () => {
    const world = await start();
    const { accept, message, store, id, deps } = world;
    expect(await deleteSession(deps, id)).toBe('deleted');
    const idempotency = { key: 'k', fingerprint: 'f', answer: 1 };
    expect(await accept([message('late')], { idempotency })).toEqual({ kind: 'deleted' });
    expect(await readInbox(store, id)).toEqual([]);
    expect(await readDue(store, id)).toBeUndefined();
    expect(await readIdempotency(store, 'k', deps.clock.now())).toBeUndefined();
    const never = `sesn_${deps.ids.ulid()}` as typeof id;
    expect(await accept([message('x')], { session: never })).toEqual({ kind: 'deleted' });
  });

  test('a stale revision of a session that lives is only a conflict', async () => {
    const { accept, message } = await start();
    expect(await accept([message('a')], { sessionRev: 'older' })).toMatchObject({ kind: 'accepted' });
  });
});

describe('limits of the inbox', () => {
  test('refuses what would not fit, and lets the ways out pass', async () => {
    const { accept, message, event, store, id } = await start({ inboxEventsMax: 3 });
    await accept([message('1'), message('2')]);
    expect(await accept([message('3'), message('4')])).toEqual({ kind: 'full' });
    expect(await accept([message('3')])).toMatchObject({ kind: 'accepted' });
    expect(await accept([message('4')])).toEqual({ kind: 'full' });
    expect(await accept([event('user.interrupt')])).toMatchObject({ kind: 'accepted' });
    expect(await accept([event('control.stop')])).toMatchObject({ kind: 'accepted' });
    expect(await accept([event('user.interrupt'), message('4')])).toEqual({ kind: 'full' });
    expect(await readInbox(store, id)).toHaveLength(5);
    expect(await accept([message('4')], { open: 2 })).toMatchObject({ kind: 'accepted' });
    expect(await accept([message('5')], { open: 3 })).toEqual({ kind: 'full' });
  });
});

describe('answers', () => {
  test('a call is answered once: the second send is refused whole', async () => {
    const world = await start();
    const { accept, store, id, message } = world;
    const [call, other] = [world.newEventId(), world.newEventId()];
    const first = answer(world, call);
    await accept([first], { claims: [{ call, event: first.id }] });
    expect(await readClaim(store, id, call)).toBe(first.id);
    const second = [answer(world, other), answer(world, call), message('and')];
    const claims = [
      { call: other, event: (second[0] as InboxEvent).id },
      { call, event: (second[1] as InboxEvent).id },
    ];
    expect(await accept(second, { claims })).toEqual({ kind: 'claimed', call });
    expect(await readInbox(store, id)).toEqual([first]);
    expect(await readClaim(store, id, other)).toBeUndefined();
  });

  test('two answers to one call in one send are refused', async () => {
    const world = await start();
    const call = world.newEventId();
    const events = [answer(world, call), answer(world, call)];
    const claims = events.map((e) => ({ call, event: e.id }));
    expect(await world.accept(events, { claims })).toEqual({ kind: 'claimed', call });
    expect(await readInbox(world.store, world.id)).toEqual([]);
  });

  test('as many answers as a send may hold', async () => {
    const world = await start();
    const calls = Array.from({ length: 50 }, () => world.newEventId());
    const events = calls.map((call) => answer(world, call));
    const claims = events.map((e, i) => ({ call: calls[i] as InboxEvent['id'], event: e.id }));
    expect(await world.accept(events, { claims })).toMatchObject({ kind: 'accepted' });
  });

  test('client and holder race for a call: one wins, the other learns who', async () => {
    const world = await start();
    const { accept, store, id } = world;
    const [a, b] = [world.newEventId(), world.newEventId()];
    const event = answer(world, a);
    await accept([event], { claims: [{ call: a, event: event.id }] });
    expect(await takeClaim(store, id, a, 'holder')).toEqual({ taken: false, by: event.id });
    expect(await takeClaim(store, id, b, 'holder')).toEqual({ taken: true });
    expect(await takeClaim(loseReplies(store), id, b, 'holder')).toEqual({ taken: true });
    const late = answer(world, b);
    expect(await accept([late], { claims: [{ call: b, event: late.id }] })).toEqual({ kind: 'claimed', call: b });
  });
});

describe('idempotency', () => {
  const idempotency = { key: 'key 1', fingerprint: 'f1', answer: { data: [1] } };

  test('the same key again gives what stands, and stores nothing; before claims are looked at', async () => {
    const world = await start();
    const { accept, message, store, id, deps } = world;
    const call = world.newEventId();
    const event = answer(world, call);
    const claims = [{ call, event: event.id }];
    await accept([event], { idempotency, claims });
    expect(await accept([event], { idempotency, claims })).toEqual({ kind: 'repeated', record: idempotency });
    const other = { ...idempotency, fingerprint: 'f2', answer: 2 };
    expect(await accept([message('b')], { idempotency: other })).toEqual({ kind: 'repeated', record: idempotency });
    expect(await readInbox(store, id)).toEqual([event]);
    expect(await readIdempotency(store, 'key 1', deps.clock.now())).toEqual(idempotency);
  });

  test('its time over, a key is new, though the broom has not come', async () => {
    const { accept, message, store, pass, deps, id } = await start();
    await accept([message('a')], { idempotency });
    pass(deps.limits.idempotencyTtlMs);
    expect(await readIdempotency(store, 'key 1', deps.clock.now())).toBeUndefined();
    const next = { ...idempotency, fingerprint: 'f2' };
    expect(await accept([message('b')], { idempotency: next })).toMatchObject({ kind: 'accepted' });
    expect(await readIdempotency(store, 'key 1', deps.clock.now())).toEqual(next);
    expect(await readInbox(store, id)).toHaveLength(2);
  });
});

describe('the broom', () => {
  test('removes a send when all its events are taken, many at once', async () => {
    const { accept, message, store, id } = await start();
    const sends = Array.from({ length: 60 }, (_, i) => [message(`a${i}`), message(`b${i}`)]);
    for (const send of sends) await accept(send, { open: 0 });
    const [first, ...rest] = sends as [InboxEvent[], ...InboxEvent[][]];
    const taken = new Set([first[0], ...rest.slice(1).flat()].map((e) => e?.id));
    await sweepInbox(store, id, (eventId) => taken.has(eventId));
    expect(await readInbox(store, id)).toEqual([...first, ...(rest[0] as InboxEvent[])]);
  });
});

describe('due', () => {
  test('is cleared at the rev that was noted, and no other', async () => {
    const { accept, message, store, id } = await start();
    const one = await accept([message('1')]);
    const two = await accept([message('2')]);
    if (one.kind !== 'accepted' || two.kind !== 'accepted') throw new Error('not accepted');
    expect(await clearDue(store, id, one.dueRev)).toBe('changed');
    expect(await readDue(store, id)).toBe(two.dueRev);
    expect(await clearDue(loseReplies(store), id, two.dueRev)).toBe('cleared');
    expect(await clearDue(store, id, two.dueRev)).toBe('cleared');
  });
});
