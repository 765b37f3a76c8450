// Driver `virtual`: a shell written in TypeScript over files that live outside it, in a pool of child processes that hold nothing.
// The service itself never loads the shell.

import { existsSync } from 'node:fs';
import type { BlobStore } from '../../ports/blob-store.ts';
import type { Sandbox } from '../../ports/sandbox.ts';
import type { Clock, Hashing, Logger } from '../../ports/system.ts';
import type { Limits } from '../../types/limits.ts';
import { createFileBytes } from './file-bytes.ts';
import { createPool } from './pool.ts';
import { openWorkspace } from './workspace.ts';

export interface VirtualSandboxOptions {
  readonly blobs: BlobStore;
  readonly hashing: Hashing;
  readonly limits: Limits;
  /** The bundled child, one file. */
  readonly childPath: string;
  readonly logger: Logger;
  readonly clock: Clock;
}

const MIB = 1024 * 1024;

/** No process is started before the first command. Throws where the child's file is missing: that is a broken installation. */
export function createVirtualSandbox(options: VirtualSandboxOptions): Sandbox {
  const { blobs, hashing, limits, childPath, logger, clock } = options;
  if (!existsSync(childPath)) throw new Error(`the sandbox child ${childPath} is missing: run npm run build`);
  const pool = createPool({
    childPath,
    heapMb: limits.sandboxHeapMb,
    // The files of a workspace, what a child may add before it is told that it is too much, and the text around them.
    frameBytesMax: 2 * limits.virtualWorkspaceBytesMax + 32 * MIB,
    residentBytesMax: limits.sandboxHeapMb * MIB + 4 * limits.virtualWorkspaceBytesMax + 128 * MIB,
    onCrash: (detail) => logger.warn('a sandbox child ended by itself', detail),
    processesMax: limits.sandboxProcessesMax,
    spares: limits.sandboxSpareProcesses,
    idleMs: limits.sandboxIdleMs,
  });
  const bytes = createFileBytes({ blobs, hashing, logger });
  const deps = { pool, bytes, hashing, clock, logger, limits };
  return {
    driver: 'virtual',
    open: (what) => openWorkspace(deps, what),
    close: async () => pool.close(),
  };
}
