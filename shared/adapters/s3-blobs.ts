// The BlobStore port on one S3 bucket. No conditional writes: keys are content-addressed. Nothing is verified by ETag, which
// is no hash of the bytes; who needs to be sure compares the hash in the key. The SDK is loaded with the first call.

import type * as AwsS3 from '@aws-sdk/client-s3';
import type { BlobStore } from '../ports/blob-store.ts';
import { ServiceError } from '../types/errors.ts';
import { type BlobKey, blobKey } from '../types/ids.ts';

const PAGE_MAX = 1000;
const SEND_ATTEMPTS_MAX = 5;
const READ_ATTEMPTS_MAX = 3;
const CONNECT_TIMEOUT_MS = 2000;
/** Silence on the connection, not the length of a transfer. */
const SOCKET_TIMEOUT_MS = 20_000;

export interface S3BlobsOptions {
  readonly bucket: string;
  /** Another server than AWS; its buckets are addressed by path. */
  readonly endpoint?: string | undefined;
  /** Region and credentials come from the environment where they are absent. */
  readonly region?: string | undefined;
  readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: string } | undefined;
}

type Sdk = typeof AwsS3;
type Range = { readonly offset: number; readonly length: number } | undefined;

/** The bucket must exist. Throws `TypeError` for a key that `blobKey` refuses, `ServiceError('overloaded')` when S3 stays unavailable. */
export function createS3Blobs({ bucket: Bucket, ...connection }: S3BlobsOptions): BlobStore {
  let opened: Promise<{ sdk: Sdk; client: AwsS3.S3Client }> | undefined;
  const open = () => {
    opened ??= import('@aws-sdk/client-s3').then((sdk) => ({ sdk, client: createClient(sdk, connection) }));
    return opened;
  };

  /** Undefined where there is no such blob. */
  const read = async (key: BlobKey, range: Range): Promise<Uint8Array | undefined> => {
    const { sdk, client } = await open();
    const Range = range && `bytes=${range.offset}-${range.offset + range.length - 1}`;
    try {
      // No range asks for no byte; whether the blob exists can be asked.
      if (range?.length === 0) {
        await client.send(new sdk.HeadObjectCommand({ Bucket, Key: key }));
        return none();
      }
      const { Body } = await client.send(new sdk.GetObjectCommand({ Bucket, Key: key, Range }));
      return Body ? await Body.transformToByteArray() : none();
    } catch (error) {
      const { name } = error as AwsS3.S3ServiceException;
      if (name === 'NoSuchKey' || name === 'NotFound') return undefined;
      if (name === 'InvalidRange') return none(); // begins behind the end
      throw error;
    }
  };

  return {
    async put(key, bytes) {
      const { sdk, client } = await open();
      const input = { Bucket, Key: blobKey(key), Body: bytes, ContentLength: bytes.byteLength };
      await explain(client.send(new sdk.PutObjectCommand(input)));
    },
    async get(key, range) {
      const wanted = blobKey(key);
      for (let attempt = 1; ; attempt++) {
        try {
          return await read(wanted, range);
        } catch (error) {
          // The SDK repeats requests, but not one whose body broke off on the way.
          if (attempt >= READ_ATTEMPTS_MAX || !isBroken(error)) return explain(Promise.reject(error));
        }
      }
    },
    async delete(key) {
      const { sdk, client } = await open();
      await explain(client.send(new sdk.DeleteObjectCommand({ Bucket, Key: blobKey(key) })));
    },
    async list(prefix, { after, limit }) {
      const { sdk, client } = await open();
      const keys: BlobKey[] = [];
      let ContinuationToken: string | undefined;
      while (keys.length < limit) {
        const page = { Bucket, Prefix: prefix, MaxKeys: Math.min(PAGE_MAX, limit - keys.length) };
        const from = ContinuationToken === undefined ? { StartAfter: after } : { ContinuationToken };
        const answer = await explain(client.send(new sdk.ListObjectsV2Command({ ...page, ...from })));
        for (const { Key = '' } of answer.Contents ?? []) keys.push(blobKey(Key));
        ContinuationToken = answer.NextContinuationToken;
        if (ContinuationToken === undefined) break;
      }
      return keys;
    },
  };
}

function createClient({ S3Client }: Sdk, connection: Omit<S3BlobsOptions, 'bucket'>): AwsS3.S3Client {
  const { endpoint, region, credentials } = connection;
  return new S3Client({
    ...(endpoint === undefined ? {} : { endpoint, forcePathStyle: true }),
    ...(region === undefined ? {} : { region }),
    ...(credentials === undefined ? {} : { credentials }),
    maxAttempts: SEND_ATTEMPTS_MAX,
    requestHandler: { connectionTimeout: CONNECT_TIMEOUT_MS, socketTimeout: SOCKET_TIMEOUT_MS },
  });
}

const none = (): Uint8Array => new Uint8Array();

interface Failure {
  readonly name?: string;
  readonly code?: string;
  readonly $metadata?: { readonly httpStatusCode?: number };
}

const isBroken = (error: unknown): boolean =>
  ['ECONNRESET', 'ECONNREFUSED', 'EPIPE', 'ETIMEDOUT'].includes((error as Failure).code ?? '');

/** What failed for S3 being busy or away, in the service's own words. */
async function explain<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    const status = (error as Failure).$metadata?.httpStatusCode ?? 0;
    if (status !== 429 && status < 500 && !isBroken(error)) throw error;
    const failed = new ServiceError('overloaded', 'the blob store is too busy or does not answer', {}, 1);
    failed.cause = error;
    throw failed;
  }
}
