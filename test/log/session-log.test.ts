// Appends and reading: slots, nonces, whole appends, pages, both directions, and readers that stand within an append.

import { describe, expect, test } from 'vitest';
import { appendEntries, readLog, readLogBackwards, readTail } from '../../shared/log/session-log.ts';
import type { Store } from '../../shared/ports/store.ts';
import { epochMs, type SessionId } from '../../shared/types/ids.ts';
import type { LogEntry } from '../../shared/types/log.ts';
import { loseReplies, makeWorld, offered } from './world.ts';

const ID = 'sesn_01k00000000000000000000000' as SessionId;
const AT = epochMs(1_700_000_000_000);

const append = (
  store: Store,
  seq: number,
  names: readonly string[],
  options: { nonce?: string; epoch?: number } = {},
) =>
  appendEntries(store, {
    session: ID,
    seq,
    epoch: options.epoch ?? 1,
    nonce: options.nonce ?? `n${seq}`,
    at: AT,
    entries: names.map((name) => offered(name)),
  });

const seqs = (entries: readonly LogEntry[]) => entries.map((e) => e.seq).join(' ');

describe('appending', () => {
  test('gives entries their place, epoch and time, and reads them back the same', async () => {
    const { store } = makeWorld();
    const put = await append(store, 1, ['a', 'b'], { epoch: 3 });
    const entries = [
      { ...offered('a'), v: 1, seq: 1, epoch: 3, at: AT },
      { ...offered('b'), v: 1, seq: 2, epoch: 3, at: AT },
    ];
    expect(put).toEqual({ kind: 'ok', entries });
    expect(await readLog(store, ID, 0)).toEqual(entries);
  });

  test('a taken slot is lost, and says to whom', async () => {
    const { store } = makeWorld();
    await append(store, 1, ['a', 'b'], { nonce: 'mine', epoch: 2 });
    expect(await append(store, 1, ['x'], { nonce: 'other' })).toEqual({
      kind: 'lost',
      by: { v: 1, seq: 1, epoch: 2, nonce: 'mine', at: AT, entries: [offered('a'), offered('b')] },
    });
    expect(await readLog(store, ID, 0)).toHaveLength(2);
  });

  test('the same nonce in the slot is our own lost reply', async () => {
    const { store } = makeWorld();
    const put = await append(loseReplies(store), 1, ['a']);
    expect(put.kind).toBe('ok');
    expect(await readLog(store, ID, 0)).toHaveLength(1);
  });

  test('refuses an append of nothing', async () => {
    await expect(append(makeWorld().store, 1, [])).rejects.toThrow(TypeError);
  });

  test('a damaged item is named, not passed on', async () => {
    const { store } = makeWorld();
    const key = { partition: 'l/01k00000000000000000000000', sort: '000000000001' };
    await store.put(key, { rev: '1', data: { e: 1, t: 'x', x: [] } }, 'any');
    await expect(readLog(store, ID, 0)).rejects.toThrow('slot 1 is damaged');
  });
});

describe('reading', () => {
  /** Appends of 1, 2, 3, 1, 2, 3 … entries, `count` of them. */
  async function filled(count: number) {
    const world = makeWorld();
    let seq = 1;
    for (let i = 0; i < count; i++) {
      const size = (i % 3) + 1;
      await append(
        world.store,
        seq,
        Array.from({ length: size }, (_, j) => `${i}.${j}`),
      );
      seq += size;
    }
    return { ...world, last: seq - 1 };
  }

  test('from any entry on, also within an append, with any limit', async () => {
    const { store, last } = await filled(9);
    for (let after = 0; after <= last + 2; after++) {
      const wanted = Array.from({ length: Math.max(0, last - after) }, (_, i) => after + 1 + i);
      expect(seqs(await readLog(store, ID, after))).toBe(wanted.join(' '));
      for (const limit of [0, 1, 2, 5, 100]) {
        expect(seqs(await readLog(store, ID, after, limit))).toBe(wanted.slice(0, limit).join(' '));
      }
    }
  });

  test('backwards from any entry, newest first', async () => {
    const { store, last } = await filled(9);
    for (const before of [1, 2, 5, 6, last, last + 1, Number.POSITIVE_INFINITY]) {
      const top = Math.min(before - 1, last);
      const wanted = Array.from({ length: top }, (_, i) => top - i);
      for (const limit of [0, 1, 2, 5, 100]) {
        expect(seqs(await readLogBackwards(store, ID, before, limit))).toBe(wanted.slice(0, limit).join(' '));
      }
    }
  });

  test('an append that comes in between the two requests of a read is for the next read', async () => {
    for (const after of [1, 2]) {
      const { store } = makeWorld();
      await append(store, 1, ['a', 'b']);
      const racing: Store = {
        ...store,
        async list(partition, options) {
          const rows = await store.list(partition, options);
          await append(store, 3, ['c']);
          return rows;
        },
      };
      expect(seqs(await readLog(racing, ID, after))).toBe(after === 1 ? '2' : '');
    }
  });

  test('over many pages', async () => {
    const { store, last } = await filled(1100);
    expect((await readLog(store, ID, 0)).map((e) => e.seq)).toEqual(Array.from({ length: last }, (_, i) => i + 1));
    expect((await readLogBackwards(store, ID, Number.POSITIVE_INFINITY, last)).map((e) => e.seq)).toEqual(
      Array.from({ length: last }, (_, i) => last - i),
    );
    expect(await readLog(store, ID, 3, 1500)).toHaveLength(1500);
  });

  test('the tail behind the end of an append costs one request, also where there is nothing new', async () => {
    const { store, counts, last } = await filled(6);
    const before = counts.list;
    expect(await readTail(store, ID, last)).toEqual([]);
    expect(seqs(await readTail(store, ID, last - 3))).toBe(`${last - 2} ${last - 1} ${last}`);
    expect(seqs(await readLog(store, ID, last - 3))).toBe(`${last - 2} ${last - 1} ${last}`);
    expect(counts.list - before).toBe(3);
  });
});
