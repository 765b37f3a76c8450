// What went wrong with a model call, as the port's `ModelError`: words from the API's own error body or from the code of a
// connection error, never a header, a URL or a body that is not the API's.

import { APIError } from '@anthropic-ai/sdk/core/error';
import type { ModelError, RawModelEvent } from '../ports/model.ts';

const MESSAGE_CHARS_MAX = 2000;

export const modelError = (kind: ModelError['kind'], message: string): ModelError => ({
  kind,
  status: null,
  apiType: null,
  message: message.slice(0, MESSAGE_CHARS_MAX),
  retryAfterMs: null,
  requestId: null,
});

/** A thrown value of the SDK or of fetch. */
export function describeError(error: unknown): ModelError {
  if (error instanceof APIError && typeof error.status === 'number') {
    const status: number = error.status;
    const { type, message } = errorFields(error.error);
    return {
      ...modelError('http', message ?? `the model endpoint answered with status ${status}`),
      status,
      apiType: type,
      retryAfterMs: readRetryAfter(error.headers ?? new Headers()),
      requestId: error.requestID ?? null,
    };
  }
  if (error instanceof SyntaxError) return modelError('stream', 'the model sent an event that cannot be read');
  const code = errorCode(error);
  return modelError('network', `the connection to the model failed${code === null ? '' : ` (${code})`}`);
}

/** An `error` event in the middle of an answer. */
export function streamError(event: RawModelEvent, requestId: string | null): ModelError {
  const { type, message } = errorFields(event);
  return { ...modelError('stream', message ?? 'the model reported an error'), apiType: type, requestId };
}

function errorFields(body: unknown): { readonly type: string | null; readonly message: string | null } {
  const inner = isRecord(body) && isRecord(body.error) ? body.error : {};
  return {
    type: typeof inner.type === 'string' ? inner.type : null,
    message: typeof inner.message === 'string' && inner.message !== '' ? inner.message : null,
  };
}

/** `retry-after-ms`, else `retry-after` in seconds or as a date; null where there is neither. */
function readRetryAfter(headers: Headers): number | null {
  const ms = Number.parseFloat(headers.get('retry-after-ms') ?? '');
  if (Number.isFinite(ms)) return Math.max(0, ms);
  const text = headers.get('retry-after') ?? '';
  if (/^\s*\d+(\.\d+)?\s*$/.test(text)) return Number(text) * 1000;
  const date = Date.parse(text);
  return Number.isNaN(date) ? null : Math.max(0, date - Date.now());
}

/** The first system or undici code in the chain of causes, such as `ECONNRESET`. */
function errorCode(error: unknown): string | null {
  for (let at = error, depth = 0; isRecord(at) && depth < 8; at = at.cause, depth++) {
    if (typeof at.code === 'string' && /^[A-Z0-9_]+$/.test(at.code)) return at.code;
  }
  return null;
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
