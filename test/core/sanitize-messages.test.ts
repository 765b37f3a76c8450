// Histories as a whole: sound ones stay, roles and ends are put right, limits hold.
import { expect, test } from 'vitest';
import { type SanitizeOptions, sanitizeMessages } from '../../shared/core/sanitize-messages.ts';
import type { ContentBlock, Message } from '../../shared/types/message.ts';
import { check, compaction, marked, OPUS, pair, type RepairRow, serverCall, turns, UNKNOWN } from './check-repairs.ts';
import { assistant, errorResult, system, text, thinking, toolResult, toolUse, user } from './make-messages.ts';

const OLD = { model: 'claude-haiku-4-5' };
const GO_ON = user('Please continue.');
const BEGIN = user('(The beginning of this conversation is not available.)');

test.each<[string, readonly Message[], SanitizeOptions?]>([
  ['words', [user('a'), assistant('b'), user('c')]],
  [
    'a tool loop with thinking',
    [...pair, assistant(thinking('', 's'), 'x', toolUse('t2')), user(errorResult('t2', 'no'), 'stop')],
  ],
  [
    'results over several messages',
    [user('a'), assistant(toolUse('a'), toolUse('b')), user(toolResult('b')), user(toolResult('a'))],
  ],
  ['same-role messages', [user('a'), user('a'), assistant('b'), assistant('c'), user('d')]],
  ['a string as content', [{ role: 'user', content: 'a' } as unknown as Message]],
  ['system messages in place', [...pair, system('note'), assistant('b'), user('c')]],
  ['thinking alone in the middle', [user('a'), assistant(thinking('x')), user('b')]],
  [
    'thinking of an older model',
    [user('a'), assistant(thinking('x', 'EqQB'), 'b'), user('c')],
    { model: 'claude-sonnet-4-6' },
  ],
  ['a paused turn', [user('a'), assistant('b', serverCall('s1'))]],
  ['few cache marks', [user(marked(text('a')))]],
  ['a compaction block first', [assistant(compaction), user('a')]],
  [
    'text after a call on models that take it',
    [user('a'), assistant(toolUse('t1'), 'x'), user(toolResult('t1'))],
    { model: 'claude-opus-4-6' },
  ],
  ['prefill on models that take it', [user('a'), assistant('b')], OLD],
  ['an old tool', [user('a'), assistant(toolUse('t1', 'gone.tool')), user(toolResult('t1'))]],
  ['NUL and escapes', [user('a\u0000b\u001b[0m 👩‍👧 e\u0301 \u2028')]],
])('a sound history comes back as the same object: %s', (_, messages, options = OPUS) => {
  const result = sanitizeMessages(messages, options);
  expect(result.messages).toBe(messages);
  expect(result.repairs).toEqual([]);
});

test.each<RepairRow>([
  // roles and ends
  ['an assistant first', [assistant('a'), user('b')], [BEGIN, assistant('a'), user('b')]],
  ['an assistant last', [user('a'), assistant('b')], [user('a'), assistant('b'), GO_ON]],
  ['thinking last', [user('a'), assistant(thinking('x'))], [user('a'), assistant(thinking('x')), GO_ON]],
  [
    'system between call and result',
    [user('a'), assistant(toolUse('t1')), system('s'), user(toolResult('t1'))],
    [user('a'), assistant(toolUse('t1')), user(toolResult('t1')), system('s')],
  ],
  [
    'system where the model has no such role',
    [user('a'), system('s'), assistant('b'), user('c')],
    [user('a', 's'), assistant('b'), user('c')],
    { model: 'claude-sonnet-4-6' },
  ],
  [
    'another vendor',
    [
      user('a'),
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 't1', type: 'function', function: { name: 'n', arguments: '{"a":1}' } }],
      },
      { role: 'tool', tool_call_id: 't1', content: 'out' },
    ],
    [user('a'), assistant(toolUse('t1', 'n', { a: 1 })), user(toolResult('t1', 'out'))],
  ],
  [
    'fields of a response',
    [user('a'), { ...assistant('b'), id: 'm', usage: {} }, user('c')],
    [user('a'), assistant('b'), user('c')],
  ],
  [
    'fields of an accumulator',
    [user('a'), assistant({ ...text('b'), index: 0 }), user('c')],
    [user('a'), assistant('b'), user('c')],
  ],
  ['one bare block', [{ role: 'user', content: text('a') }], [user('a')]],
  [
    'foreign reasoning',
    [user('a'), assistant({ type: 'reasoning', summary: 'x' }, 'b'), user('c')],
    [user('a'), assistant('b'), user('c')],
  ],
  ['an unknown block', [user({ type: 'weird', n: 1 })], [user('{"type":"weird","n":1}')]],
])('%s', (_, given, expected, options) => {
  check(given, expected, options);
});

test('system text at the very start belongs into the system prompt', () => {
  const result = sanitizeMessages([system('one'), system('two'), user('a')], OPUS);
  expect(result).toMatchObject({ messages: [user('a')], system: 'one\n\ntwo' });
});

test('messages that need no repair come back as the same objects', () => {
  const given = [...pair, assistant('', 'b'), user('c'), assistant(toolUse('t2')), user('d')];
  const { messages } = sanitizeMessages(given, OPUS);
  for (const i of [0, 1, 2, 4, 5]) expect(messages).toContain(given[i]);
});

test('blocks kept outside the log are neither lost nor changed', () => {
  const spilled = (of: string, more: object = {}): ContentBlock => ({
    type: 'reprise_spilled',
    of,
    blob: 'b',
    bytes: 9,
    ...more,
  });
  const sound = [
    user(spilled('image')),
    assistant(spilled('thinking'), toolUse('t1')),
    user(toolResult('t1', [spilled('text')])),
  ];
  expect(sanitizeMessages(sound, OPUS).messages).toBe(sound);
  const broken = [...sound, assistant(spilled('text'), toolUse('t2')), user('c')];
  expect(turns(sanitizeMessages(broken, OPUS).messages)).toEqual([
    ...sound,
    assistant(spilled('text'), toolUse('t2')),
    user(UNKNOWN('t2'), 'c'),
  ]);
  const searched = spilled('web_search_tool_result', { tool_use_id: 's1' });
  const server = [user('a'), assistant(serverCall('s1'), searched, 'x'), user('b')];
  expect(sanitizeMessages(server, OPUS).messages).toBe(server);
});

test('a history over the size of a request loses old outputs first', () => {
  const big = 'x'.repeat(17 * 1024 * 1024);
  const given = [user('a'), assistant(toolUse('t1')), user(toolResult('t1', big)), assistant('b'), user(big)];
  const { messages } = sanitizeMessages(given, OPUS);
  expect(JSON.stringify(messages[2]).length).toBeLessThan(3000);
  expect(messages[4]).toBe(given[4]);
});

test('more messages than a request takes: the newest stay', () => {
  const given = Array.from({ length: 50_001 }, (_, i) => [user(`q${i}`), assistant(`a${i}`)]).flat();
  const { messages } = sanitizeMessages(given, OPUS);
  expect(messages.length).toBeLessThanOrEqual(100_000);
  expect(messages[0]?.role).toBe('user');
  expect(messages.at(-2)).toBe(given.at(-1));
});
