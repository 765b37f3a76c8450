import { expect, test } from 'vitest';
import { type SanitizeOptions, sanitizeMessages } from '../../shared/core/sanitize-messages.ts';
import { OUTCOME_UNKNOWN } from '../../shared/core/sanitize-pairs.ts';
import type { ContentBlock, Message } from '../../shared/types/message.ts';
import { assistant, errorResult, system, text, thinking, toolResult, toolUse, user } from './make-messages.ts';

const OPUS = { model: 'claude-opus-5-5' };
const OLD = { model: 'claude-haiku-4-5' };
const GO_ON = user('Please continue.');
const BEGIN = user('(The beginning of this conversation is not available.)');
const UNKNOWN = (id: string) => errorResult(id, OUTCOME_UNKNOWN);
const CARRIED = 'Output of a tool whose call is not in this conversation:';

const DOT = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABAQAAAAA3bvkkAAAACklEQVR42mNgAAAAAgAB5Sfe/AAAAABJRU5ErkJggg==';
const WIDE = 'iVBORw0KGgoAAAANSUhEUgAACDQAAAABAQAAAADTd1Ed';
const image = (data = DOT, type = 'image/png'): ContentBlock => ({
  type: 'image',
  source: { type: 'base64', media_type: type, data },
});
const serverCall = (id: string, name = 'web_search'): ContentBlock => ({
  type: 'server_tool_use',
  id,
  name,
  input: {},
});
const serverResult = (id: string): ContentBlock => ({ type: 'web_search_tool_result', tool_use_id: id, content: [] });
const fromCode = { ...toolUse('t1'), caller: { type: 'code_execution_20250825', tool_id: 's1' } };
const compaction = { type: 'compaction', content: 'sum', signature: 'x' };
const marked = (block: ContentBlock): ContentBlock => ({ ...block, cache_control: { type: 'ephemeral' } });

const pair = [user('go'), assistant(toolUse('t1')), user(toolResult('t1'))];

/** Same-role messages in a row are one turn: how they are cut into messages does not matter here. */
function turns(messages: readonly Message[]): readonly Message[] {
  const merged: { role: Message['role']; content: ContentBlock[] }[] = [];
  for (const { role, content } of messages) {
    const blocks = typeof content === 'string' ? [text(content)] : content;
    if (merged.at(-1)?.role === role) merged.at(-1)?.content.push(...blocks);
    else merged.push({ role, content: [...blocks] });
  }
  return merged;
}

function check(given: unknown, expected: readonly Message[], options: SanitizeOptions = OPUS): void {
  const result = sanitizeMessages(given as readonly Message[], options);
  expect(turns(result.messages)).toEqual(turns(expected));
  expect(result.repairs.length).toBeGreaterThan(0);
  expect(result.repairs.map((repair) => repair.rule)).not.toContain('request.unsound');
  expect(sanitizeMessages(result.messages, options)).toEqual({ messages: result.messages, repairs: [] });
}

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

