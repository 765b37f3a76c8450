// Frames of a stream as events, below the SDK.

import type { StreamedEvent } from './sessions.ts';
import { readSse, type SseFrame } from './sse.ts';

export const isPing = (frame: SseFrame) => frame.event === 'ping';
export const eventOf = (frame: SseFrame): StreamedEvent => JSON.parse(frame.data) as StreamedEvent;

/** Reads frames (pings left out) until `enough` says so or the stream ends. */
export async function readFrames(
  response: Response,
  enough: (frames: readonly SseFrame[]) => boolean,
): Promise<SseFrame[]> {
  const frames: SseFrame[] = [];
  if (enough(frames)) {
    await response.body?.cancel();
    return frames;
  }
  for await (const frame of readSse(response)) {
    if (!isPing(frame)) frames.push(frame);
    if (enough(frames)) break;
  }
  return frames;
}
