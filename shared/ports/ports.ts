// Everything a running service needs from outside, made by `compose/`.

import type { Limits } from '../types/limits.ts';
import type { ToolFace } from '../types/session.ts';
import type { Tool } from '../types/tool.ts';
import type { BlobStore } from './blob-store.ts';
import type { Model } from './model.ts';
import type { Sandbox, Workspace } from './sandbox.ts';
import type { Storage } from './store.ts';
import type { Clock, Hashing, IdSource, Logger } from './system.ts';
import type { Wake } from './wake.ts';

export interface Ports {
  readonly storage: Storage;
  readonly blobs: BlobStore;
  readonly model: Model;
  readonly sandbox: Sandbox;
  readonly wake: Wake;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly hashing: Hashing;
  readonly logger: Logger;
  readonly limits: Limits;
  /** The built-in tools of a face, in the stable order in which they are offered. */
  readonly tools: (face: ToolFace) => readonly Tool<Workspace>[];
}
