// A real virtual sandbox over files in a temporary directory, with narrowed limits where a test needs them.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleSandboxChild } from '../../scripts/bundle-sandbox-child.ts';
import { createFileBlobs } from '../../shared/adapters/file-blobs.ts';
import { createLogger, hashing, systemClock } from '../../shared/adapters/system.ts';
import { createVirtualSandbox } from '../../shared/adapters/virtual-sandbox/virtual-sandbox.ts';
import type { BlobStore } from '../../shared/ports/blob-store.ts';
import type { Sandbox, Workspace } from '../../shared/ports/sandbox.ts';
import { sessionId, tenantId, type WorkspacePath } from '../../shared/types/ids.ts';
import { LIMITS, type Limits } from '../../shared/types/limits.ts';
import type { FileRef, ShellState } from '../../shared/types/log.ts';

export const CHILD = fileURLToPath(new URL('../../dist/sandbox-child.mjs', import.meta.url));

export interface SandboxWorld {
  readonly sandbox: Sandbox;
  readonly blobs: BlobStore;
  readonly directory: string;
  /** A workspace of a new session, or over what a snapshot left. */
  open(files?: ReadonlyMap<WorkspacePath, FileRef>, shell?: ShellState, tenant?: string): Workspace;
  close(): Promise<void>;
}

export const FRESH: ShellState = { cwd: '/workspace', exports: {} };

/** The child's bundle is made where it is missing or old. `stored` are the blobs of another world, its caches left behind. */
export async function createSandboxWorld(
  limits: Partial<Limits> = {},
  childPath = CHILD,
  stored?: BlobStore,
): Promise<SandboxWorld> {
  if (childPath === CHILD) await bundleSandboxChild(CHILD);
  const directory = await mkdtemp(join(tmpdir(), 'reprise-sandbox-'));
  const blobs = stored ?? createFileBlobs({ directory });
  const logger = createLogger({ write: () => true });
  const merged = { ...LIMITS, ...limits };
  const sandbox = createVirtualSandbox({ blobs, hashing, limits: merged, childPath, logger, clock: systemClock });
  return {
    sandbox,
    blobs,
    directory,
    open: (files = new Map(), shell = FRESH, tenant = 'default') =>
      sandbox.open({
        tenant: tenantId(tenant),
        session: sessionId('sesn_01hzzzzzzzzzzzzzzzzzzzzzzz'),
        epoch: 1,
        files,
        shell,
      }),
    close: async () => {
      await sandbox.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

export const path = (value: string): WorkspacePath => value as WorkspacePath;
export const bytes = (value: string): Uint8Array => new TextEncoder().encode(value);
export const textOf = (value: Uint8Array | undefined): string | undefined => value && new TextDecoder().decode(value);
export const never = (): AbortSignal => new AbortController().signal;

/** Runs a command as the shell tool does. */
export const sh = (workspace: Workspace, command: string, timeoutMs = 20_000, signal = never()) =>
  workspace.exec(command, { timeoutMs, stateful: true }, signal);
