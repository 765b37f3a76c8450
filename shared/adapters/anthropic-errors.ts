// What went wrong with a model call, as the port's `ModelError`: words from the API's own error body or from the code of a
// connection error, with the endpoint's host where the fault may be ours; never a key, a header, a path or a body that is not the API's.

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

/** The call that failed: `host` of the endpoint with its port, and the model that was asked for. */
export interface CallTarget {
  readonly host: string;
  readonly model: string;
}

/** A thrown value of the SDK or of fetch. */
export function describeError(error: unknown, target: CallTarget): ModelError {
  if (error instanceof APIError && typeof error.status === 'number') {
    const status: number = error.status;
    const { type, message } = errorFields(error.error);
    return {
      ...modelError('http', describeStatus({ status, type, message }, target)),
      status,
      apiType: type,
      retryAfterMs: readRetryAfter(error.headers ?? new Headers()),
      requestId: error.requestID ?? null,
    };
  }
  if (error instanceof SyntaxError) return modelError('stream', 'the model sent an event that cannot be read');
  const code = errorCode(error);
  const why = code === null ? '' : ` (${code})`;
  const api = `the Messages API at ${target.host}`;
  const isReached = code === null || !UNREACHABLE.test(code);
  return modelError('network', isReached ? `the connection to ${api} failed${why}` : `${api} cannot be reached${why}`);
}

/** Codes of a connection that was never made. */
const UNREACHABLE =
  /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT|fetch refuses.*)$/;

interface Refusal {
  readonly status: number;
  readonly type: string | null;
  readonly message: string | null;
}

/** The API's own words, and before them whose key or model it means: a client has a key of its own and could take it for that. */
function describeStatus({ status, type, message }: Refusal, { host, model }: CallTarget): string {
  const api = `the Messages API at ${host}`;
  const because = message === null ? '' : `: ${message}`;
  if (status === 401) return `${api} refused the service's own key (401)${because}`;
  if (status === 403) return `${api} does not allow this to the service's own key (403)${because}`;
  if (status === 404 && type === 'not_found_error')
    return `${api} does not know the model ${JSON.stringify(model)} (404)`;
  if (status === 404 && message === null) return `${api} has no /v1/messages (404): is its base URL right?`;
  return message ?? `${api} answered with status ${status}`;
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

/** The first system or undici code in the chain of causes, such as `ECONNRESET`; `bad port` (1, 9, 25, …) has none. */
function errorCode(error: unknown): string | null {
  for (let at = error, depth = 0; isRecord(at) && depth < 8; at = at.cause, depth++) {
    if (at.message === 'bad port') return 'fetch refuses this port';
    if (typeof at.code === 'string' && /^[A-Z0-9_]+$/.test(at.code)) return at.code;
  }
  return null;
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
