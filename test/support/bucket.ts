// An S3 server in this process with one bucket, and how the adapter reaches it.

import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { startFauxqs } from 'fauxqs';
import type { S3BlobsOptions } from '../../shared/adapters/s3-blobs.ts';

const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };

export interface BucketServer {
  readonly endpoint: string;
  /** An empty bucket of its own. */
  makeBucket(): Promise<S3BlobsOptions>;
  close(): Promise<void>;
}

export async function startBucketServer(): Promise<BucketServer> {
  const server = await startFauxqs({ port: 0, host: '127.0.0.1', logger: false });
  const endpoint = `http://127.0.0.1:${server.port}`;
  const connection = { endpoint, region: 'us-east-1', credentials };
  const client = new S3Client({ ...connection, forcePathStyle: true });
  let made = 0;
  return {
    endpoint,
    async makeBucket() {
      const bucket = `bucket-${made++}`;
      await client.send(new CreateBucketCommand({ Bucket: bucket }));
      return { bucket, ...connection };
    },
    async close() {
      client.destroy();
      await server.stop();
    },
  };
}
