// Texts, thinking, media and marks: what cannot be sent is put right or goes.
import { test } from 'vitest';
import type { ContentBlock } from '../../shared/types/message.ts';
import { check, compaction, DOT, image, marked, OPUS, pair, type RepairRow, UNKNOWN, WIDE } from './check-repairs.ts';
import { assistant, errorResult, text, thinking, toolResult, toolUse, user } from './make-messages.ts';

test.each<RepairRow>([
  [
    'texts that are no strings',
    [user({ type: 'text', text: 5 }, { type: 'text', text: null }, { type: 'text' })],
    [user('5')],
  ],
  ['marks stay where they are in order', [user(marked(text('a')), '')], [user(marked(text('a')))]],
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
])('%s', (_, given, expected, options) => {
  check(given, expected, options);
});

test.each<RepairRow>([
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
])('%s', (_, given, expected, options) => {
  check(given, expected, options);
});

test.each<RepairRow>([
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
