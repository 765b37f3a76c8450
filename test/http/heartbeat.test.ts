// The heartbeat by a clock of its own: a reader never waits much longer than `streamHeartbeatMs` for a sign of life.

import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { streamAnswer } from '../../shared/http/stream/sse.ts';
import { tenantId } from '../../shared/types/ids.ts';
import { startHttp } from './harness.ts';

const HEARTBEAT_MS = 1000;
const http = startHttp({ limits: { streamHeartbeatMs: HEARTBEAT_MS } });
beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());
afterAll(() => http.close());

/** The times (ms from the start) at which anything was read, when frames are sent at the given times. */
async function readTimes(sentAt: readonly number[], untilMs: number): Promise<{ frames: number[]; pings: number[] }> {
  const start = Date.now();
  async function* texts(): AsyncGenerator<string> {
    for (const at of sentAt) {
      await new Promise((resolve) => setTimeout(resolve, at - (Date.now() - start)));
      yield 'event: message\ndata: {}\n\n';
    }
    await new Promise((resolve) => setTimeout(resolve, untilMs * 2));
  }
  const service = { ports: http.ports } as Parameters<typeof streamAnswer>[0]['service'];
  const options = { service, tenant: tenantId('default'), requestId: 'req_x' };
  const { body } = streamAnswer(options, texts(), new AbortController(), () => {});
  const reader = (body as ReadableStream<Uint8Array>).getReader();
  const seen = { frames: [] as number[], pings: [] as number[] };
  const reading = (async () => {
    for (let r = await reader.read(); !r.done; r = await reader.read()) {
      const text = new TextDecoder().decode(r.value);
      (text.startsWith('event: ping') ? seen.pings : seen.frames).push(Date.now() - start);
    }
  })();
  await vi.advanceTimersByTimeAsync(untilMs);
  await reader.cancel();
  await reading;
  return seen;
}

describe('silence', () => {
  test.each([[[10]], [[260]], [[990]], [[1010]], [[10, 600, 1100]], [[]]])(
    'after frames at %j lasts at most 1.25 heartbeats, and no ping comes early',
    async (sentAt) => {
      const { frames, pings } = await readTimes(sentAt, 10_000);
      const times = [...frames, ...pings, 10_000].sort((a, b) => a - b);
      const gaps = times.slice(1).map((at, i) => at - (times[i] as number));
      expect(Math.max(...gaps)).toBeLessThanOrEqual(1.25 * HEARTBEAT_MS);
      for (const ping of pings) {
        const before = times[times.indexOf(ping) - 1] as number;
        expect(ping - before).toBeGreaterThanOrEqual(HEARTBEAT_MS);
      }
    },
  );
});
