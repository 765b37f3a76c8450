// Calls and results: each call has its one result where it belongs.
import { expect, test } from 'vitest';
import { sanitizeMessages } from '../../shared/core/sanitize-messages.ts';
import type { Message } from '../../shared/types/message.ts';
import { CARRIED, check, OPUS, pair, type RepairRow, UNKNOWN } from './check-repairs.ts';
import { assistant, errorResult, toolResult, toolUse, user } from './make-messages.ts';

test.each<RepairRow>([
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
  [
    'a placeholder for an answered call goes',
    [...pair, assistant('b'), user(errorResult('t1', 'Interrupted.'), 'c')],
    [...pair, assistant('b'), user('c')],
  ],
  [
    'another real result of an answered call is carried',
    [...pair, assistant('b'), user(toolResult('t1', 'more'), 'c')],
    [...pair, assistant('b'), user(CARRIED, 'more', 'c')],
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
])('%s', (_, given, expected, options) => {
  check(given, expected, options);
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
