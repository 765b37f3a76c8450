// The one exception class for answers that a client is to see, with a code from one union.
// `wire/errors.ts` maps code → HTTP status and wire type with `satisfies Record<ErrorCode, …>`.

export type ErrorCode =
  | 'invalid_request' // 400: validation, wrong state
  | 'unsupported' // 400: a part of the wire that this version does not have, named
  | 'unauthenticated' // 401
  | 'forbidden' // 403
  | 'not_found' // 404
  | 'conflict' // 409: stale version, key in progress
  | 'too_large' // 413
  | 'unsupported_media_type' // 415
  | 'idempotency_mismatch' // 422
  | 'rate_limited' // 429: inbox full, too many streams
  | 'internal' // 500
  | 'overloaded'; // 529

export interface ErrorDetails {
  /** A stable code of the wire, for example `environment_archived`. */
  readonly error_code?: string;
  /** The field that is wrong, as a path: `events[0].content[1].text`. */
  readonly field?: string;
  /** The named limit that was hit and its value. */
  readonly limit?: string;
  readonly limit_value?: number;
  readonly [more: string]: unknown;
}

/** Thrown where a request cannot be served; never for expected outcomes inside a turn. */
export class ServiceError extends Error {
  readonly code: ErrorCode;
  readonly details: ErrorDetails | undefined;
  /** Seconds to send as `retry-after`, where a retry makes sense. */
  readonly retryAfterSeconds: number | undefined;

  constructor(code: ErrorCode, message: string, details?: ErrorDetails, retryAfterSeconds?: number) {
    super(message);
    this.name = 'ServiceError';
    this.code = code;
    this.details = details;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}
