// One invocation on its way through an execution environment: what was asked, and what came back as it comes back.

import { randomUUID } from 'node:crypto';
import { PassThrough } from 'node:stream';

export interface InvokeError {
  readonly errorType: string;
  readonly errorMessage?: string;
}

export type Started =
  | { readonly kind: 'response'; readonly streaming: boolean; readonly contentType: string }
  | { readonly kind: 'failed'; readonly error: InvokeError };

export interface Invocation {
  readonly id: string;
  readonly event: unknown;
  /** The raw response: for a streaming function URL answer the prelude, eight NULs, the body. */
  readonly body: PassThrough;
  /** When the response begins, or the invocation failed without one. */
  readonly started: Promise<Started>;
  /** When it is over: null, or why it failed. */
  readonly finished: Promise<InvokeError | null>;
  begin(started: Started): void;
  finish(error: InvokeError | null): void;
}

export function createInvocation(event: unknown): Invocation {
  const started = Promise.withResolvers<Started>();
  const finished = Promise.withResolvers<InvokeError | null>();
  const body = new PassThrough();
  return {
    id: randomUUID(),
    event,
    body,
    started: started.promise,
    finished: finished.promise,
    begin: started.resolve,
    finish(error) {
      finished.resolve(error);
      started.resolve({ kind: 'failed', error: error ?? { errorType: 'Runtime.NoResponse' } });
      body.end();
    },
  };
}
