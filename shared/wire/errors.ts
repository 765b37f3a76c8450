// Errors as the SDK reads them: a code's status and type, and the body of the answer.

import { z } from 'zod';
import type { ErrorCode, ErrorDetails } from '../types/errors.ts';

export const ERROR_STATUS = {
  invalid_request: 400,
  unsupported: 400,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  too_large: 413,
  unsupported_media_type: 415,
  idempotency_mismatch: 422,
  rate_limited: 429,
  internal: 500,
  overloaded: 529,
} as const satisfies Record<ErrorCode, number>;

export const ERROR_TYPE = {
  invalid_request: 'invalid_request_error',
  unsupported: 'invalid_request_error',
  unauthenticated: 'authentication_error',
  forbidden: 'permission_error',
  not_found: 'not_found_error',
  conflict: 'invalid_request_error',
  too_large: 'request_too_large',
  unsupported_media_type: 'invalid_request_error',
  idempotency_mismatch: 'invalid_request_error',
  rate_limited: 'rate_limit_error',
  internal: 'api_error',
  overloaded: 'overloaded_error',
} as const satisfies Record<ErrorCode, string>;

export const ErrorAnswer = z
  .object({
    type: z.literal('error'),
    error: z.object({
      type: z.string(),
      message: z.string(),
      details: z.looseObject({ error_code: z.string().optional() }).optional(),
    }),
    request_id: z.string(),
  })
  .meta({ id: 'Error' });
export type ErrorAnswer = z.infer<typeof ErrorAnswer>;

/** The body of an error answer. */
export function errorAnswer(code: ErrorCode, message: string, requestId: string, details?: ErrorDetails): ErrorAnswer {
  const error = { type: ERROR_TYPE[code], message, ...(details === undefined ? {} : { details: { ...details } }) };
  return { type: 'error', error, request_id: requestId };
}
