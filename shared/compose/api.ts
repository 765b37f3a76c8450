// The service on Lambda, for now: embedded in /tmp of one environment (sessions do not outlive it), or with REPRISE_STORE=dynamodb
// on a table and a bucket. Wake-ups by timers, a configured model, no hands, since `virtual` must not run beside credentials.

import { join } from 'node:path';
import { createAnthropicModel } from '../adapters/anthropic-model.ts';
import { createDynamoStore } from '../adapters/dynamo-store.ts';
import { createFileBlobs } from '../adapters/file-blobs.ts';
import { createLocalWake, type WakeHandler } from '../adapters/local-wake.ts';
import { createNoSandbox } from '../adapters/no-sandbox.ts';
import { createS3Blobs } from '../adapters/s3-blobs.ts';
import { createSqliteStore } from '../adapters/sqlite-store.ts';
import { createIdSource, createLogger, hashing, systemClock } from '../adapters/system.ts';
import type { Config } from '../config.ts';
import type { BlobStore } from '../ports/blob-store.ts';
import type { Ports } from '../ports/ports.ts';
import type { Storage } from '../ports/store.ts';
import { builtinTools } from '../tools/toolsets.ts';
import { LIMITS, type Limits } from '../types/limits.ts';
import { ensureDataDirectory } from './data-directory.ts';

export interface ApiParts {
  readonly ports: Ports;
  onWake(handler: WakeHandler): void;
}

/** Throws, naming the variable, where the configuration has no client key or no model. */
export function composeApi(config: Config): ApiParts {
  if (config.apiKey === null) throw new Error('Set REPRISE_API_KEY: on Lambda no key is made up.');
  if (config.model.kind === 'demo') throw new Error('Set ANTHROPIC_API_KEY or ANTHROPIC_BASE_URL: no demo on Lambda.');
  ensureDataDirectory(config.dataDir);
  const logger = createLogger();
  const blobs = composeBlobs(config);
  const wake = createLocalWake({ logger });
  const limits: Limits = {
    ...LIMITS,
    ...(config.heartbeatMs === null ? {} : { streamHeartbeatMs: config.heartbeatMs }),
  };
  const { apiKey, baseUrl } = config.model;
  return {
    ports: {
      storage: composeStorage(config),
      blobs,
      model: createAnthropicModel({
        apiKey,
        baseUrl: baseUrl ?? undefined,
        label: baseUrl === null ? 'the Anthropic API' : new URL(baseUrl).host,
        idleTimeoutMs: limits.modelIdleTimeoutMs,
      }),
      sandbox: createNoSandbox({ blobs, reason: 'This deployment has no sandbox: compose refuses virtual on Lambda.' }),
      wake,
      clock: systemClock,
      ids: createIdSource(),
      hashing,
      logger,
      limits,
      tools: builtinTools,
    },
    onWake: (handler) => wake.onWake(handler),
  };
}

function composeStorage({ store, dataDir }: Config): Storage {
  if (store.kind === 'embedded') return createSqliteStore({ path: join(dataDir, 'reprise.db') });
  const { table, server } = store;
  return createDynamoStore({ table, connection: typeof server === 'object' ? server : {} });
}

function composeBlobs({ store, bucket, dataDir }: Config): BlobStore {
  // The stack names its bucket in any case; what is embedded stays together.
  if (store.kind === 'embedded' || bucket === null) return createFileBlobs({ directory: join(dataDir, 'blobs') });
  return createS3Blobs({ bucket: bucket.name, endpoint: bucket.endpoint ?? undefined });
}
