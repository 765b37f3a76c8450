// Copied calls, damaged inputs, and calls that the API runs itself.
import { expect, test } from 'vitest';
import { sanitizeMessages } from '../../shared/core/sanitize-messages.ts';
import {
  CARRIED,
  check,
  fromCode,
  OPUS,
  pair,
  type RepairRow,
  serverCall,
  serverResult,
  turns,
} from './check-repairs.ts';
import { assistant, errorResult, text, toolResult, toolUse, user } from './make-messages.ts';

test.each<RepairRow>([
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
])('%s', (_, given, expected, options) => {
  check(given, expected, options);
});

test.each<RepairRow>([
  // server tools
  [
    'a client call under the id of a server call',
    [user('a'), assistant(serverCall('t1'), serverResult('t1'), 'b', toolUse('t1')), user(toolResult('t1'))],
    [
      user('a'),
      assistant(serverCall('t1'), serverResult('t1'), 'b', { ...toolUse('t1'), id: 't1_c7d7f478' }),
      user({ ...toolResult('t1'), tool_use_id: 't1_c7d7f478' }),
    ],
  ],
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
])('%s', (_, given, expected, options) => {
  check(given, expected, options);
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
