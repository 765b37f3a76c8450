// A holder that was overtaken stops: whoever has read an entry of a higher epoch writes nothing more (design 3).

import { expect, test } from 'vitest';
import { initialState } from '../../shared/core/fold.ts';
import { acquireLease } from '../../shared/log/lease.ts';
import { appendEntries, readLog } from '../../shared/log/session-log.ts';
import type { Ports } from '../../shared/ports/ports.ts';
import { createHub } from '../../shared/turn/hub.ts';
import { createSessionCache } from '../../shared/turn/load-session.ts';
import { startWorker } from '../../shared/turn/worker.ts';
import { session as sessionOf } from '../core/builders.ts';
import { makeWorld, offered, TENANT } from '../log/world.ts';

/** The session with a holder of epoch 2 whose view ends before what the epochs in `written` wrote meanwhile. */
async function overtaken(...written: number[]) {
  return overtakenFrom(0, written);
}

/** As `overtaken`, with a view that holds an entry of `seenEpoch` already, where that is not 0. */
async function overtakenFrom(seenEpoch: number, written: readonly number[]) {
  const world = makeWorld();
  const { id } = await world.newSession();
  await acquireLease(world.deps, id, 'frozen');
  world.pass(world.deps.limits.leaseMs);
  const taken = await acquireLease(world.deps, id, 'holder');
  if (taken.kind !== 'acquired') throw new Error(taken.kind);
  const clock = {
    ...world.deps.clock,
    sleep: () => new Promise<void>(() => {}),
  };
  const ports = {
    ...world.deps,
    clock,
    storage: world.storage,
    logger: console,
  } as unknown as Ports;
  const context = {
    ports,
    deps: { ...world.deps, clock },
    hub: createHub(),
    cache: createSessionCache(10),
    tenant: TENANT,
    session: id,
  };
  const worker = startWorker(context, taken.lease, {
    ...initialState(sessionOf({ id })),
    epoch: seenEpoch,
  });
  for (const [i, epoch] of written.entries()) {
    const at = world.deps.clock.now();
    const entries = [offered(`e${epoch}`)];
    await appendEntries(world.store, {
      session: id,
      seq: i + 1,
      epoch,
      nonce: `n${i}`,
      at,
      entries,
    });
  }
  const commit = async () => {
    worker.stage([offered('mine')]);
    return worker.commit();
  };
  const epochs = async () => (await readLog(world.store, id, 0)).map((e) => e.epoch);
  return { worker, commit, epochs };
}

test('a slot lost to a lower epoch: it reads on and writes behind', async () => {
  const { worker, commit, epochs } = await overtaken(1);
  expect(await commit()).toBe(false);
  expect(worker.lost()).toBe(false);
  expect(await commit()).toBe(true);
  expect(await epochs()).toEqual([1, 2]);
});

test('a slot lost to a higher epoch: it stops', async () => {
  const { worker, commit, epochs } = await overtaken(3);
  expect(await commit()).toBe(false);
  expect(worker.lost()).toBe(true);
  expect(await epochs()).toEqual([3]);
});

test('a slot lost to a lower epoch with a higher one behind it: it stops', async () => {
  const { worker, commit, epochs } = await overtaken(1, 3);
  expect(await commit()).toBe(false);
  expect(worker.lost()).toBe(true);
  expect(await commit()).toBe(false);
  expect(await epochs()).toEqual([1, 3]);
});

test('a higher epoch in what it read at the start: it stops before the first word', async () => {
  const { worker, commit, epochs } = await overtakenFrom(3, []);
  expect(worker.lost()).toBe(true);
  expect(await commit()).toBe(false);
  expect(await epochs()).toEqual([]);
});
