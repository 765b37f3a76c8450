// The time that sanitising takes grows with the history and no faster.
import { expect, test } from 'vitest';
import { sanitizeMessages } from '../../shared/core/sanitize-messages.ts';
import type { Message } from '../../shared/types/message.ts';
import { fromCode, OPUS, serverCall } from './check-repairs.ts';
import { assistant, system, toolResult, toolUse, user } from './make-messages.ts';

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
