// The Messages API as a stream of its raw events, in batches of what arrived together. `stream` never throws.

import type { Message } from '../types/message.ts';

/** The body of one Messages request; `core/build-request` makes it. Field names are the API's. */
export interface ModelRequest {
  readonly model: string;
  readonly max_tokens: number;
  readonly messages: readonly Message[];
  readonly system?: readonly Readonly<Record<string, unknown>>[];
  readonly tools?: readonly Readonly<Record<string, unknown>>[];
  readonly [field: string]: unknown;
}

/** A raw stream event of the Messages API (`message_start`, `content_block_delta`, …), unknown types included. */
export interface RawModelEvent {
  readonly type: string;
  readonly [field: string]: unknown;
}

export interface ModelError {
  readonly kind: 'network' | 'http' | 'stream' | 'stalled' | 'cut' | 'aborted';
  readonly status: number | null;
  /** The API's `error.type`, where it gave one. */
  readonly apiType: string | null;
  /** Safe to show: no keys, no headers. */
  readonly message: string;
  readonly retryAfterMs: number | null;
  readonly requestId: string | null;
}

export type ModelBatch =
  | { readonly kind: 'events'; readonly events: readonly RawModelEvent[] }
  /** The last batch: `done` only after `message_stop` was seen. */
  | { readonly kind: 'done'; readonly requestId: string | null }
  | { readonly kind: 'error'; readonly error: ModelError };

export interface Model {
  /** Opens the request at once (on call, not on first pull). The last batch is `done` or `error`; aborting gives `error: aborted`. */
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelBatch>;
  /** For people, for example `demo model` or the endpoint's host. */
  readonly label: string;
}
