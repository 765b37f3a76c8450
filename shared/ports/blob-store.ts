// Bytes under immutable keys. No conditional writes: keys are content-addressed, so a second put writes the same bytes.

import type { BlobKey } from '../types/ids.ts';

export interface BlobStore {
  /** Durable when resolved. Putting a key again with the same bytes is harmless. */
  put(key: BlobKey, bytes: Uint8Array): Promise<void>;
  /** The bytes (or `length` bytes from `offset`), or undefined where there is no such blob. */
  get(key: BlobKey, range?: { readonly offset: number; readonly length: number }): Promise<Uint8Array | undefined>;
  delete(key: BlobKey): Promise<void>;
  /** Keys that start with `prefix`, in order, at most `limit`, after `after`. */
  list(prefix: string, options: { readonly after?: BlobKey; readonly limit: number }): Promise<readonly BlobKey[]>;
}
