// The Messages API over the official SDK's client, as the `Model` port: one request, opened at once, never retried here,
// never throwing. Events leave in the batches in which they arrived; what ends without `message_stop` is an error.
// Of the SDK only its base client is used: the whole one is four times the code.

import { BaseAnthropic } from '@anthropic-ai/sdk/client';
import type { Model, ModelBatch, ModelError, ModelRequest } from '../ports/model.ts';
import { createQueue, iterate } from './anthropic-batches.ts';
import { describeError, modelError, streamError } from './anthropic-errors.ts';
import { createDecoder } from './anthropic-events.ts';

const DEFAULT_BASE_URL = 'https://api.anthropic.com';
/** Events that wait for a slow reader before reading from the network pauses. */
const PENDING_EVENTS_MAX = 10_000;
/** How long the tail of a finished answer is read, so that its connection can serve the next request. */
const TAIL_MS = 1000;

export interface AnthropicModelOptions {
  /** Sent as a Bearer key; it appears in no batch. */
  readonly apiKey: string;
  /** Of any Messages-compatible endpoint, without `/v1`; default the Anthropic API. */
  readonly baseUrl?: string | undefined;
  readonly label: string;
  /** Without any event (a ping is one) for so long, an answer counts as stalled; also before its first event. */
  readonly idleTimeoutMs: number;
}

/** Errors are the batches of the port; see `ModelError.kind`. */
export function createAnthropicModel(options: AnthropicModelOptions): Model {
  const { apiKey, baseUrl = DEFAULT_BASE_URL, label, idleTimeoutMs } = options;
  const client = new BaseAnthropic({
    apiKey,
    baseURL: baseUrl,
    webhookKey: null,
    maxRetries: 0,
    logLevel: 'off',
    openTelemetry: false,
    // The SDK's own timer covers the time until the headers; ours covers that and the rest, so it shall be the first.
    timeout: idleTimeoutMs + 60_000,
  });
  const { host } = new URL(baseUrl);
  const post: Post = (request, signal) =>
    client.post('/v1/messages', { body: { ...request, stream: true }, stream: true, signal }).asResponse();
  const hideKey = (text: string) => (apiKey === '' ? text : text.replaceAll(apiKey, '…'));
  return {
    label,
    stream: (request, signal) => openStream(request, signal, { post, host, idleTimeoutMs, hideKey }),
  };
}

type Post = (request: ModelRequest, signal: AbortSignal) => Promise<Response>;

interface StreamParts {
  readonly post: Post;
  readonly host: string;
  readonly idleTimeoutMs: number;
  readonly hideKey: (text: string) => string;
}

function openStream(request: ModelRequest, signal: AbortSignal, parts: StreamParts): AsyncIterable<ModelBatch> {
  const controller = new AbortController();
  const queue = createQueue();
  const fail = (error: ModelError) =>
    queue.end({ kind: 'error', error: { ...error, message: parts.hideKey(error.message) } });
  const onAbort = () => {
    fail(modelError('aborted', 'the request was aborted'));
    controller.abort();
  };
  const idle = setTimeout(() => {
    fail(modelError('stalled', `the model sent nothing for ${parts.idleTimeoutMs} ms`));
    controller.abort();
  }, parts.idleTimeoutMs);
  const close = () => {
    clearTimeout(idle);
    signal.removeEventListener('abort', onAbort);
  };
  if (signal.aborted) onAbort();
  else signal.addEventListener('abort', onAbort, { once: true });
  const run = async () => {
    try {
      if (!controller.signal.aborted) queue.end(await readAnswer(await parts.post(request, controller.signal)));
    } catch (error) {
      fail(describeError(error, { host: parts.host, model: request.model }));
    } finally {
      close();
    }
  };
  const readAnswer = async (response: Response): Promise<ModelBatch> => {
    const requestId = response.headers.get('request-id');
    const reader = response.body?.getReader();
    const decoder = createDecoder();
    while (reader !== undefined) {
      const chunk = await reader.read();
      if (chunk.done) break;
      const { events, end, alive } = decoder.decode(chunk.value);
      if (alive && !queue.ended()) idle.refresh();
      if (events.length > 0) queue.push(events);
      if (queue.size() > PENDING_EVENTS_MAX) await queue.room();
      if (end === null) continue;
      if (end.type === 'message_stop') void readTail(reader, controller);
      else controller.abort();
      return end.type === 'message_stop'
        ? { kind: 'done', requestId }
        : { kind: 'error', error: streamError(end, requestId) };
    }
    const type = response.headers.get('content-type') ?? 'no content type';
    const what = type.startsWith('text/event-stream')
      ? 'the answer ended before it was complete'
      : `not an event stream but ${type}`;
    return { kind: 'error', error: { ...modelError('cut', what), status: response.status, requestId } };
  };
  void run();
  return iterate(queue, () => {
    close();
    queue.end({ kind: 'error', error: modelError('aborted', 'the reader left') });
    controller.abort();
  });
}

/** Reads what follows `message_stop` (nothing, as a rule): a cancelled body would cost the connection. */
async function readTail(reader: ReadableStreamDefaultReader<Uint8Array>, controller: AbortController): Promise<void> {
  const timer = setTimeout(() => controller.abort(), TAIL_MS);
  try {
    while (!(await reader.read()).done);
  } catch {
    // The answer is complete: how its connection ends is of no interest.
  } finally {
    clearTimeout(timer);
  }
}
