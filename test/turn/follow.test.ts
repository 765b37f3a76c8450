// Reading along: a history comes page by page, at the reader's pace, gap-free and in order.

import { afterEach, expect, it } from 'vitest';
import type { Storage } from '../../shared/ports/store.ts';
import { text } from '../core/builders.ts';
import { answers, type Harness, startHarness } from './harness.ts';

let h: Harness;
afterEach(() => h.close());

const EVENTS = 350;
const PAGE_MAX = 200;

/** A storage that counts the looks at logs. */
function countingLists(count: () => void): (storage: Storage) => Storage {
  return (storage) => ({
    ...storage,
    forTenant(tenant) {
      const store = storage.forTenant(tenant);
      return {
        ...store,
        list(partition, options) {
          if (partition.startsWith('log/')) count();
          return store.list(partition, options);
        },
      };
    },
  });
}

async function worked(reads: () => void): Promise<void> {
  h = await startHarness({ script: [answers([text('done')])], wrapStorage: countingLists(reads) });
  await h.send(
    ...Array.from({ length: EVENTS }, (_, i) => ({ type: 'user.message' as const, content: [text(`${i}`)] })),
  );
  await h.idle();
}

it('a page is read when the one before it was taken', async () => {
  let reads = 0;
  await worked(() => {
    reads += 1;
  });
  const log = await h.log();
  expect(log.length).toBeGreaterThan(EVENTS);
  const leave = new AbortController();
  const from = { afterSeq: 0, openEvents: true };
  const batches = h.engine.follow(h.session.tenant, h.session.id, from, leave.signal)[Symbol.asyncIterator]();
  const seqs: number[] = [];
  reads = 0;
  while (seqs.length < log.length) {
    const { value } = await batches.next();
    const before = reads;
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(reads).toBe(before);
    for (const event of value) {
      if (event.kind !== 'entries') continue;
      expect(event.entries.length).toBeLessThanOrEqual(PAGE_MAX);
      seqs.push(...event.entries.map((entry: { readonly seq: number }) => entry.seq));
    }
  }
  expect(seqs).toEqual(log.map((entry) => entry.seq));
  leave.abort();
  expect((await batches.next()).done).toBe(true);
});
