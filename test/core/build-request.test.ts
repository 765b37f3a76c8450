import { expect, test } from 'vitest';
import { buildRequest, fingerprintRequest } from '../../shared/core/build-request.ts';
import type { Message } from '../../shared/types/message.ts';
import { assistant, system, text, thinking, toolResult, toolUse, user } from './make-messages.ts';

const TOOL = { name: 'bash', description: 'run', input_schema: { type: 'object' } };
const MARK = { cache_control: { type: 'ephemeral' } };

function build(
  messages: readonly Message[],
  more: { model?: string; effort?: string; system?: string | null; tools?: readonly object[] } = {},
) {
  return buildRequest({
    agent: {
      model: { id: more.model ?? 'claude-opus-5-5', effort: more.effort ?? null, speed: 'standard' },
      system: more.system === undefined ? 'Be brief.' : more.system,
    },
    messages,
    tools: more.tools ?? [TOOL],
    maxTokens: 1000,
  });
}

const FIRST = [user('hi')];
const SECOND = [...FIRST, assistant(thinking('t'), toolUse('t1')), user(toolResult('t1'))];
const THIRD = [...SECOND, assistant('done'), user('more', 'and more')];

test('the whole request, in a fixed order of fields', () => {
  const request = build(FIRST, { effort: 'low' });
  expect(request).toEqual({
    model: 'claude-opus-5-5',
    max_tokens: 1000,
    thinking: { type: 'adaptive' },
    output_config: { effort: 'low' },
    system: [{ ...text('Be brief.'), ...MARK }],
    tools: [TOOL],
    messages: [user({ ...text('hi'), ...MARK })],
  });
  expect(Object.keys(request).at(-1)).toBe('messages');
});

test('thinking and effort only where the model takes them', () => {
  const fields = (model: string) => {
    const { thinking, output_config } = build(FIRST, { model, effort: 'high' });
    return [thinking, output_config];
  };
  expect(fields('claude-sonnet-4-6')).toEqual([{ type: 'adaptive' }, { effort: 'high' }]);
  expect(fields('claude-opus-4-5')).toEqual([undefined, { effort: 'high' }]);
  expect(fields('claude-haiku-4-5-20251001')).toEqual([undefined, undefined]);
  expect(fields('some-model')).toEqual([{ type: 'adaptive' }, { effort: 'high' }]);
});

test('marks: the end of the system prompt and of the last two user turns', () => {
  const marks = (request: unknown): string[] =>
    [...JSON.stringify(request).matchAll(/\{[^{}]*"cache_control"/g)].map((m) => m[0].slice(0, 40));
  expect(marks(build(THIRD))).toHaveLength(3);
  expect(build(THIRD).messages[0]).toBe(FIRST[0]);
  expect(build(THIRD).messages[2]).toEqual(user({ ...toolResult('t1'), ...MARK }));
  expect(build(THIRD).messages[4]).toEqual(user('more', { ...text('and more'), ...MARK }));
  expect(build(FIRST, { system: null }).tools).toEqual([{ ...TOOL, ...MARK }]);
  expect(build(FIRST, { system: null, tools: [] })).not.toHaveProperty('tools');
});

test('marks are never on empty text nor thinking, two user messages in a row are one turn, stored marks go', () => {
  const messages = build([user('a'), user('b', { type: 'text', text: '' }), system('note')]).messages;
  expect(messages).toEqual([user('a'), user({ ...text('b'), ...MARK }, { type: 'text', text: '' }), system('note')]);
  const inner = { ...text('x'), ...MARK };
  const stored = [
    user({ ...text('hi'), ...MARK }),
    assistant({ ...toolUse('t1'), ...MARK }),
    user(toolResult('t1', [inner])),
  ];
  expect(build(stored).messages).toEqual([
    user({ ...text('hi'), ...MARK }),
    assistant(toolUse('t1')),
    user({ ...toolResult('t1', [text('x')]), ...MARK }),
  ]);
});

test('a string as content is one text block', () => {
  const given = [{ role: 'user', content: 'hi' } as unknown as Message];
  expect(build(given).messages).toEqual([user({ ...text('hi'), ...MARK })]);
});

test('a longer history begins with the bytes of the shorter one, marks aside', () => {
  const bare = (messages: readonly Message[]) =>
    JSON.stringify(build(messages)).replaceAll(/,"cache_control":\{[^}]*\}/g, '');
  expect(bare(THIRD).startsWith(bare(SECOND).slice(0, -2))).toBe(true);
});

test('fingerprints: equal for equal content, whatever the objects; marks and output limit do not count', () => {
  const print = fingerprintRequest(build(THIRD));
  expect(print).toMatch(/^[0-9a-f]{16}$/);
  expect(fingerprintRequest(build(structuredClone(THIRD)))).toBe(print);
  expect(fingerprintRequest({ ...build(THIRD), messages: THIRD, max_tokens: 5 })).toBe(print);
  const others = [
    build(SECOND),
    build([...SECOND, assistant('done'), user('more and more')]),
    build([...SECOND, assistant('Done'), user('more', 'and more')]),
    build([...SECOND, user('more', 'and more'), assistant('done')]),
    build(THIRD, { system: 'Be  brief.' }),
    build(THIRD, { tools: [] }),
    build(THIRD, { model: 'claude-sonnet-5-5' }),
    build(THIRD, { effort: 'max' }),
  ].map(fingerprintRequest);
  expect(new Set([print, ...others]).size).toBe(others.length + 1);
});

test('a longer history costs its new messages only: known message objects are not read again', () => {
  let reads = 0;
  const counted = Object.defineProperty({ ...user('x') }, 'content', {
    enumerable: true,
    get: () => {
      reads += 1;
      return [text('x')];
    },
  }) as Message;
  const request = build([], {});
  fingerprintRequest({ ...request, messages: [counted] });
  const before = reads;
  fingerprintRequest({ ...request, messages: [counted, user('y')] });
  expect(reads).toBe(before);
});
