// An event stream as an answer: headers at once, one write per batch, a heartbeat while nothing happens. A reader that falls too
// far behind is let go (it can resume); a reader that leaves ends its own reading and nothing else.

import { ServiceError } from '../../types/errors.ts';
import type { TenantId } from '../../types/ids.ts';
import type { Service } from '../service.ts';

const PING = new TextEncoder().encode('event: ping\ndata: {"type":"ping"}\n\n');
/** Silence is looked for so often per heartbeat, and lasts at most one look longer than a heartbeat. */
const LOOKS_PER_HEARTBEAT = 4;
const OPENING = new TextEncoder().encode(': stream\n\n');

export interface StreamOptions {
  readonly service: Service;
  readonly tenant: TenantId;
  readonly requestId: string;
}

/** Counts a stream of the tenant; the returned function gives its place back. Throws a 429 where there is none. */
export function openStream({ ports, streams }: Service, tenant: TenantId): () => void {
  const { streamsPerTenantMax: max } = ports.limits;
  const open = streams.get(tenant) ?? 0;
  if (open >= max) {
    const details = { limit: 'streamsPerTenantMax', limit_value: max };
    throw new ServiceError('rate_limited', `${max} streams are open already (streamsPerTenantMax)`, details, 1);
  }
  streams.set(tenant, open + 1);
  let closed = false;
  return () => {
    if (closed) return;
    closed = true;
    const left = (streams.get(tenant) ?? 1) - 1;
    if (left > 0) streams.set(tenant, left);
    else streams.delete(tenant);
  };
}

/** `texts` gives the frames of each batch; it ends on abort. `closeStream` is called once, when the stream is over. */
export function streamAnswer(
  { service, requestId }: StreamOptions,
  texts: AsyncIterable<string>,
  abort: AbortController,
  closeStream: () => void,
): Response {
  const { streamHeartbeatMs, streamBufferBytesMax, streamStallMs } = service.ports.limits;
  const encoder = new TextEncoder();
  let quietLooks = 0;
  let heartbeat: ReturnType<typeof setInterval> | undefined;

  const finish = () => {
    clearInterval(heartbeat);
    abort.abort('over'); // the default reason is an exception with a stack
    closeStream();
  };
  let pulled: () => void = () => {};
  /** One event may be larger than the buffer: a reader has stalled only when it stays behind for `streamStallMs`. */
  const catchesUp = async (controller: ReadableStreamDefaultController<Uint8Array>): Promise<boolean> => {
    if ((controller.desiredSize ?? 0) > 0) return true;
    const over = new AbortController();
    const pull = new Promise<void>((resolve) => {
      pulled = resolve;
    });
    const stalled = service.ports.clock.sleep(streamStallMs, AbortSignal.any([abort.signal, over.signal]));
    await Promise.race([pull, stalled]);
    over.abort('over');
    return (controller.desiredSize ?? 0) > 0;
  };
  const pump = async (controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
    try {
      for await (const text of texts) {
        if (abort.signal.aborted) return;
        if (text === '') continue;
        controller.enqueue(encoder.encode(text));
        quietLooks = 0;
        if (!(await catchesUp(controller))) return; // too far behind: the client resumes by Last-Event-ID
      }
    } catch (error) {
      const words = error instanceof Error ? (error.stack ?? error.message) : String(error);
      service.ports.logger.error('a stream ended early', { requestId, error: words });
    } finally {
      finish();
      closeQuietly(controller);
    }
  };

  const body = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        controller.enqueue(OPENING);
        heartbeat = setInterval(() => {
          if (++quietLooks <= LOOKS_PER_HEARTBEAT) return;
          if ((controller.desiredSize ?? 0) > 0) controller.enqueue(PING);
          quietLooks = 1; // this look itself: what follows it is silence from here on
        }, streamHeartbeatMs / LOOKS_PER_HEARTBEAT);
        void pump(controller);
      },
      pull: () => pulled(),
      cancel: finish,
    },
    new ByteLengthQueuingStrategy({ highWaterMark: streamBufferBytesMax }),
  );
  return new Response(body, {
    headers: {
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
      'request-id': requestId,
    },
  });
}

/** The controller may be closed already, by a client that left. */
function closeQuietly(controller: ReadableStreamDefaultController<Uint8Array>): void {
  try {
    controller.close();
  } catch {
    // closed by the reader
  }
}
