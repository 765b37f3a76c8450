// Serves a fetch-style app as a response-streaming Lambda handler behind a function URL. Guarantees: the prelude is always
// written, back-pressure reaches the app, a failing body ends cleanly, and the invocation waits for the last byte.

import { once } from 'node:events';
import { asHttpEvent, type HttpEvent, toRequest } from './lambda-request.ts';

/** What the runtime tells a handler; the part that is used. */
export interface LambdaContext {
  readonly awsRequestId: string;
  getRemainingTimeInMillis(): number;
}

/** The app's `env`. */
export interface LambdaEnv {
  readonly event: HttpEvent;
  readonly awsRequestId: string;
  /** Milliseconds until the platform ends this invocation. */
  readonly remainingMs: () => number;
}

/** The runtime's response stream: bound methods of a writable, not a `Writable`. */
export interface LambdaStream extends NodeJS.EventEmitter {
  write(chunk: Uint8Array | string): boolean;
  end(callback?: () => void): void;
  readonly destroyed: boolean;
}

interface Prelude {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly cookies: readonly string[];
}

type StreamHandler = (event: unknown, stream: LambdaStream, context: LambdaContext) => Promise<void>;

/** Made by the runtime before it loads the entry; so an entry that uses it cannot be imported elsewhere. */
declare const awslambda: {
  streamifyResponse(handler: StreamHandler): StreamHandler;
  readonly HttpResponseStream: { from(stream: LambdaStream, prelude: Prelude): LambdaStream };
};

export interface StreamOptions {
  readonly fetch: (request: Request, env: LambdaEnv) => Response | Promise<Response>;
  /** Awaited after the last byte and before the environment is frozen; gets the remaining milliseconds. */
  readonly afterResponse?: (remainingMs: number) => Promise<void>;
}

/** A body is cut this long before the platform would end the invocation, so that it still ends cleanly. */
const RESERVE_MS = 1500;
const HOP_BY_HOP = /^(connection|keep-alive|proxy-connection|proxy-authenticate|te|trailer|transfer-encoding|upgrade)$/;

/** A handler for function URL events (payload 2.0, `RESPONSE_STREAM`); anything else is refused with an error. */
export function createStreamHandler({ fetch, afterResponse }: StreamOptions): StreamHandler {
  return awslambda.streamifyResponse(async (event, stream, context) => {
    const http = asHttpEvent(event);
    const remainingMs = () => context.getRemainingTimeInMillis() - RESERVE_MS;
    const deadline = new AbortController();
    const timer = setTimeout(() => deadline.abort(), remainingMs());
    try {
      const env = { event: http, awsRequestId: context.awsRequestId, remainingMs };
      const response = await respond(fetch, http, env, deadline.signal);
      const out = awslambda.HttpResponseStream.from(stream, preludeOf(response, context.awsRequestId));
      out.write(''); // only the first write sends the prelude; an empty body would go without it
      await pump(response.body, out, deadline.signal);
    } finally {
      clearTimeout(timer);
    }
    await afterResponse?.(remainingMs());
  });
}

async function respond(
  fetch: StreamOptions['fetch'],
  event: HttpEvent,
  env: LambdaEnv,
  signal: AbortSignal,
): Promise<Response> {
  const request = toRequest(event, signal);
  if (request === undefined) return failure(400, 'invalid_request_error', 'The request could not be read.', env);
  const late = once(signal, 'abort').then(() => failure(504, 'timeout_error', 'No answer in time.', env));
  try {
    return await Promise.race([fetch(request, env), late]);
  } catch (error) {
    console.error('request failed', env.awsRequestId, error);
    return failure(500, 'api_error', 'Internal error.', env);
  }
}

function failure(status: number, type: string, message: string, env: LambdaEnv): Response {
  return Response.json({ type: 'error', error: { type, message }, request_id: env.awsRequestId }, { status });
}

/** Status, headers and cookies. Headers that belong to one connection are not ours to send through a front door. */
function preludeOf(response: Response, awsRequestId: string): Prelude {
  const named = (response.headers.get('connection') ?? '').toLowerCase().split(/\s*,\s*/);
  const headers: Record<string, string> = { 'request-id': awsRequestId };
  for (const [name, value] of response.headers) {
    if (name !== 'set-cookie' && !HOP_BY_HOP.test(name) && !named.includes(name)) headers[name] = value;
  }
  return { statusCode: response.status, headers, cookies: response.headers.getSetCookie() };
}

/** Writes the body as fast as the stream takes it, then ends it. A body that fails, or outlives `signal`, is cut there. */
async function pump(body: ReadableStream<Uint8Array> | null, out: LambdaStream, signal: AbortSignal): Promise<void> {
  const reader = body?.getReader();
  const cancel = () => void reader?.cancel().catch(() => {});
  signal.addEventListener('abort', cancel);
  try {
    for (;;) {
      const chunk = await reader?.read();
      if (chunk === undefined || chunk.done || out.destroyed) break;
      if (!out.write(chunk.value)) await once(out, 'drain', { signal });
    }
  } catch (error) {
    console.error('body cut', error);
  }
  cancel();
  signal.removeEventListener('abort', cancel);
  await new Promise<void>((resolve) => out.end(resolve));
}
