// What holds for every history and every stream, found out by generating them.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { assemble, finishAssembly, type StreamEvent, startAssembly } from '../../shared/core/assemble-message.ts';
import { buildRequest, fingerprintRequest } from '../../shared/core/build-request.ts';
import { checkRequest } from '../../shared/core/check-request.ts';
import { sanitizeMessages } from '../../shared/core/sanitize-messages.ts';
import type { ContentBlock, Message } from '../../shared/types/message.ts';
import { runs } from '../support/property-runs.ts';
import { assistant, text, thinking, toolResult, toolUse, user } from './make-messages.ts';

const DOT = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABAQAAAAA3bvkkAAAACklEQVR42mNgAAAAAgAB5Sfe/AAAAABJRU5ErkJggg==';
const id = fc.constantFrom<unknown>('t1', 't2', 't3', 'a|b', 's1', null, '');
const words = fc.constantFrom('', ' ', 'hi', 'x ', '\ud800', '\n', 'a longer text');
const image = fc.constantFrom(
  { type: 'image', source: { type: 'base64', media_type: 'image/png', data: DOT } },
  { type: 'image', source: { type: 'base64', media_type: 'image/gif', data: DOT } },
  { type: 'image', source: { type: 'base64', media_type: 'image/png', data: '' } },
  { type: 'image' },
);
const inner = fc.oneof(
  fc.record({ type: fc.constant('text'), text: words }),
  image,
  fc.constantFrom('s', null, { a: 1 }),
);
const call = fc.record(
  {
    type: fc.constantFrom('tool_use', 'tool_use', 'tool_use', 'server_tool_use'),
    id,
    name: fc.constantFrom('bash', '', 'n'.repeat(300)),
    input: fc.constantFrom<unknown>({}, { a: 1 }, '{"a":1}', '{"a', '', null, [], [1], 3),
    caller: fc.constantFrom({ type: 'direct' }, { type: 'code_execution_20250825', tool_id: 's1' }),
  },
  { requiredKeys: ['type'] },
);
const result = fc.record(
  {
    type: fc.constantFrom('tool_result', 'tool_result', 'tool_result', 'web_search_tool_result'),
    tool_use_id: id,
    content: fc.oneof(words, fc.array(inner, { maxLength: 3 }), fc.constantFrom(null, { a: 1 })),
    is_error: fc.constantFrom<unknown>(true, false, 'true', 1),
  },
  { requiredKeys: ['type'] },
);
const other = fc.oneof(
  image,
  fc.record({
    type: fc.constant('thinking'),
    thinking: fc.constantFrom('a', '', null, '\ud800'),
    signature: fc.constantFrom('x', 'y', 'z', '', null),
  }),
  fc.constantFrom<unknown>(
    { type: 'compaction', content: 'c', signature: 's' },
    { type: 'redacted_thinking', data: 'd' },
    { type: 'weird' },
    { ...text('m'), cache_control: { type: 'ephemeral' } },
    null,
    3,
  ),
);
const block = fc.oneof(fc.record({ type: fc.constant('text'), text: words }), call, result, other);
const message = fc.record(
  {
    role: fc.constantFrom('user', 'user', 'user', 'assistant', 'assistant', 'assistant', 'system', 'tool', 'developer'),
    content: fc.oneof({ weight: 6, arbitrary: fc.array(block, { maxLength: 5 }) }, words, fc.constant(null)),
    tool_calls: fc.constant([{ id: 't1', function: { name: 'f', arguments: '{}' } }]),
  },
  { requiredKeys: ['role', 'content'] },
);
const model = fc.constantFrom('claude-opus-5-5', 'claude-opus-4-8', 'claude-sonnet-4-6', 'claude-haiku-4-5', 'new');
const options = fc.record({ model, isForeign: fc.boolean() });

const TOOLS = [{ type: 'bash_20250124', name: 'bash' }];
const sanitize = (messages: unknown, given: { model: string; isForeign: boolean }) =>
  sanitizeMessages(messages as readonly Message[], { ...given, tools: TOOLS });

test('whatever a history holds, what comes out is accepted, stable, and never the last resort', () => {
  fc.assert(
    fc.property(fc.array(message, { maxLength: 12 }), options, (messages, given) => {
      const { messages: sound, repairs } = sanitize(messages, given);
      expect(repairs.map((repair) => repair.rule)).not.toContain('request.unsound');
      if (sound.length > 0) {
        expect(checkRequest({ model: given.model, max_tokens: 1, messages: sound, tools: TOOLS })).toBeNull();
      }
      expect(sanitize(sound, given).messages).toBe(sound);
    }),
    { numRuns: runs(1000) },
  );
});

