// What every adapter of the Store port keeps. `open` gives a handle on the same empty place each time it is called in one
// test; two handles stand for two processes.

import { expect, test } from 'vitest';
import type { Item, Key, Storage, Store, Write } from '../../shared/ports/store.ts';
import { tenantId } from '../../shared/types/ids.ts';

export interface StorePlace {
  open(): Promise<Storage>;
  remove(): Promise<void>;
}

const A = tenantId('tenant-a');
const B = tenantId('tenant-b');
const key = (sort: string, partition = 'p'): Key => ({ partition, sort });
const item = (rev: string, data: unknown = { of: rev }): Item => ({ rev, data });

export function storeContract(makePlace: () => Promise<StorePlace>): void {
  const check = (name: string, body: (store: Store, storage: Storage, place: StorePlace) => Promise<void>) =>
    test(name, async () => {
      const place = await makePlace();
      const storage = await place.open();
      try {
        await body(storage.forTenant(A), storage, place);
      } finally {
        await storage.close();
        await place.remove();
      }
    });

  check('gives back what was put, every kind of JSON', async (store) => {
    const values = [{ a: [1, { b: null }] }, 'text ü 😀 \u0000 "', 0, -1.5, true, null, [], {}, ''];
    for (const [i, data] of values.entries()) {
      expect(await store.put(key(`k${i}`), item('1', data), 'absent')).toEqual({ ok: true });
      expect(await store.get(key(`k${i}`))).toEqual({ rev: '1', data });
    }
    expect(await store.get(key('none'))).toBeUndefined();
  });

  check('keeps index and expiry with the item, and drops them with the next put', async (store) => {
    const full: Item = { rev: '1', data: 1, index: { name: 'x', sort: 's' }, expiresAtMs: 4_000_000_000_000 };
    await store.put(key('k'), full, 'any');
    expect(await store.get(key('k'))).toEqual(full);
    await store.put(key('k'), item('2', 2), 'any');
    expect(await store.get(key('k'))).toEqual({ rev: '2', data: 2 });
  });

  check('expectations decide, and the refusal shows what stands there', async (store) => {
    const k = key('k');
    expect(await store.put(k, item('1'), 'exists')).toEqual({ ok: false, index: 0, current: undefined });
    expect(await store.put(k, item('1'), { rev: '0' })).toEqual({ ok: false, index: 0, current: undefined });
    expect(await store.put(k, item('1'), 'absent')).toEqual({ ok: true });
    expect(await store.put(k, item('2'), 'absent')).toEqual({ ok: false, index: 0, current: item('1') });
    expect(await store.put(k, item('2'), { rev: '0' })).toEqual({ ok: false, index: 0, current: item('1') });
    expect(await store.put(k, item('2'), { rev: '1' })).toEqual({ ok: true });
    expect(await store.put(k, item('3'), 'exists')).toEqual({ ok: true });
    expect(await store.put(k, item('4'), 'any')).toEqual({ ok: true });
    expect(await store.get(k)).toEqual(item('4'));
  });

  check('deletes under the same expectations', async (store) => {
    await store.put(key('k'), item('1'), 'any');
    expect(await store.delete(key('k'), { rev: '2' })).toEqual({ ok: false, index: 0, current: item('1') });
    expect(await store.delete(key('k'), { rev: '1' })).toEqual({ ok: true });
    expect(await store.delete(key('k'), { rev: '1' })).toEqual({ ok: false, index: 0, current: undefined });
    expect(await store.delete(key('k'), 'any')).toEqual({ ok: true });
    expect(await store.get(key('k'))).toBeUndefined();
  });

  check('putAll is all or nothing, and names the first expectation that failed', async (store) => {
    await store.put(key('b'), item('b1'), 'any');
    await store.put(key('d'), item('d1'), 'any');
    const writes: Write[] = [
      { key: key('a'), item: item('a2'), expect: 'absent' },
      { key: key('b'), item: item('b2'), expect: { rev: 'b1' } },
      { key: key('c'), expect: 'absent' },
      { key: key('d'), item: null, expect: 'exists' },
      { key: key('e'), expect: { rev: 'wrong' } },
      { key: key('f'), expect: 'exists' },
    ];
    expect(await store.putAll(writes)).toEqual({ ok: false, index: 4, current: undefined });
    expect((await store.list('p', { limit: 10 })).map((r) => r.rev)).toEqual(['b1', 'd1']);
    expect(await store.putAll(writes.slice(0, 4))).toEqual({ ok: true });
    expect((await store.list('p', { limit: 10 })).map((r) => [r.key.sort, r.rev])).toEqual([
      ['a', 'a2'],
      ['b', 'b2'],
    ]);
  });

  check('putAll takes 100 writes over several partitions, not 101, none, nor a key twice', async (store) => {
    const writes = (count: number): Write[] =>
      Array.from({ length: count }, (_, i) => ({ key: key(`k${i}`, `p${i % 7}`), item: item('1'), expect: 'absent' }));
    expect(await store.putAll(writes(100))).toEqual({ ok: true });
    await expect(store.putAll(writes(101))).rejects.toThrow(TypeError);
    await expect(store.putAll([])).rejects.toThrow(TypeError);
    const twice: Write[] = [...writes(1), ...writes(1)];
    await expect(store.putAll(twice)).rejects.toThrow(TypeError);
  });

  check('lists a partition in byte order, by pages, both ways', async (store) => {
    const sorts = ['0', '10', '9', 'A', '_', 'a', 'a!', 'a0', 'ab', 'b', '~'];
    for (const sort of [...sorts].reverse()) await store.put(key(sort), item(sort), 'any');
    await store.put(key('x', 'p2'), item('other'), 'any');
    await store.put(key('x', 'o'), item('other'), 'any');
    const all = await store.list('p', { limit: 100 });
    expect(all.map((r) => r.key)).toEqual(sorts.map((s) => key(s)));
    expect(all[0]).toEqual({ key: key('0'), ...item('0') });

    const pages = async (reverse: boolean) => {
      const seen: string[] = [];
      for (let after: string | undefined; ; after = seen.at(-1)) {
        const rows = await store.list('p', { limit: 3, reverse, ...(after === undefined ? {} : { after }) });
        seen.push(...rows.map((r) => r.key.sort));
        if (rows.length < 3) return seen;
      }
    };
    expect(await pages(false)).toEqual(sorts);
    expect(await pages(true)).toEqual([...sorts].reverse());
  });

  check('lists by prefix, with `after` inside and outside it', async (store) => {
    const sorts = ['a', 'aa', 'ab', 'abc', 'abd', 'ac', 'b'];
    for (const sort of sorts) await store.put(key(sort), item(sort), 'any');
    const list = async (options: { prefix?: string; after?: string; reverse?: boolean }) =>
      (await store.list('p', { ...options, limit: 10 })).map((r) => r.key.sort).join(' ');
    expect(await list({ prefix: 'ab' })).toBe('ab abc abd');
    expect(await list({ prefix: 'ab', reverse: true })).toBe('abd abc ab');
    expect(await list({ prefix: 'ab', after: 'ab' })).toBe('abc abd');
    expect(await list({ prefix: 'ab', after: 'a' })).toBe('ab abc abd');
    expect(await list({ prefix: 'ab', after: 'b' })).toBe('');
    expect(await list({ prefix: 'ab', after: 'abd', reverse: true })).toBe('abc ab');
    expect(await list({ prefix: 'ab', after: 'b', reverse: true })).toBe('abd abc ab');
    expect(await list({ prefix: 'ab', after: 'aa', reverse: true })).toBe('');
    expect(await list({ after: 'aa' })).toBe('ab abc abd ac b');
    expect(await list({ prefix: 'z' })).toBe('');
  });

  check('lists everything, however much it is', async (store) => {
    const big = 'x'.repeat(40_000);
    for (let i = 0; i < 60; i++) await store.put(key(String(i).padStart(3, '0')), item('1', { big, i }), 'absent');
    const rows = await store.list('p', { limit: 100 });
    expect(rows.map((r) => (r.data as { i: number }).i)).toEqual(Array.from({ length: 60 }, (_, i) => i));
    expect(await store.list('p', { limit: 59 })).toHaveLength(59);
  });

  check('tenants and the installation cannot see each other, whatever they call their keys', async (store, storage) => {
    const other = storage.forTenant(B);
    await store.put(key('k'), item('a'), 'absent');
    for (const foreign of [other, storage.system]) {
      expect(await foreign.get(key('k'))).toBeUndefined();
      expect(await foreign.list('p', { limit: 10 })).toEqual([]);
      expect(await foreign.put(key('k'), item('b'), 'absent')).toEqual({ ok: true });
      await foreign.delete(key('k'), 'any');
    }
    const hostile = ['tenant-a/p', 'tenant-a#p', '#', '../p', "p' OR 1=1 --", '%', '_', 'TENANT#tenant-a', 'p|k', '\\'];
    for (const part of hostile) {
      expect(await other.list(part, { limit: 10 })).toEqual([]);
      expect(await other.list('p', { limit: 10, prefix: part })).toEqual([]);
      expect(await other.get(key(part))).toBeUndefined();
      expect(await other.put(key(part, part), item('h'), 'absent')).toEqual({ ok: true });
      expect((await other.list(part, { limit: 10 })).map((r) => r.key)).toEqual([key(part, part)]);
    }
    expect(await store.list('p', { limit: 10 })).toEqual([{ key: key('k'), ...item('a') }]);
  });

  check('refuses keys that are empty, too long or not printable ASCII', async (store) => {
    for (const part of ['', 'x'.repeat(513), 'ü', 'a\u0000b', 'a\nb', '\u007f']) {
      await expect(store.put(key(part), item('1'), 'any')).rejects.toThrow(TypeError);
      await expect(store.get(key('k', part))).rejects.toThrow(TypeError);
      await expect(store.putAll([{ key: key('k', part), expect: 'absent' }])).rejects.toThrow(TypeError);
    }
    const long = 'x'.repeat(512);
    expect(await store.put(key(long, long), item('1'), 'absent')).toEqual({ ok: true });
  });

  check('an index holds the items of all tenants in its order, and follows changes', async (store, storage) => {
    const indexed = (rev: string, sort: string, name = 'due'): Item => ({ rev, data: rev, index: { name, sort } });
    await store.put(key('1'), indexed('a1', '03'), 'any');
    await storage.forTenant(B).put(key('1'), indexed('b1', '01'), 'any');
    await store.putAll([
      { key: key('2'), item: indexed('a2', '02'), expect: 'any' },
      { key: key('3'), item: indexed('a3', '00', 'other'), expect: 'any' },
    ]);
    const revs = async (after?: string) =>
      (await storage.listIndex('due', { limit: 10, ...(after === undefined ? {} : { after }) })).map((r) => r.rev);
    await expect.poll(() => revs()).toEqual(['b1', 'a2', 'a1']);
    expect(await revs('01')).toEqual(['a2', 'a1']);
    const [first] = await storage.listIndex('due', { limit: 1 });
    expect(first).toEqual({ tenant: B, key: key('1'), ...indexed('b1', '01') });
    await store.put(key('2'), indexed('a4', '09'), 'any');
    await store.put(key('1'), item('plain'), 'any');
    await storage.forTenant(B).delete(key('1'), 'any');
    await expect.poll(() => revs()).toEqual(['a4']);
  });

  check('of many that put the same key if absent, one wins, and all see the same winner', async (store, _, place) => {
    const second = await place.open();
    const stores = [store, second.forTenant(A)];
    for (let round = 0; round < 20; round++) {
      const results = await Promise.all(
        Array.from({ length: 8 }, (_, i) => (stores[i % 2] as Store).put(key(`k${round}`), item(`w${i}`), 'absent')),
      );
      const winner = results.findIndex((r) => r.ok);
      expect(results.filter((r) => r.ok)).toHaveLength(1);
      for (const lost of results.filter((r) => !r.ok)) expect(lost).toMatchObject({ current: item(`w${winner}`) });
    }
    await second.close();
  });

  check(
    'increments from two handles through revs lose nothing, and putAll keeps two items equal',
    async (store, _, place) => {
      const second = await place.open();
      const increment = async (by: Store, name: string, times: number) => {
        for (let done = 0, n = 0; done < times; n++) {
          const at = await by.get(key('x'));
          const data = ((at?.data as number | undefined) ?? 0) + 1;
          const next = item(`${name}${n}`, data);
          const put = await by.putAll([
            { key: key('x'), item: next, expect: at ? { rev: at.rev } : 'absent' },
            { key: key('y', 'q'), item: next, expect: at ? { rev: at.rev } : 'absent' },
          ]);
          if (put.ok) done++;
        }
      };
      await Promise.all([increment(store, 'a', 25), increment(second.forTenant(A), 'b', 25)]);
      const [x, y] = await Promise.all([store.get(key('x')), store.get(key('y', 'q'))]);
      expect(x?.data).toBe(50);
      expect(y).toEqual(x);
      await second.close();
    },
  );

  check('what was written is there for a handle that is opened later', async (store, _, place) => {
    await store.put(key('k'), item('1', { kept: true }), 'absent');
    const later = await place.open();
    expect(await later.forTenant(A).get(key('k'))).toEqual({ rev: '1', data: { kept: true } });
    await later.close();
  });
}
