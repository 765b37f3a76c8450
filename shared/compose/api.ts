// The service on Lambda, for now: the embedded store in /tmp of one environment (sessions do not outlive it), wake-ups by
// timers, a configured model, and no hands, since `virtual` must not run beside credentials.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createAnthropicModel } from '../adapters/anthropic-model.ts';
import { createFileBlobs } from '../adapters/file-blobs.ts';
import { createLocalWake, type WakeHandler } from '../adapters/local-wake.ts';
import { createNoSandbox } from '../adapters/no-sandbox.ts';
import { createSqliteStore } from '../adapters/sqlite-store.ts';
import { createIdSource, createLogger, hashing, systemClock } from '../adapters/system.ts';
import type { Config } from '../config.ts';
import type { Ports } from '../ports/ports.ts';
import { builtinTools } from '../tools/toolsets.ts';
import { LIMITS, type Limits } from '../types/limits.ts';

export interface ApiParts {
  readonly ports: Ports;
  onWake(handler: WakeHandler): void;
}

/** Throws, naming the variable, where the configuration has no client key or no model. */
export function composeApi(config: Config): ApiParts {
  if (config.apiKey === null) throw new Error('Set REPRISE_API_KEY: on Lambda no key is made up.');
  if (config.model.kind === 'demo') throw new Error('Set ANTHROPIC_API_KEY or ANTHROPIC_BASE_URL: no demo on Lambda.');
  mkdirSync(config.dataDir, { recursive: true });
  const logger = createLogger();
  const blobs = createFileBlobs({ directory: join(config.dataDir, 'blobs') });
  const wake = createLocalWake({ logger });
  const limits: Limits = {
    ...LIMITS,
    ...(config.heartbeatMs === null ? {} : { streamHeartbeatMs: config.heartbeatMs }),
  };
  const { apiKey, baseUrl } = config.model;
  return {
    ports: {
      storage: createSqliteStore({ path: join(config.dataDir, 'reprise.db') }),
      blobs,
      model: createAnthropicModel({
        apiKey,
        baseUrl: baseUrl ?? undefined,
        defaultModel: config.defaultModel,
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
