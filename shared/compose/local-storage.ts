// Where the service on this machine keeps items and blobs. What is not configured is not loaded: the embedded store starts
// without a byte of the AWS SDK.

import { join } from 'node:path';
import { createFileBlobs } from '../adapters/file-blobs.ts';
import { createSqliteStore } from '../adapters/sqlite-store.ts';
import { type Config, isLoopback } from '../config.ts';
import type { BlobStore } from '../ports/blob-store.ts';
import type { Storage } from '../ports/store.ts';

export interface LocalStorage {
  readonly storage: Storage;
  readonly blobs: BlobStore;
  /** For people: what keeps the data, and where. */
  readonly label: string;
  close(): Promise<void>;
}

type DynamoConfig = Extract<Config['store'], { kind: 'dynamodb' }>;

/** Throws, saying what to set, where the configured store cannot be had. */
export async function composeStorage(config: Config): Promise<LocalStorage> {
  const blobs = await composeBlobs(config);
  const where = config.bucket ? `blobs in the bucket ${config.bucket.name}` : `files in ${config.dataDir}`;
  switch (config.store.kind) {
    case 'embedded': {
      const storage = createSqliteStore({ path: join(config.dataDir, 'reprise.db') });
      const label = config.bucket ? `${config.dataDir}, ${where}` : config.dataDir;
      return { storage, blobs, label, close: () => storage.close() };
    }
    case 'dynamodb': {
      const { storage, label, close } = await composeDynamo(config.store, join(config.dataDir, 'dynamodb'));
      return { storage, blobs, label: `${label}, ${where}`, close };
    }
    default:
      return config.store satisfies never;
  }
}

async function composeDynamo({ table, server }: DynamoConfig, directory: string): Promise<Omit<LocalStorage, 'blobs'>> {
  const [{ createDynamoStore }, { madeUpConnection }] = await Promise.all([
    import('../adapters/dynamo-store.ts'),
    import('../adapters/dynamo-client.ts'),
  ]);
  if (server === 'aws') {
    const storage = createDynamoStore({ table, connection: {} });
    return { storage, label: `DynamoDB table ${table}`, close: () => storage.close() };
  }
  if (server !== 'local' && !isLoopback(new URL(server.endpoint).hostname)) {
    const storage = createDynamoStore({ table, connection: server });
    return { storage, label: `DynamoDB table ${table} at ${server.endpoint}`, close: () => storage.close() };
  }
  const opened = server === 'local' ? await openServer(directory) : { ...server, how: 'given', close: async () => {} };
  const connection = madeUpConnection(opened.endpoint);
  const { ensureTable } = await import('../adapters/dynamo-table.ts');
  const made = await ensureTable(table, connection);
  const storage = createDynamoStore({ table, connection });
  return {
    storage,
    label: `DynamoDB table ${table} (${made}) on the local server ${opened.endpoint} (${opened.how})`,
    async close() {
      await storage.close();
      await opened.close();
    },
  };
}

async function openServer(directory: string) {
  const { openLocalDynamo } = await import('../adapters/local-dynamo.ts');
  return openLocalDynamo({ directory });
}

async function composeBlobs({ bucket, dataDir }: Config): Promise<BlobStore> {
  if (bucket === null) return createFileBlobs({ directory: join(dataDir, 'blobs') });
  const { createS3Blobs } = await import('../adapters/s3-blobs.ts');
  const { name, endpoint } = bucket;
  if (endpoint === null) return createS3Blobs({ bucket: name });
  if (!isLoopback(new URL(endpoint).hostname)) return createS3Blobs({ bucket: name, endpoint });
  // A server on this machine: no environment is asked for credentials that it would not check.
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
  return createS3Blobs({ bucket: name, endpoint, region: 'us-east-1', credentials });
}
