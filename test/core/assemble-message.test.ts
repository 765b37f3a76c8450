import { expect, test } from 'vitest';
import {
  type Assembly,
  assemble,
  cutAssembly,
  finishAssembly,
  type StreamEvent,
  startAssembly,
} from '../../shared/core/assemble-message.ts';

const run = (...events: StreamEvent[]): Assembly => events.reduce(assemble, startAssembly());
const start = (usage: object = { input_tokens: 7, output_tokens: 1 }): StreamEvent => ({
  type: 'message_start',
  message: { id: 'msg_1', model: 'claude-opus-5-5', role: 'assistant', content: [], usage },
});
const open = (index: number, block: object): StreamEvent => ({
  type: 'content_block_start',
  index,
  content_block: block,
});
const delta = (index: number, type: string, fields: object): StreamEvent => ({
  type: 'content_block_delta',
  index,
  delta: { type, ...fields },
});
const close = (index: number): StreamEvent => ({ type: 'content_block_stop', index });
const end = (stopReason: string, more: object = {}, usage: object = { output_tokens: 9 }): StreamEvent => ({
  type: 'message_delta',
  delta: { stop_reason: stopReason, ...more },
  usage,
});
const stop: StreamEvent = { type: 'message_stop' };
const openText = (index: number) => open(index, { type: 'text', text: '' });
const textDelta = (index: number, value: string) => delta(index, 'text_delta', { text: value });
const openCall = (index: number, id = 't1') => open(index, { type: 'tool_use', id, name: 'bash', input: {} });
const json = (index: number, partial: string) => delta(index, 'input_json_delta', { partial_json: partial });
const call = (id: string, input: object) => ({ type: 'tool_use', id, name: 'bash', input });

const rows: readonly [string, readonly StreamEvent[], readonly object[]][] = [
  [
    'text in pieces',
    [openText(0), textDelta(0, 'Hel'), textDelta(0, 'lo'), close(0)],
    [{ type: 'text', text: 'Hello' }],
  ],
  [
    'thinking and signature, byte for byte',
    [
      open(0, { type: 'thinking', thinking: '', signature: '' }),
      delta(0, 'thinking_delta', { thinking: ' a\u0000\ud800 ' }),
      delta(0, 'signature_delta', { signature: 'Eq+/=' }),
      close(0),
    ],
    [{ type: 'thinking', thinking: ' a\u0000\ud800 ', signature: 'Eq+/=' }],
  ],
  [
    'omitted thinking stays an empty text with a signature',
    [
      open(0, { type: 'thinking', thinking: '', signature: '' }),
      delta(0, 'signature_delta', { signature: 's' }),
      close(0),
    ],
    [{ type: 'thinking', thinking: '', signature: 's' }],
  ],
  [
    'redacted thinking',
    [open(0, { type: 'redacted_thinking', data: 'xx' }), close(0)],
    [{ type: 'redacted_thinking', data: 'xx' }],
  ],
  [
    'tool input in pieces',
    [openCall(0), json(0, ''), json(0, '{"a":'), json(0, '[1]}'), close(0)],
    [call('t1', { a: [1] })],
  ],
  ['no input at all', [openCall(0), json(0, ''), close(0)], [call('t1', {})]],
  ['input that came with the start', [open(0, call('t1', { a: 1 })), close(0)], [call('t1', { a: 1 })]],
  [
    'server and mcp calls',
    [
      open(0, { type: 'server_tool_use', id: 's1', name: 'web_search', input: {} }),
      json(0, '{"query":"q"}'),
      close(0),
      open(1, { type: 'mcp_tool_use', id: 'm1', name: 'n', server_name: 's', input: {} }),
      json(1, '{}'),
      close(1),
      open(2, { type: 'web_search_tool_result', tool_use_id: 's1', content: [] }),
      close(2),
    ],
    [
      { type: 'server_tool_use', id: 's1', name: 'web_search', input: { query: 'q' } },
      { type: 'mcp_tool_use', id: 'm1', name: 'n', server_name: 's', input: {} },
      { type: 'web_search_tool_result', tool_use_id: 's1', content: [] },
    ],
  ],
  [
    'citations are kept',
    [
      openText(0),
      textDelta(0, 'x'),
      delta(0, 'citations_delta', { citation: { n: 1 } }),
      delta(0, 'citations_delta', { citation: { n: 2 } }),
      close(0),
    ],
    [{ type: 'text', text: 'x', citations: [{ n: 1 }, { n: 2 }] }],
  ],
  [
    'interleaved blocks come out in order of their index',
    [
      openText(0),
      openCall(1),
      json(1, '{"a"'),
      textDelta(0, 'x'),
      json(1, ':1}'),
      close(1),
      textDelta(0, 'y'),
      close(0),
    ],
    [{ type: 'text', text: 'xy' }, call('t1', { a: 1 })],
  ],
  [
    'unknown events, blocks and deltas',
    [
      { type: 'ping' },
      { type: 'from_the_future', index: 0 },
      open(0, { type: 'compaction', content: '' }),
      delta(0, 'compaction_delta', { content: 'sum' }),
      delta(0, 'compaction_delta', { content: 'mary', mark: 1 }),
      close(0),
      delta(5, 'text_delta', { text: 'to no block' }),
      { type: 'content_block_start', index: 9 },
      { type: 'content_block_delta' },
    ],
    [{ type: 'compaction', content: 'summary', mark: 1 }],
  ],
];

