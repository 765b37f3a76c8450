// The cheap proof never says yes where a check would find a fault, and says yes to the histories it is for.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findHistoryFaults } from '../../shared/core/check-request.ts';
import { isPlainlySound } from '../../shared/core/sanitize/known-sound.ts';
import type { ContentBlock, Message } from '../../shared/types/message.ts';
import { runs } from '../support/property-runs.ts';
import { assistant, text, thinking, toolResult, toolUse, user } from './make-messages.ts';

const result = (id: string, ...parts: ContentBlock[]): ContentBlock => toolResult(id, parts);

function* history(turns: number): Generator<Message> {
  for (let i = 0; i < turns; i++) {
    yield user(`question ${i}`);
    yield assistant(thinking(`thought ${i}`), 'let me look', toolUse(`a${i}`, 'read'), toolUse(`b${i}`, 'read'));
    yield user(result(`a${i}`, text('one')), result(`b${i}`));
    yield assistant(`answer ${i}`);
  }
  yield user('and now?');
}

describe('isPlainlySound', () => {
  it('knows a history of text, thinking, calls and results, as it grows', () => {
    const all = [...history(30)];
    for (let length = 1; length <= all.length; length += 2) {
      expect(isPlainlySound(all.slice(0, length))).toBe(true);
    }
  });

  it('does not end with the assistant, nor with a call that is open', () => {
    const all = [...history(2)];
    expect(isPlainlySound(all.slice(0, 2))).toBe(false);
    expect(isPlainlySound([user('a'), assistant(toolUse('t')), user(text('b'))])).toBe(false);
  });

  it('looks again where the list went on otherwise', () => {
    const begin = [user('a'), assistant(toolUse('t'))];
    expect(isPlainlySound([...begin, user(text('no result'))])).toBe(false);
    expect(isPlainlySound([...begin, user(result('t', text('out')))])).toBe(true);
    expect(isPlainlySound([...begin, user(result('u', text('out')))])).toBe(false);
    expect(isPlainlySound(begin.slice(0, 1))).toBe(true);
  });

  const mark = { cache_control: { type: 'ephemeral' } };
  it.each<[string, Message[]]>([
    ['an id twice', [...history(1), assistant(toolUse('a0')), user(result('a0'))]],
    ['a thought twice', [...history(1), assistant(thinking('thought 0'), 'so'), user('b')]],
    ['an empty error', [user('a'), assistant(toolUse('t')), user(toolResult('t', [], { is_error: true }))]],
    ['a result missing', [user('a'), assistant(toolUse('t'), toolUse('u')), user(result('t'))]],
    ['five marks', [user(...[1, 2, 3, 4, 5].map((n) => ({ ...text(`${n}`), ...mark })))]],
    ['a bad id', [user('a'), assistant(toolUse('t 1')), user(result('t 1'))]],
    [
      'text beside the result of a call from code',
      [user('a'), assistant({ ...toolUse('t'), caller: { type: 'code_execution_20260120' } }), user(result('t'), 'b')],
    ],
  ])('says no to %s', (_what, messages) => {
    expect(isPlainlySound(messages)).toBe(false);
    expect(findHistoryFaults({ model: 'claude-opus-5-5', messages })).not.toEqual([]);
  });

  const piece = fc.oneof(
    fc.constantFrom('', ' ', 'word', '\ud800').map(text),
    fc.constantFrom('', 's1', 's2').map((signature) => thinking('t', signature)),
    fc.constantFrom('t1', 't2', 't 3').map((id) => toolUse(id, 'read', {})),
    fc.constantFrom('t1', 't2').map((id) => result(id, text('out'))),
    fc.constantFrom('t1', 't2').map((id) => toolResult(id, [], { is_error: true })),
    fc.constant({ ...text('marked'), cache_control: { type: 'ephemeral' } }),
    fc.constant({ ...toolUse('t1', 'read', {}), caller: { type: 'code_execution_20260120', tool_id: 'x' } }),
    fc.constant({ type: 'redacted_thinking', data: '' }),
    fc.constant({ type: 'reprise_spilled', of: 'text', blob: 'b', bytes: 1 }),
    fc.constant({ type: 'image', source: { type: 'base64', media_type: 'image/png', data: '' } }),
  );
  const content = fc.array(piece as fc.Arbitrary<ContentBlock>, { maxLength: 3 });
  const message = fc.record({ role: fc.constantFrom('user', 'assistant'), content }) as fc.Arbitrary<Message>;

  it('says yes only where the checks find nothing', () => {
    fc.assert(
      fc.property(
        fc.array(message, { maxLength: 6 }),
        fc.constantFrom('claude-opus-5-5', 'claude-3-haiku'),
        (messages, model) => {
          const yes = isPlainlySound(messages);
          if (yes) expect(findHistoryFaults({ model, messages })).toEqual([]);
        },
      ),
      { numRuns: runs(3000) },
    );
  });

  const edit = fc.record({ at: fc.nat(12), how: fc.constantFrom('drop', 'repeat', 'add', 'replace'), piece });
  const edited = fc.array(edit, { maxLength: 2 }).map((edits) => {
    const messages = [...history(3)];
    for (const { at, how, piece: block } of edits) {
      const old = messages[at] ?? user('x');
      if (how === 'drop') messages.splice(at, 1);
      else if (how === 'repeat') messages.splice(at, 0, structuredClone(old), structuredClone(messages[at + 1] ?? old));
      else if (how === 'add') messages[at] = { ...old, content: [...old.content, block as ContentBlock] };
      else messages[at] = { ...old, content: [block as ContentBlock] };
    }
    return messages;
  });

  it('says no to every fault in a long history', () => {
    fc.assert(
      fc.property(edited, (messages) => {
        if (isPlainlySound(messages)) expect(findHistoryFaults({ model: 'claude-opus-5-5', messages })).toEqual([]);
      }),
      { numRuns: runs(3000) },
    );
  });

  it('gives the same answer for a list as for a copy that it has never seen', () => {
    fc.assert(
      fc.property(fc.array(message, { maxLength: 6 }), (messages) => {
        for (let length = 0; length <= messages.length; length++) {
          const some = messages.slice(0, length);
          expect(isPlainlySound(some)).toBe(isPlainlySound(structuredClone(some)));
        }
      }),
      { numRuns: runs(100) },
    );
  });
});
