// Server-sent events out of a byte stream, a chunk at a time. The SDK's own iterator gives one event per promise and hides
// pings; this one gives what arrived together, for less work per delta.

import type { RawModelEvent } from '../ports/model.ts';

const EVENT_CHARS_MAX = 64 * 1024 * 1024;

export interface Decoded {
  /** Without pings. */
  readonly events: readonly RawModelEvent[];
  /** `message_stop` or `error`: nothing counts after it. An `error` is not among `events`. */
  readonly end: RawModelEvent | null;
  /** Whether there was any event, pings included. */
  readonly alive: boolean;
}

/** One call per chunk. Throws a SyntaxError where an event is not JSON or has no end. */
export function createDecoder() {
  const utf8 = new TextDecoder();
  let text = '';
  let data: string | null = null;
  const takeLines = (onData: (data: string) => void) => {
    let start = 0;
    for (let stop = text.indexOf('\n'); stop !== -1; stop = text.indexOf('\n', start)) {
      if (stop === start) {
        if (data !== null && data !== '[DONE]') onData(data);
        data = null;
      } else if (text.startsWith('data:', start)) {
        const value = text.slice(start + (text[start + 5] === ' ' ? 6 : 5), stop);
        data = data === null ? value : `${data}\n${value}`;
      }
      start = stop + 1;
    }
    text = text.slice(start);
  };
  return {
    decode(bytes: Uint8Array): Decoded {
      const events: RawModelEvent[] = [];
      let end: RawModelEvent | null = null;
      let alive = false;
      const decoded = utf8.decode(bytes, { stream: true });
      text += decoded;
      if (text.length > EVENT_CHARS_MAX) throw new SyntaxError('an event is too large');
      if (!decoded.includes('\n')) return { events, end, alive };
      if (text.includes('\r\n')) text = text.replaceAll('\r\n', '\n');
      takeLines((json) => {
        const event = parseEvent(json);
        if (end !== null) return;
        alive = true;
        if (event.type === 'message_stop' || event.type === 'error') end = event;
        if (event.type !== 'error' && event.type !== 'ping') events.push(event);
      });
      return { events, end, alive };
    },
  };
}

function parseEvent(json: string): RawModelEvent {
  const event: unknown = JSON.parse(json);
  if (typeof event !== 'object' || event === null || typeof (event as RawModelEvent).type !== 'string') {
    throw new SyntaxError('an event without a type');
  }
  return event as RawModelEvent;
}
