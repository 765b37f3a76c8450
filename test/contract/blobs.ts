// What every adapter of the BlobStore port keeps.

import { expect, test } from 'vitest';
import type { BlobStore } from '../../shared/ports/blob-store.ts';
import { type BlobKey, blobKey } from '../../shared/types/ids.ts';

export interface BlobPlace {
  open(): Promise<BlobStore>;
  remove(): Promise<void>;
}

const bytes = (...values: number[]): Uint8Array => new Uint8Array(values);

export function blobsContract(makePlace: () => Promise<BlobPlace>): void {
  const check = (name: string, body: (blobs: BlobStore, place: BlobPlace) => Promise<void>) =>
    test(name, async () => {
      const place = await makePlace();
      try {
        await body(await place.open(), place);
      } finally {
        await place.remove();
      }
    });

  check('gives back the bytes, also none, and all 256 values', async (blobs) => {
    const all = new Uint8Array(256).map((_, i) => i);
    for (const [i, value] of [all, bytes(), bytes(0), bytes(10, 13, 0, 255)].entries()) {
      const key = blobKey(`t/x/${i}`);
      await blobs.put(key, value);
      expect(await blobs.get(key)).toEqual(value);
    }
    expect(await blobs.get(blobKey('t/none'))).toBeUndefined();
    expect(await blobs.get(blobKey('none'))).toBeUndefined();
  });

  check('takes what it was given as it was, though the caller changes its array afterwards', async (blobs) => {
    const mine = bytes(1, 2, 3);
    await blobs.put(blobKey('k'), mine);
    mine.fill(9);
    const got = await blobs.get(blobKey('k'));
    got?.fill(7);
    expect(await blobs.get(blobKey('k'))).toEqual(bytes(1, 2, 3));
  });

  check('reads ranges, cut at the end', async (blobs) => {
    const key = blobKey('k');
    await blobs.put(
      key,
      new Uint8Array(1000).map((_, i) => i % 251),
    );
    const slice = (offset: number, length: number) => blobs.get(key, { offset, length });
    expect(await slice(0, 3)).toEqual(bytes(0, 1, 2));
    expect(await slice(998, 2)).toEqual(bytes(998 % 251, 999 % 251));
    expect(await slice(998, 50)).toEqual(bytes(998 % 251, 999 % 251));
    expect(await slice(1000, 5)).toEqual(bytes());
    expect(await slice(5000, 5)).toEqual(bytes());
    expect(await slice(3, 0)).toEqual(bytes());
    expect(await blobs.get(blobKey('none'), { offset: 0, length: 1 })).toBeUndefined();
  });

  check('puts the same key again, also many at once', async (blobs) => {
    const value = new Uint8Array(300_000).fill(7);
    await Promise.all(Array.from({ length: 10 }, () => blobs.put(blobKey('a/b/c'), value)));
    expect(await blobs.get(blobKey('a/b/c'))).toEqual(value);
    expect(await blobs.list('', { limit: 10 })).toEqual(['a/b/c']);
  });

  check('deletes, twice without harm, and leaves the neighbours', async (blobs) => {
    for (const k of ['a/b/1', 'a/b/2', 'a/c']) await blobs.put(blobKey(k), bytes(1));
    await blobs.delete(blobKey('a/b/1'));
    await blobs.delete(blobKey('a/b/1'));
    await blobs.delete(blobKey('never/there'));
    expect(await blobs.get(blobKey('a/b/1'))).toBeUndefined();
    expect(await blobs.list('', { limit: 10 })).toEqual(['a/b/2', 'a/c']);
    await blobs.delete(blobKey('a/b/2'));
    await blobs.put(blobKey('a/b/3'), bytes(3));
    expect(await blobs.get(blobKey('a/b/3'))).toEqual(bytes(3));
  });

  check('deletes and puts side by side do not disturb each other', async (blobs) => {
    for (let round = 0; round < 10; round++) {
      await blobs.put(blobKey('d/e/x'), bytes(1));
      await Promise.all([blobs.delete(blobKey('d/e/x')), blobs.put(blobKey(`d/e/y${round}`), bytes(round))]);
      expect(await blobs.get(blobKey(`d/e/y${round}`))).toEqual(bytes(round));
      await blobs.delete(blobKey(`d/e/y${round}`));
    }
  });

  check('lists in byte order by prefix and by pages', async (blobs) => {
    const keys = ['a', 'a-b', 'a.b', 'a/b', 'a/b/c', 'a/b0', 'a/c/d', 'a0', 'ab', 'b/x', 'b/y'];
    for (const k of [...keys].reverse()) await blobs.put(blobKey(k), bytes(1));
    expect(await blobs.list('', { limit: 100 })).toEqual(keys);
    expect(await blobs.list('a/', { limit: 100 })).toEqual(['a/b', 'a/b/c', 'a/b0', 'a/c/d']);
    expect(await blobs.list('a/b', { limit: 100 })).toEqual(['a/b', 'a/b/c', 'a/b0']);
    expect(await blobs.list('b/', { limit: 1 })).toEqual(['b/x']);
    expect(await blobs.list('zz', { limit: 10 })).toEqual([]);
    const seen: BlobKey[] = [];
    for (;;) {
      const after = seen.at(-1);
      const page = await blobs.list('', { limit: 2, ...(after ? { after } : {}) });
      seen.push(...page);
      if (page.length < 2) break;
    }
    expect(seen).toEqual(keys);
  });

  check('another handle sees the same blobs, and its deletes disturb nobody', async (blobs, place) => {
    const other = await place.open();
    await blobs.put(blobKey('d/e/x'), bytes(4));
    expect(await other.get(blobKey('d/e/x'))).toEqual(bytes(4));
    await other.delete(blobKey('d/e/x'));
    await blobs.put(blobKey('d/e/y'), bytes(5));
    expect(await other.get(blobKey('d/e/y'))).toEqual(bytes(5));
  });
}
