// Errors as the SDK reads them: a code's status and type, the body, and the first wrong field of a request by its path.

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

export interface FieldError {
  /** `events[0].content[1].text`; empty for the body itself. */
  readonly field: string;
  readonly message: string;
}

/** The path of a zod issue as people write it. */
export const pathOf = (path: readonly PropertyKey[], prefix = ''): string =>
  path.reduce<string>((at, part) => {
    if (typeof part === 'number') return `${at}[${part}]`;
    return at === '' ? String(part) : `${at}.${String(part)}`;
  }, prefix);

type Issue = z.core.$ZodIssue;

/** The most telling wrong field of a request. */
export function describeIssues(error: z.ZodError, prefix = ''): FieldError {
  const issue = error.issues[0] as Issue | undefined;
  if (!issue) return { field: prefix, message: 'is not valid' };
  const { path, words } = deepest(issue, []);
  return { field: pathOf(path, prefix), message: words };
}

/** Of a union, the alternative that fits best: the one whose first complaint lies deepest. */
function deepest(issue: Issue, before: readonly PropertyKey[]): { path: readonly PropertyKey[]; words: string } {
  const path = [...before, ...issue.path];
  if (issue.code === 'invalid_union' && issue.errors.length > 0) {
    const candidates = issue.errors.flatMap((issues) => (issues[0] ? [deepest(issues[0], path)] : []));
    const best = candidates.reduce((a, b) => (b.path.length > a.path.length ? b : a), { path, words: '' });
    if (best.path.length > path.length) return best;
    return { path, words: `must fit one of: ${[...new Set(candidates.map((c) => c.words))].join('; ')}` };
  }
  return { path, words: wordsOf(issue) };
}

function wordsOf(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined && !issue.message.includes('received')
        ? `is required (${issue.expected})`
        : lower(issue.message);
    case 'invalid_union':
      return 'discriminator' in issue ? 'is not one of the known types' : lower(issue.message);
    default:
      return lower(issue.message);
  }
}

const lower = (text: string): string => text.slice(0, 1).toLowerCase() + text.slice(1);
