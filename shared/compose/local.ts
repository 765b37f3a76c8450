// The service on this machine: a store (SQLite and files unless configured otherwise), the virtual sandbox, wake-ups by timers, and the demo
// model where neither a key nor an endpoint is configured.

import { createAnthropicModel } from '../adapters/anthropic-model.ts';
import { createLocalWake } from '../adapters/local-wake.ts';
import { createScriptedModel } from '../adapters/scripted-model/server.ts';
import { createIdSource, createLogger, hashing, systemClock } from '../adapters/system.ts';
import { createVirtualSandbox } from '../adapters/virtual-sandbox/virtual-sandbox.ts';
import type { Config } from '../config.ts';
import { checkRequest } from '../core/check-request.ts';
import type { Model } from '../ports/model.ts';
import type { Ports } from '../ports/ports.ts';
import { builtinTools } from '../tools/toolsets.ts';
import type { SessionId, TenantId } from '../types/ids.ts';
import { LIMITS, type Limits } from '../types/limits.ts';
import { ensureDataDirectory } from './data-directory.ts';
import { composeStorage } from './local-storage.ts';

export interface LocalParts {
  readonly ports: Ports;
  /** For people: what keeps the data, and where. */
  readonly storageLabel: string;
  /** Who runs a session when a wake-up is due. */
  onWake(handler: (tenant: TenantId, session: SessionId) => Promise<void>): void;
  close(): Promise<void>;
}

/** `childPath`: the bundled file that the sandbox's child processes run. */
export async function composeLocal(config: Config, childPath: string): Promise<LocalParts> {
  ensureDataDirectory(config.dataDir);
  const limits: Limits = {
    ...LIMITS,
    ...(config.heartbeatMs === null ? {} : { streamHeartbeatMs: config.heartbeatMs }),
  };
  const logger = createLogger();
  const { storage, blobs, label, close: closeStorage } = await composeStorage(config);
  const wake = createLocalWake({ logger });
  const { model, close: closeModel } = await composeModel(config, limits);
  const sandbox = createVirtualSandbox({ blobs, hashing, limits, childPath, logger, clock: systemClock });
  return {
    ports: {
      storage,
      blobs,
      model,
      sandbox,
      wake,
      clock: systemClock,
      ids: createIdSource(),
      hashing,
      logger,
      limits,
      tools: builtinTools,
    },
    storageLabel: label,
    onWake: (handler) => wake.onWake(handler),
    async close() {
      wake.close();
      await sandbox.close();
      await closeModel();
      await closeStorage();
    },
  };
}

/** The configured endpoint, or the demo model: a real HTTP server on a port of its own. */
async function composeModel(config: Config, limits: Limits): Promise<{ model: Model; close: () => Promise<void> }> {
  const idleTimeoutMs = limits.modelIdleTimeoutMs;
  if (config.model.kind === 'anthropic') {
    const { apiKey, baseUrl } = config.model;
    const label = baseUrl === null ? 'the Anthropic API' : new URL(baseUrl).host;
    const model = createAnthropicModel({ apiKey, baseUrl: baseUrl ?? undefined, label, idleTimeoutMs });
    return { model, close: async () => {} };
  }
  const demo = createScriptedModel({ delayMs: config.model.delayMs, check: checkRequest });
  const { url } = await demo.listen(0);
  const model = createAnthropicModel({
    apiKey: 'demo',
    baseUrl: url,
    label: 'the demo model',
    idleTimeoutMs,
  });
  return { model, close: () => demo.close() };
}
