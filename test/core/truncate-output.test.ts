import fc from 'fast-check';
import { expect, test } from 'vitest';
import { truncateOutput } from '../../shared/core/truncate-output.ts';
import { runs } from '../support/property-runs.ts';

test('short output is itself', () => {
  expect(truncateOutput('abc', 3)).toEqual({ text: 'abc', truncated: false });
});

test('long output keeps its beginning and its end and says so', () => {
  const { text, truncated } = truncateOutput(`${'a'.repeat(500)}${'z'.repeat(500)}`, 300);
  expect(truncated).toBe(true);
  expect(text.length).toBe(300);
  expect(text).toMatch(/^a{100,}\n\n\[… output of 1000 characters shortened to 300.*\]\n\nz{50,}$/);
});

test('never longer than the limit, never half a pair', () => {
  const long = fc.string({ unit: fc.constantFrom('😀', 'x', '𝒳'), minLength: 100, maxLength: 400 });
  fc.assert(
    fc.property(long, fc.integer({ min: 0, max: 300 }), (value, max) => {
      const { text, truncated } = truncateOutput(value, max);
      expect(truncated ? text.length <= max : text === value).toBe(true);
      expect(text.isWellFormed()).toBe(true);
    }),
    { numRuns: runs(100) },
  );
});