test.each<[string, unknown, readonly Message[], SanitizeOptions?]>([
  // pairing
  [
    'a call without result',
    [user('a'), assistant(toolUse('t1')), user('b')],
    [user('a'), assistant(toolUse('t1')), user(UNKNOWN('t1'), 'b')],
  ],
  [
    'a call at the end',
    [user('a'), assistant(toolUse('t1'))],
    [user('a'), assistant(toolUse('t1')), user(UNKNOWN('t1'))],
  ],
  [
    'one of two results',
    [user('a'), assistant(toolUse('t1'), toolUse('t2')), user(toolResult('t2'))],
    [user('a'), assistant(toolUse('t1'), toolUse('t2')), user(UNKNOWN('t1'), toolResult('t2'))],
  ],
  ['a result without call becomes text', [user(toolResult('t0', 'old'), 'a')], [user(CARRIED, 'old', 'a')]],
  ['a failed result without call goes', [user(errorResult('t0', 'old'), 'a')], [user('a')]],
  [
    'a result under another id',
    [user('a'), assistant(toolUse('t1')), user(toolResult('x', 'rows'))],
    [user('a'), assistant(toolUse('t1')), user(UNKNOWN('t1'), CARRIED, 'rows')],
  ],
  [
    'a call in a user message',
    [user('a', toolUse('t1')), user(toolResult('t1'))],
    [user('a'), assistant(toolUse('t1')), user(toolResult('t1'))],
  ],
  [
    'a result in an assistant message',
    [user('a'), assistant(toolUse('t1'), toolResult('t1'), 'b'), user('c')],
    [user('a'), assistant(toolUse('t1')), user(toolResult('t1')), assistant('b'), user('c')],
  ],
  // ordering
  [
    'text before the result',
    [user('a'), assistant(toolUse('t1')), user('b', toolResult('t1'))],
    [user('a'), assistant(toolUse('t1')), user(toolResult('t1'), 'b')],
  ],
  [
    'a message between results',
    [user('a'), assistant(toolUse('t1'), toolUse('t2')), user(toolResult('t1')), user('b'), user(toolResult('t2'))],
    [user('a'), assistant(toolUse('t1'), toolUse('t2')), user(toolResult('t1'), toolResult('t2'), 'b')],
  ],
  [
    'a late result',
    [user('a'), assistant(toolUse('t1')), user('b'), assistant('c'), user(toolResult('t1'), 'd')],
    [user('a'), assistant(toolUse('t1')), user(toolResult('t1'), 'b'), assistant('c'), user('d')],
  ],
  [
    'an early result',
    [user('a'), user(toolResult('t1')), assistant(toolUse('t1')), user('b')],
    [user('a'), assistant(toolUse('t1')), user(toolResult('t1'), 'b')],
  ],
  [
    'text after a call',
    [user('a'), assistant('x', toolUse('t1'), 'y'), user(toolResult('t1'))],
    [user('a'), assistant('x', 'y', toolUse('t1')), user(toolResult('t1'))],
  ],
  // copies and ids
  ['the result twice', [...pair, user(toolResult('t1'), 'b')], [...pair, user('b')]],
  [
    'the result again after the answer',
    [...pair, assistant('b'), user(toolResult('t1'), 'c')],
    [...pair, assistant('b'), user('c')],
  ],
  [
    'the call twice in one message',
    [user('go'), assistant('x', toolUse('t1'), toolUse('t1')), user(toolResult('t1'))],
    [user('go'), assistant('x', toolUse('t1')), user(toolResult('t1'))],
  ],
  [
    'call and result again',
    [
      user('go'),
      assistant('x', toolUse('t1')),
      user(toolResult('t1')),
      assistant('x', toolUse('t1')),
      user(toolResult('t1')),
      assistant('b'),
      user('c'),
    ],
    [user('go'), assistant('x', toolUse('t1')), user(toolResult('t1')), assistant('b'), user('c')],
  ],
  [
    'a real result replaces a placeholder',
    [user('go'), assistant(toolUse('t1')), user(errorResult('t1', 'lost')), user(toolResult('t1'))],
    pair,
  ],
  [
    'a real result after the answer to a placeholder',
    [
      user('go'),
      assistant(toolUse('t1')),
      user(errorResult('t1', 'lost')),
      assistant('b'),
      user(toolResult('t1', 'late')),
    ],
    [user('go'), assistant(toolUse('t1')), user(errorResult('t1', 'lost')), assistant('b'), user(CARRIED, 'late')],
  ],
  // inputs
  [
    'an input as JSON text',
    [user('go'), assistant(toolUse('t1', 'n', '{"a":1}')), user(toolResult('t1'))],
    [user('go'), assistant(toolUse('t1', 'n', { a: 1 })), user(toolResult('t1'))],
  ],
  [
    'JSON text of JSON text',
    [user('go'), assistant(toolUse('t1', 'n', '"{\\"a\\":1}"')), user(toolResult('t1'))],
    [user('go'), assistant(toolUse('t1', 'n', { a: 1 })), user(toolResult('t1'))],
  ],
  [
    'no input',
    [
      user('go'),
      assistant(toolUse('t1', 'n', null), toolUse('t2', 'n', ''), toolUse('t3', 'n', [])),
      user(toolResult('t1'), toolResult('t2'), toolResult('t3')),
    ],
    [
      user('go'),
      assistant(toolUse('t1', 'n', {}), toolUse('t2', 'n', {}), toolUse('t3', 'n', {})),
      user(toolResult('t1'), toolResult('t2'), toolResult('t3')),
    ],
  ],
  [
    'a list of values',
    [user('go'), assistant(toolUse('t1', 'n', [1, 2])), user(toolResult('t1'))],
    [user('go'), assistant(toolUse('t1', 'n', { values: [1, 2] })), user(toolResult('t1'))],
  ],
  [
    'a cut input that was answered',
    [user('go'), assistant(toolUse('t1', 'n', '{"a')), user(errorResult('t1', 'bad'))],
    [user('go'), assistant(toolUse('t1', 'n', { unreadable_input: '{"a' })), user(errorResult('t1', 'bad'))],
  ],
  [
    'a cut input that was not',
    [user('go'), assistant('x', toolUse('t1', 'n', '{"a')), user('stop')],
    [user('go'), assistant('x'), user('stop')],
  ],
  [
    'names',
    [
      user('go'),
      assistant(toolUse('t1', ''), toolUse('t2', 'n'.repeat(240))),
      user(toolResult('t1'), toolResult('t2')),
    ],
    [
      user('go'),
      assistant(toolUse('t1', 'unknown_tool'), toolUse('t2', 'n'.repeat(200))),
      user(toolResult('t1'), toolResult('t2')),
    ],
  ],
  // emptiness
  ['blank texts', [user('', 'a'), assistant(' \n'), user('b')], [user('a', 'b')]],
  ['an empty message', [user('a'), assistant(), user('b')], [user('a', 'b')]],
  ['nothing to send', [user('  ')], []],
  [
    'an empty text in a result',
    [user('go'), assistant(toolUse('t1')), user(toolResult('t1', [text('')]))],
    [user('go'), assistant(toolUse('t1')), user({ type: 'tool_result', tool_use_id: 't1' })],
  ],
  [
    'an empty failure',
    [user('go'), assistant(toolUse('t1')), user(errorResult('t1', ''))],
    [user('go'), assistant(toolUse('t1')), user(errorResult('t1', 'The tool failed without a message.'))],
  ],
  [
    'an object as result',
    [user('go'), assistant(toolUse('t1')), user(toolResult('t1', { n: 1 }))],
    [user('go'), assistant(toolUse('t1')), user(toolResult('t1', '{"n":1}'))],
  ],
  [
    'an image in a failure',
    [user('go'), assistant(toolUse('t1')), user(toolResult('t1', [image()], { is_error: true }))],
    [
      user('go'),
      assistant(toolUse('t1')),
      user(toolResult('t1', [text('[image left out of a failed result]')], { is_error: true })),
    ],
  ],
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
  // thinking
  [
    'thinking without text',
    [...pair, assistant({ type: 'thinking', thinking: null, signature: 's' }, 'b'), user('c')],
    [...pair, assistant(thinking('', 's'), 'b'), user('c')],
  ],
  [
    'thinking without signature',
    [user('a'), assistant(thinking('x', ''), 'b'), user('c')],
    [user('a'), assistant('b'), user('c')],
  ],
  [
    'half a surrogate in thinking',
    [user('a'), assistant(thinking('\ud83d'), 'b'), user('c')],
    [user('a'), assistant('b'), user('c')],
  ],
  [
    'thinking twice',
    [user('a'), assistant(thinking('x')), assistant(thinking('x'), 'b'), user('c')],
    [user('a'), assistant(thinking('x'), 'b'), user('c')],
  ],
  ['thinking in a user message', [user(thinking('x'), 'a')], [user('a')]],
  [
    'damage takes older thinking with it',
    [
      user('a'),
      assistant(thinking('1'), 'b'),
      user('c'),
      assistant(thinking('2', ''), 'd'),
      user('e'),
      assistant(thinking('3'), 'f'),
      user('g'),
    ],
    [user('a'), assistant('b'), user('c'), assistant('d'), user('e'), assistant(thinking('3'), 'f'), user('g')],
  ],
  [
    'but not where thinking is not bound',
    [user('a'), assistant(thinking('1'), 'b'), user('c'), assistant(thinking('2', ''), 'd'), user('e')],
    [user('a'), assistant(thinking('1'), 'b'), user('c'), assistant('d'), user('e')],
    { model: 'claude-opus-5' },
  ],
  [
    'thinking after a repair of our own stays',
    [user('a'), assistant(toolUse('t1')), user('b'), assistant(thinking('x'), 'c'), user('d')],
    [user('a'), assistant(toolUse('t1')), user(UNKNOWN('t1'), 'b'), assistant(thinking('x'), 'c'), user('d')],
  ],
  [
    'thinking after a repair of a foreign history goes',
    [user('a'), assistant(toolUse('t1')), user('b'), assistant(thinking('x'), 'c'), user('d')],
    [user('a'), assistant(toolUse('t1')), user(UNKNOWN('t1'), 'b'), assistant('c'), user('d')],
    { ...OPUS, isForeign: true },
  ],
  // server tools
  [
    'a server call that lost its result',
    [user('a'), assistant('b', serverCall('s1')), user('c')],
    [user('a'), assistant('b'), user('c')],
  ],
  [
    'a server result without call',
    [user('a'), assistant('b', serverResult('s1')), user('c')],
    [user('a'), assistant('b'), user('c')],
  ],
  [
    'text beside the result of a programmatic call',
    [user('a'), assistant(serverCall('s1', 'code_execution'), fromCode), user(toolResult('t1'), 'wait')],
    [user('a'), assistant(serverCall('s1', 'code_execution'), fromCode), user(toolResult('t1'))],
  ],
  [
    'a tool that is gone',
    [user('a'), assistant(toolUse('t1')), user(toolResult('t1', [{ type: 'tool_reference', tool_name: 'mail' }]))],
    [user('a'), assistant(toolUse('t1')), user(toolResult('t1', [text('[a tool that is not available: mail]')]))],
    { ...OPUS, tools: [] },
  ],
  // media
  ['an image without data', [user('a', image(''))], [user('a', '[image left out: the image is empty]')]],
  ['a data URL as data', [user(image(`data:image/png;base64,${DOT}`))], [user(image())]],
  ['another type than declared', [user(image(DOT, 'image/gif'))], [user(image())]],
  [
    'a part of another vendor',
    [user({ type: 'image_url', image_url: { url: `data:image/png;base64,${DOT}` } })],
    [user(image())],
  ],
  [
    'an image in an answer',
    [user('a'), assistant('b', image()), user('c')],
    [user('a'), assistant('b'), user(image(), 'c')],
  ],
  [
    'a wide image among many',
    [user(image(WIDE), ...Array<ContentBlock>(20).fill(image()))],
    [user('[an older image left out: too many in one request]', ...Array<ContentBlock>(20).fill(image()))],
  ],
  // the rest
  ['marks', [user(...'abcde'.split('').map((c) => marked(text(c))))], [user('a', 'b', 'c', 'd', 'e')]],
  [
    'half surrogates',
    [user('a\ud800'), assistant(toolUse('t1', 'n', { 'k\udc00': ['\udf89'] })), user(toolResult('t1'))],
    [user('a\ufffd'), assistant(toolUse('t1', 'n', { 'k\ufffd': ['\ufffd'] })), user(toolResult('t1'))],
  ],
  [
    'a compaction block in the middle',
    [user('a'), assistant('b'), user('c'), assistant(compaction), user('d')],
    [assistant(compaction), user('d')],
  ],
])('%s', (_, given, expected, options) => {
  check(given, expected, options);
});