test.each(rows)('%s', (_, events, expected) => {
  const done = run(start(), ...events, end('end_turn'), stop);
  expect(done.complete).toBe(true);
  expect(finishAssembly(done)).toMatchObject({ content: expected, callCut: false });
  expect(finishAssembly(done).content).toEqual(expected);
});

test('envelope: id, model, usage and stop reason; input counts stay unless given again', () => {
  const usage = { input_tokens: 7, cache_read_input_tokens: 5, cache_creation_input_tokens: 3, output_tokens: 1 };
  const details = { type: 'refusal', category: 'cyber', explanation: null };
  const a = run(
    start(usage),
    end('refusal', { stop_details: details }, { output_tokens: 4, input_tokens: null }),
    end('refusal', {}, { output_tokens: 9, server_tool_use: { web_search_requests: 2 } }),
    stop,
  );
  expect(a.messageId).toBe('msg_1');
  expect(finishAssembly(a)).toEqual({
    content: [],
    model: 'claude-opus-5-5',
    usage: { ...usage, output_tokens: 9, server_tool_use: { web_search_requests: 2, web_fetch_requests: 0 } },
    stopReason: 'refusal',
    stopDetails: { category: 'cyber', explanation: null },
    callCut: false,
    badInputs: [],
  });
});

test('an input that is no JSON object is reported and not part of the message', () => {
  for (const bad of ['{"a":', '"x"', '[1]', 'null', '{"a":1} x']) {
    const done = run(
      start(),
      openText(0),
      textDelta(0, 'go'),
      close(0),
      openCall(1),
      json(1, bad),
      close(1),
      end('tool_use'),
      stop,
    );
    const finished = finishAssembly(done);
    expect(finished.content).toEqual([{ type: 'text', text: 'go' }]);
    expect(finished.callCut).toBe(true);
    expect(finished.badInputs).toEqual([{ index: 1, id: 't1', name: 'bash', text: bad }]);
  }
});

test('max_tokens before the first character of an input is a cut call, not one without arguments', () => {
  const events = [start(), openCall(0), json(0, '{}'), close(0), openCall(1, 't2'), close(1)];
  const cut = finishAssembly(run(...events, end('max_tokens'), stop));
  expect([cut.content, cut.callCut]).toEqual([[call('t1', {})], true]);
  const whole = finishAssembly(run(...events, end('tool_use'), stop));
  expect([whole.content.length, whole.callCut]).toEqual([2, false]);
});

test('a cut keeps complete blocks and text that is not blank', () => {
  const begun = [start(), openText(0), textDelta(0, 'one'), close(0)];
  const two = { type: 'text', text: 'two' };
  const one = { type: 'text', text: 'one' };
  expect(cutAssembly(run(...begun, openText(1), textDelta(1, 'two'))).content).toEqual([one, two]);
  expect(cutAssembly(run(...begun, openText(1), textDelta(1, ' \n'))).content).toEqual([one]);
  expect(cutAssembly(run(...begun, openCall(1), json(1, '{"a":1}'))).content).toEqual([one]);
  expect(cutAssembly(run(...begun, open(1, { type: 'thinking', thinking: 'hm', signature: '' }))).content).toEqual([
    one,
  ]);
  expect(cutAssembly(run(...begun, openText(1), textDelta(1, 'tw\ud83d'))).content.at(-1)?.text).toBe('tw\ufffd');
  expect(cutAssembly(startAssembly()).content).toEqual([]);
});

test('an error in mid-stream is a value, and nothing is complete without message_stop', () => {
  const a = run(start(), openText(0), { type: 'error', error: { type: 'overloaded_error', message: 'busy' } });
  expect(a.error).toEqual({ type: 'overloaded_error', message: 'busy' });
  expect(a.complete).toBe(false);
  expect(run(start(), end('end_turn')).complete).toBe(false);
});

test('a delta replaces the open block only', () => {
  const a = run(start(), openText(0), textDelta(0, 'x'), close(0), openText(1));
  const b = assemble(a, textDelta(1, 'y'));
  expect(b.blocks).toBe(a.blocks);
  expect(b.usage).toBe(a.usage);
  expect(a.open?.text).toBe('');
  expect(b.open?.text).toBe('y');
});
