// Writes an answer to a socket at its pace, and fails as its script says.

import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { type AnswerContext, eventsOf, type StreamEvent } from './answer-events.ts';
import type { Answer, Fault } from './script.ts';

/** Events written between two breaths of the event loop. */
const BURST_EVENTS = 256;

export interface ApiError {
  readonly status: number;
  readonly apiType: string;
  readonly message: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const TYPES: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  408: 'timeout_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  529: 'overloaded_error',
};

export function sendError(
  response: ServerResponse,
  error: Omit<ApiError, 'apiType'> & { readonly apiType?: string | undefined },
): void {
  const { status, message, headers } = error;
  const type = error.apiType ?? TYPES[status] ?? (status >= 500 ? 'api_error' : 'invalid_request_error');
  const body = { type: 'error', error: { type, message }, request_id: response.getHeader('request-id') };
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}

const sse = (event: StreamEvent): string => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;

/** Resolves when the answer is written or the client left. */
export async function sendStream(response: ServerResponse, answer: Answer, context: AnswerContext): Promise<void> {
  const { fault, delayMs = 0, pings = 0 } = answer;
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' });
  response.flushHeaders();
  const send = createWriter(response, fault?.kind === 'cut' ? fault.afterBytes : undefined);
  let sent = 0;
  try {
    for (const event of withPings(eventsOf(answer, context), pings)) {
      if (gone.signal.aborted) return;
      if (isDue(fault, sent)) return await fail(response, fault, gone.signal);
      if (delayMs > 0 && sent > 0) await sleep(delayMs, undefined, { signal: gone.signal });
      if (!(await send(sse(event), sent++))) break;
    }
    response.end();
  } catch (error) {
    if (!gone.signal.aborted) throw error;
  }
}

function* withPings(events: Iterable<StreamEvent>, pings: number): Generator<StreamEvent> {
  for (const event of events) {
    yield event;
    if (event.type !== 'message_stop') for (let n = 0; n < pings; n++) yield { type: 'ping' };
  }
}

const isDue = (fault: Fault | undefined, sent: number): fault is Exclude<Fault, { kind: 'http' }> =>
  fault !== undefined && fault.kind !== 'http' && fault.afterEvents === sent;

async function fail(
  response: ServerResponse,
  fault: Exclude<Fault, { kind: 'http' }>,
  gone: AbortSignal,
): Promise<void> {
  switch (fault.kind) {
    case 'cut':
      response.end();
      return;
    case 'reset':
      // What was written goes out first, so that a reader has seen the events before the reset.
      await new Promise<void>((resolve) => response.write('\n', () => resolve()));
      await sleep(5);
      response.socket?.resetAndDestroy();
      return;
    case 'error': {
      const { apiType: type = 'overloaded_error', message = 'Overloaded' } = fault;
      response.end(sse({ type: 'error', error: { type, message } }));
      return;
    }
    case 'stall':
      await new Promise<void>((resolve) => gone.addEventListener('abort', () => resolve(), { once: true }));
      return;
    default:
      return fault satisfies never;
  }
}

/** Writes events; false once `bytesMax` were written, the last event cut in its middle. */
function createWriter(response: ServerResponse, bytesMax = Number.POSITIVE_INFINITY) {
  let bytes = 0;
  return async (text: string, sent: number): Promise<boolean> => {
    const data = Buffer.from(text);
    const part = data.subarray(0, Math.max(0, bytesMax - bytes));
    bytes += part.length;
    const flowing = response.write(part);
    if (!flowing) await new Promise((resolve) => response.once('drain', resolve).once('close', resolve));
    else if (sent % BURST_EVENTS === BURST_EVENTS - 1) await new Promise((resolve) => setImmediate(resolve));
    return part.length === data.length;
  };
}