test('system text at the very start belongs into the system prompt', () => {
  const result = sanitizeMessages([system('one'), system('two'), user('a')], OPUS);
  expect(result).toMatchObject({ messages: [user('a')], system: 'one\n\ntwo' });
});

test('ids that cannot be sent are mapped in pairs, without collisions, good ids stay, and always the same', () => {
  const ids = (messages: readonly Message[]) =>
    sanitizeMessages(messages, OPUS).messages.flatMap((m) =>
      m.content.map((b) => b.id ?? b.tool_use_id).filter(Boolean),
    );
  const calls = [toolUse('a|b'), toolUse('a:b'), toolUse('a_b')];
  const history = [user('go'), assistant(...calls), user(toolResult('a:b'), toolResult('a_b'), toolResult('a|b'))];
  const [one, two, three, ...results] = ids(history);
  expect(three).toBe('a_b');
  expect(new Set([one, two, three]).size).toBe(3);
  expect([one, two]).toEqual([expect.stringMatching(/^[\w-]+$/), expect.stringMatching(/^[\w-]+$/)]);
  expect(results).toEqual([one, two, three]);
  expect(ids([...history, assistant('x'), user('y')])).toEqual([one, two, three, ...results]);
});

test('an id used again for another call gets one of its own', () => {
  const again = (input: object, out: string) => [assistant(toolUse('c1', 'n', input)), user(toolResult('c1', out))];
  const { messages } = sanitizeMessages([user('go'), ...again({}, 'pending'), ...again({}, 'done')], OPUS);
  const [first, second] = [messages[1]?.content[0]?.id, messages[3]?.content[0]?.id];
  expect(first).toBe('c1');
  expect(second).not.toBe('c1');
  expect(messages[4]?.content[0]).toEqual({ ...toolResult('c1', 'done'), tool_use_id: second });
});

