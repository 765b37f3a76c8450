// The BlobStore contract for S3, against a real server over HTTP, and what the adapter asks and does when answers fail.

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createS3Blobs, type S3BlobsOptions } from '../../shared/adapters/s3-blobs.ts';
import type { BlobStore } from '../../shared/ports/blob-store.ts';
import { blobKey } from '../../shared/types/ids.ts';
import { type BucketServer, startBucketServer } from '../support/bucket.ts';
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.ts';
import { blobsContract } from './blobs.ts';

let server: BucketServer;
beforeAll(async () => {
  server = await startBucketServer();
});
afterAll(() => server?.close());

describe('s3', () => {
  blobsContract(async () => {
    const options = await server.makeBucket();
    return { open: async () => createS3Blobs(options), remove: async () => {} };
  });
});

describe('s3 requests', () => {
  const key = blobKey('t/k');
  const bytes = new Uint8Array(200_000).map((_, i) => i % 251);
  const busy = { kind: 'answer', status: 503, body: '<Error><Code>SlowDown</Code></Error>' } as const;
  let options: S3BlobsOptions;
  let proxy: FaultProxy;
  let blobs: BlobStore;

  beforeEach(async () => {
    options = await server.makeBucket();
    proxy = await startFaultProxy(server.endpoint);
    blobs = createS3Blobs({ ...options, endpoint: proxy.url });
  });
  afterEach(() => proxy.close());

  test('busy answers and broken connections are waited out', async () => {
    for (const fault of [busy, { kind: 'refuse' }, { kind: 'lose' }] as const) {
      proxy.plan([fault]);
      await blobs.put(key, bytes);
      proxy.plan([fault]);
      expect(await blobs.get(key)).toEqual(bytes);
      proxy.plan([fault]);
      expect(await blobs.list('t/', { limit: 5 })).toEqual([key]);
      proxy.plan([fault]);
      await blobs.delete(key);
    }
  });

  test('a body that breaks off is read again, never taken for the whole', async () => {
    await blobs.put(key, bytes);
    proxy.plan([{ kind: 'cut' }, { kind: 'cut' }]);
    expect(await blobs.get(key)).toEqual(bytes);
    proxy.plan([{ kind: 'cut' }]);
    expect(await blobs.get(key, { offset: 1000, length: 50_000 })).toEqual(bytes.slice(1000, 51_000));
    proxy.plan({ always: { kind: 'cut' } });
    await expect(blobs.get(key)).rejects.toMatchObject({ name: 'ServiceError', code: 'overloaded' });
  });

  test('what goes on failing is `overloaded`; a bucket that is not there is no missing blob', async () => {
    proxy.plan({ always: { kind: 'answer', status: 500, body: '<Error><Code>InternalError</Code></Error>' } });
    await expect(blobs.put(key, bytes)).rejects.toMatchObject({ name: 'ServiceError', code: 'overloaded' });
    const elsewhere = createS3Blobs({ ...options, bucket: 'no-such-bucket' });
    await expect(elsewhere.get(key)).rejects.toThrow();
    await expect(elsewhere.put(key, bytes)).rejects.toThrow();
  });

  test('nothing is conditional, and lists follow pages of the server', async () => {
    const keys = Array.from({ length: 1100 }, (_, i) => blobKey(`n/${String(i).padStart(4, '0')}`));
    for (let i = 0; i < keys.length; i += 50) {
      await Promise.all(keys.slice(i, i + 50).map((k) => blobs.put(k, new Uint8Array(1))));
    }
    expect(await blobs.list('n/', { limit: 5000 })).toEqual(keys);
    expect(await blobs.list('n/', { limit: 1050 })).toHaveLength(1050);
    await blobs.put(key, bytes);
    await blobs.delete(key);
    const headers = new Set(proxy.seen.flatMap((seen) => Object.keys(seen.headers)));
    expect([...headers].filter((name) => name.startsWith('if-'))).toEqual([]);
  });
});
