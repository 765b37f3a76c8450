// Stored entries come back as they were, whatever their fields are called; old stored forms stay readable.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeEntry, encodeEntry } from '../../shared/log/entry-codec.ts';
import type { EntryBody } from '../../shared/types/log.ts';
import { NO_TOTALS, NO_USAGE } from '../../shared/types/message.ts';
import { runs } from '../support/property-runs.ts';

const AT = 1_700_000_000_000;
const throughJson = (body: unknown): unknown =>
  decodeEntry(JSON.parse(JSON.stringify(encodeEntry(body as EntryBody, AT))), AT);

describe('entry codec', () => {
  test.each<[string, object]>([
    ['a kind of a later version', { kind: 'ts', t: 1, turnId: 2, '~x': 3, k: 4, '~~': 5 }],
    [
      'an input',
      {
        kind: 'input',
        event: { type: 'user.message', content: [{ type: 'text', c: 1 }], id: 'x', acceptedAt: AT - 5 },
      },
    ],
    [
      'an input from the future',
      { kind: 'input', event: { type: 'user.interrupt', id: 'x', acceptedAt: AT + 5, a: 1, y: 2 } },
    ],
    [
      'a message',
      { kind: 'message', usage: { ...NO_USAGE, output_tokens: 3, cache_creation: { i: 0 }, i: 0, later: 0 } },
    ],
    ['calls', { kind: 'decided', calls: [{ toolUseId: 'a', name: 'n', input: { j: 1, toolUseId: 2 } }, 3] }],
    ['totals', { kind: 'turn_ended', totals: { ...NO_TOTALS, costMicroCents: 7 }, outcome: { kind: 'completed' } }],
    ['odd values', { kind: 'message', usage: null, totals: 0, calls: 'x', event: [1] }],
  ])('%s comes back', (_, body) => {
    expect(throughJson(body)).toEqual(body);
  });

  test('any fields come back', () => {
    const name = fc.oneof(
      fc.constantFrom(
        'kind',
        'event',
        'usage',
        'totals',
        'calls',
        'k',
        't',
        'e',
        '~',
        '~k',
        '__proto',
        'turnId',
        'i',
        'id',
      ),
      fc.string({ maxLength: 3 }).filter((n) => n !== '__proto__'),
    );
    const value = fc
      .oneof(fc.jsonValue({ maxDepth: 1 }), fc.dictionary(name, fc.jsonValue({ maxDepth: 1 })))
      .map((v) => JSON.parse(JSON.stringify(v)) as unknown);
    fc.assert(
      fc.property(fc.string({ minLength: 1, maxLength: 4 }), fc.dictionary(name, value), (kind, fields) => {
        const body: Record<string, unknown> = { ...fields, kind };
        if (isFields(body.usage)) body.usage = { ...NO_USAGE, ...body.usage };
        if (isFields(body.event)) body.event = { ...body.event, acceptedAt: AT - 7 };
        if (isFields(body.totals)) body.totals = { ...NO_TOTALS, ...body.totals };
        expect(throughJson(body)).toEqual(body);
      }),
      { numRuns: runs(500) },
    );
  });

  test('the stored form of today stays readable', () => {
    const stored = { k: 'ms', m: 'claude-opus-5-5', n: 1, f: 'abc' };
    const body: EntryBody = { kind: 'model_started', model: 'claude-opus-5-5', attempt: 1, fingerprint: 'abc' };
    expect(decodeEntry(stored, AT)).toEqual(body);
    expect(encodeEntry(body, AT)).toEqual(stored);
    expect(() => decodeEntry({}, AT)).toThrow('without a kind');
  });
});

const isFields = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
