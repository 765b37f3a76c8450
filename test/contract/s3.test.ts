// The BlobStore contract for S3, against a real server over HTTP.

import { afterAll, beforeAll, describe } from 'vitest';
import { createS3Blobs } from '../../shared/adapters/s3-blobs.ts';
import { type BucketServer, startBucketServer } from '../support/bucket.ts';
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
