// Whoever watches a session runs what it accepts: without a wake-up, and with the lease taken in the write that accepts.

import { afterEach, expect, it } from 'vitest';
import { text } from '../core/builders.ts';
import { answers, type Harness, startHarness } from './harness.ts';

let h: Harness;
afterEach(() => h.close());

it('turn after turn, each under one lease of its own', async () => {
  const turns = 3;
  h = await startHarness({ script: Array.from({ length: turns }, () => answers([text('done')])) });
  const leave = new AbortController();
  const tenant = h.session.tenant;
  let ended = 0;
  const reading = (async () => {
    const batches = h.engine.follow(tenant, h.session.id, { afterSeq: 0, openEvents: false }, leave.signal);
    for await (const batch of batches) {
      for (const event of batch) {
        if (event.kind === 'entries') ended += event.entries.filter((entry) => entry.kind === 'turn_ended').length;
      }
    }
  })();
  for (let turn = 1; turn <= turns; turn++) {
    await h.send({ type: 'user.message', content: [text('go')] });
    await expect.poll(() => ended).toBe(turn);
  }
  leave.abort();
  await reading;
  const epochs = (await h.log()).filter((entry) => entry.kind === 'turn_started').map((entry) => entry.epoch);
  expect(epochs).toEqual([1, 2, 3]);
  const snapshot = await h.engine.load(tenant, h.session.id);
  expect(snapshot).toMatchObject({ status: 'idle', inbox: [] });
});