test('nothing throws, whatever the values are', () => {
  fc.assert(
    fc.property(fc.oneof(fc.array(fc.anything()), fc.anything(), fc.jsonValue()), options, (messages, given) => {
      const { messages: sound } = sanitize(messages, given);
      if (sound.length > 0) expect(checkRequest({ model: given.model, max_tokens: 1, messages: sound })).toBeNull();
    }),
    { numRuns: runs(500) },
  );
});

test('what is made up depends on the history alone', () => {
  fc.assert(
    fc.property(fc.array(message, { maxLength: 8 }), options, (messages, given) => {
      const once = sanitize(messages, given).messages;
      expect(sanitize(structuredClone(messages), given).messages).toEqual(once);
    }),
    { numRuns: runs(200) },
  );
});

const answer = fc.array(
  fc.oneof(
    fc.string({ unit: 'binary', minLength: 1 }).map(text),
    fc.tuple(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' })).map(([a, b]) => thinking(a, b)),
    fc
      .tuple(fc.uuid(), fc.dictionary(fc.string(), fc.jsonValue()))
      .map(([a, b]) => toolUse(a, 'bash', JSON.parse(JSON.stringify(b)))),
  ),
  { minLength: 1, maxLength: 4 },
);

/** The text in pieces of the given lengths, over and over. */
function cut(value: string, lengths: readonly number[]): readonly string[] {
  const pieces: string[] = [];
  for (let at = 0, i = 0; at < value.length; i++) {
    const length = lengths[i % lengths.length] as number;
    pieces.push(value.slice(at, at + length));
    at += length;
  }
  return pieces;
}

function eventsOf(block: ContentBlock, index: number, lengths: readonly number[]): readonly StreamEvent[] {
  const deltas = (type: string, field: string, value: string): StreamEvent[] =>
    cut(value, lengths).map((piece) => ({ type: 'content_block_delta', index, delta: { type, [field]: piece } }));
  const start = (content_block: object): StreamEvent => ({ type: 'content_block_start', index, content_block });
  const stop: StreamEvent = { type: 'content_block_stop', index };
  switch (block.type) {
    case 'text':
      return [start({ type: 'text', text: '' }), ...deltas('text_delta', 'text', String(block.text)), stop];
    case 'thinking':
      return [
        start({ type: 'thinking', thinking: '', signature: '' }),
        ...deltas('thinking_delta', 'thinking', String(block.thinking)),
        ...deltas('signature_delta', 'signature', String(block.signature)),
        stop,
      ];
    default:
      return [
        start({ ...block, input: {} }),
        ...deltas('input_json_delta', 'partial_json', JSON.stringify(block.input)),
        stop,
      ];
  }
}

test('however an answer is cut into deltas, the same message comes out', () => {
  const lengths = fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(answer, lengths, fc.infiniteStream(fc.boolean()), (blocks, pieces, coins) => {
      const queues = blocks.map((b, i) => [...eventsOf(b, i, pieces)]);
      let assembly = startAssembly();
      // Streams of blocks are interleaved at will; each keeps its own order.
      while (queues.some((queue) => queue.length > 0)) {
        for (const queue of queues) {
          const event = coins.next().value ? queue.shift() : undefined;
          if (event) assembly = assemble(assembly, event);
        }
      }
      expect(finishAssembly(assemble(assembly, { type: 'message_stop' })).content).toEqual(blocks);
    }),
    { numRuns: runs(300) },
  );
});

test('no event throws', () => {
  const types = ['message_start', 'message_delta', 'message_stop', 'error', 'ping', 'content_block_start'];
  const event = fc.record({
    type: fc.constantFrom(...types, 'content_block_delta', 'content_block_delta', 'content_block_stop'),
    index: fc.oneof(fc.integer({ min: 0, max: 2 }), fc.anything()),
    content_block: fc.oneof(fc.anything(), block),
    delta: fc.oneof(fc.anything(), fc.record({ type: fc.constantFrom('text_delta', 'x'), text: fc.anything() })),
    message: fc.anything(),
    usage: fc.anything(),
    error: fc.anything(),
  });
  fc.assert(
    fc.property(fc.array(event), (events) => {
      const done = (events as StreamEvent[]).reduce(assemble, startAssembly());
      expect(Array.isArray(finishAssembly(done).content)).toBe(true);
    }),
    { numRuns: runs(500) },
  );
});

test('fingerprints tell different histories apart and agree on equal ones', () => {
  const history = fc.array(
    fc.string().map((value) => user(value || 'x', toolResult(value))),
    { maxLength: 5 },
  );
  const agent = { model: { id: 'claude-opus-5-5', effort: null, speed: 'standard' as const }, system: null };
  const print = (messages: readonly Message[]) =>
    fingerprintRequest(buildRequest({ agent, messages: [...messages, assistant('z')], tools: [], maxTokens: 1 }));
  fc.assert(
    fc.property(history, history, (a, b) => {
      expect(print(a) === print(structuredClone(b))).toBe(JSON.stringify(a) === JSON.stringify(b));
    }),
    { numRuns: runs(300) },
  );
});
