// Between the network and the reader of an answer: events gather while nobody takes them and leave as one batch; after the
// last batch nothing follows.

import type { ModelBatch, RawModelEvent } from '../ports/model.ts';

export interface Queue {
  /** After the end, events are dropped. */
  push(events: readonly RawModelEvent[]): void;
  ended(): boolean;
  /** The last batch; only the first call counts. */
  end(last: ModelBatch): void;
  size(): number;
  /** Resolves when the waiting events were taken, or the queue ended. */
  room(): Promise<void>;
  /** All waiting events in one batch, then the last batch, then undefined. */
  take(): Promise<ModelBatch | undefined>;
}

export function createQueue(): Queue {
  let pending: RawModelEvent[] = [];
  let last: ModelBatch | null = null;
  let lastTaken = false;
  let wakeReader: (() => void) | null = null;
  let wakeWriter: (() => void) | null = null;
  const wake = () => {
    wakeReader?.();
    wakeReader = null;
  };
  return {
    push(events) {
      if (last !== null) return;
      for (const event of events) pending.push(event);
      wake();
    },
    ended: () => last !== null,
    end(batch) {
      last ??= batch;
      wakeWriter?.();
      wake();
    },
    size: () => pending.length,
    room: () =>
      new Promise((resolve) => {
        if (last === null) wakeWriter = resolve;
        else resolve();
      }),
    async take() {
      if (pending.length === 0 && last === null) {
        await new Promise<void>((resolve) => {
          wakeReader = resolve;
        });
      }
      wakeWriter?.();
      if (pending.length > 0) {
        const events = pending;
        pending = [];
        return { kind: 'events', events };
      }
      if (lastTaken || last === null) return undefined;
      lastTaken = true;
      return last;
    },
  };
}

export function iterate(queue: Queue, leave: () => void): AsyncIterable<ModelBatch> {
  const done = { done: true, value: undefined } as const;
  return {
    [Symbol.asyncIterator]: () => ({
      async next() {
        const value = await queue.take();
        return value === undefined ? done : { done: false, value };
      },
      async return() {
        leave();
        return done;
      },
    }),
  };
}
