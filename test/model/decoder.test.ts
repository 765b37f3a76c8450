// The decoder of server-sent events: the same events however the bytes are cut.

import { describe, expect, it } from 'vitest';
import { createDecoder } from '../../shared/adapters/anthropic-events.ts';

const bytes = (text: string) => new TextEncoder().encode(text);

function decodeIn(parts: readonly Uint8Array[]) {
  const decoder = createDecoder();
  const all = parts.map((part) => decoder.decode(part));
  return {
    events: all.flatMap((d) => d.events),
    end: all.findLast((d) => d.end !== null)?.end ?? null,
    alive: all.some((d) => d.alive),
  };
}

const STREAM = [
  'event: message_start\ndata: {"type":"message_start"}\n\n',
  ': a comment\n\nevent: ping\ndata: {"type": "ping"}\n\n',
  'event: content_block_delta\r\ndata: {"type":"content_block_delta","delta":{"text":"ü 😀 \\r\\n"}}\r\n\r\n',
  'data:{"type":"novel",\ndata: "lines":2}\nid: 7\nretry: 10\n\n',
  'event: message_stop\ndata: {"type":"message_stop"}\n\n',
  'event: late\ndata: {"type":"late"}\n\ndata: [DONE]\n\n',
].join('');

const EXPECTED = [
  { type: 'message_start' },
  { type: 'content_block_delta', delta: { text: 'ü 😀 \r\n' } },
  { type: 'novel', lines: 2 },
  { type: 'message_stop' },
];

describe('decoding', () => {
  it('gives the events of a stream: no pings, no comments, nothing after the end', () => {
    expect(decodeIn([bytes(STREAM)])).toEqual({ events: EXPECTED, end: { type: 'message_stop' }, alive: true });
  });

  it('at every cut into two, and byte by byte', () => {
    const whole = bytes(STREAM);
    const upToStop = whole.subarray(0, bytes(STREAM.slice(0, STREAM.indexOf('event: late'))).length);
    for (let at = 0; at <= upToStop.length; at++) {
      expect(decodeIn([upToStop.subarray(0, at), upToStop.subarray(at)]).events, `cut at ${at}`).toEqual(EXPECTED);
    }
    expect(decodeIn([...upToStop].map((byte) => Uint8Array.of(byte))).events).toEqual(EXPECTED);
  });

  it('an error event ends it and is not among the events', () => {
    const { events, end } = decodeIn([bytes('event: error\ndata: {"type":"error","error":{"type":"api_error"}}\n\n')]);
    expect(events).toEqual([]);
    expect(end).toEqual({ type: 'error', error: { type: 'api_error' } });
  });

  it('a ping alone is a sign of life and no event', () => {
    expect(decodeIn([bytes('event: ping\ndata: {"type":"ping"}\n\n')])).toEqual({ events: [], end: null, alive: true });
    expect(decodeIn([bytes(': keep-alive\n\n')])).toEqual({ events: [], end: null, alive: false });
  });

  it.each(['data: {"type":\n\n', 'data: null\n\n', 'data: 7\n\n', 'data: {"no":"type"}\n\n'])('refuses %j', (text) => {
    expect(() => decodeIn([bytes(text)])).toThrow(SyntaxError);
  });
});