test('held back text comes with the next user turn', () => {
  const call = serverCall('s1', 'code_execution');
  const given = [
    user('a'),
    assistant(call, fromCode),
    user(toolResult('t1'), 'wait'),
    assistant(serverResult('s1'), 'b'),
    user('c'),
  ];
  expect(turns(sanitizeMessages(given, OPUS).messages)).toEqual([
    user('a'),
    assistant(call, fromCode),
    user(toolResult('t1')),
    assistant(serverResult('s1'), 'b'),
    user('wait', 'c'),
  ]);
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

test.each<[string, (n: number) => readonly Message[]]>([
  [
    'one id again and again',
    (n) => counted(n, (i) => [assistant(toolUse('c', 'n', { i })), user(toolResult('c', `o${i}`))]),
  ],
  [
    'one id, unanswered for long',
    (n) => [...counted(n, (i) => [assistant(toolUse('c', 'n', { i }))]), ...counted(n, () => [user(toolResult('c'))])],
  ],
  [
    'all calls in one turn',
    (n) => [
      assistant(...counted(n, (i) => [toolUse(`c${i}`)])),
      user('x', ...counted(n, (i) => [toolResult(`c${i}`)])),
    ],
  ],
  [
    'extra results',
    (n) => [
      assistant(toolUse('c')),
      user(toolResult('c', 'x'.repeat(1e6)), ...counted(n, (i) => [toolResult('c', `${i}`)])),
    ],
  ],
  [
    'text held back all along',
    (n) =>
      counted(n, (i) => [
        assistant(serverCall(`s${i}`), {
          ...fromCode,
          id: `c${i}`,
          caller: { type: 'code_execution_20250825', tool_id: `s${i}` },
        }),
        user(toolResult(`c${i}`), 'wait'),
      ]),
  ],
  ['system messages all along', (n) => counted(n, () => [system('s'), user('u')])],
])('the time that a long history takes grows with its length: %s', (_, make) => {
  const { messages, repairs } = sanitizeMessages([user('go'), ...make(5000)], { ...OPUS, tools: [] });
  expect(messages.length).toBeGreaterThan(1);
  expect(repairs.map((repair) => repair.rule)).not.toContain('request.unsound');
});

function counted<T>(n: number, make: (i: number) => readonly T[]): readonly T[] {
  return Array.from({ length: n }, (_, i) => make(i)).flat();
}
