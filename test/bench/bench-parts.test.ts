// The parts of the bench that could make its figures wrong without anybody seeing it.

import { describe, expect, it } from 'vitest';
import { countStorage } from '../../bench/count-storage.ts';
import { boundRow, ratioRow } from '../../bench/measure.ts';
import { answerChars, deltaText, promptOf, scriptOf } from '../../bench/prompts.ts';
import { tableOf } from '../../bench/report.ts';
import { median, percentile } from '../../bench/statistics.ts';
import { createSqliteStore } from '../../shared/adapters/sqlite-store.ts';
import type { TenantId } from '../../shared/types/ids.ts';

const row = { id: 'x', name: 'a measure', unit: 'ms' };

describe('statistics', () => {
  it('median and percentile, whatever the order', () => {
    expect(median([9, 1, 5])).toBe(5);
    expect(median([4, 1, 3, 2])).toBe(2.5);
    expect(percentile([30, 10, 20], 95)).toBeCloseTo(29);
    expect(median([])).toBeNaN();
  });
});

describe('scripts', () => {
  it('come back from the words of a prompt', () => {
    const script = { deltas: 7, delayMs: 20, perWrite: 3, rounds: 2, path: '/mnt/a.txt' };
    expect(scriptOf(promptOf(script))).toEqual(script);
    expect(scriptOf('hello')).toBeUndefined();
  });

  it('the length of an answer is that of its deltas', () => {
    expect(answerChars(12)).toBe(Array.from({ length: 12 }, (_, i) => deltaText(i)).join('').length);
  });
});

describe('rows', () => {
  it('pass at the bound and miss above it', () => {
    expect(ratioRow(row, { raw: 10, reprise: 20 }, 2).pass).toBe(true);
    expect(ratioRow(row, { raw: 10, reprise: 21 }, 2).pass).toBe(false);
    expect(boundRow(row, 900, 900).pass).toBe(true);
    expect(boundRow(row, 901, 900).pass).toBe(false);
  });

  it('what could not be measured is no pass', () => {
    expect(ratioRow(row, { raw: Number.NaN, reprise: 1 }, 2)).toMatchObject({ reprise: null, pass: null });
    expect(tableOf([boundRow(row, 901, 900), ratioRow(row, { raw: 2, reprise: 3 }, 2)])).toMatch(
      /MISS[\s\S]*1\.50 ×.*pass/,
    );
  });
});

describe('counting', () => {
  it('counts writes, refused ones too, and the bytes of key, rev, index and data', async () => {
    const storage = countStorage(createSqliteStore({ path: ':memory:' }));
    const store = storage.forTenant('default' as TenantId);
    const key = { partition: 'p', sort: 'so' };
    await store.put(key, { rev: 'r', data: 'é', index: { name: 'i', sort: 'j' } }, 'absent');
    expect(storage.counts()).toEqual({ writes: 1, bytes: 3 + 1 + 2 + 4 });
    await store.putAll([{ key, expect: 'exists' }]);
    await store.delete(key, 'any');
    expect(storage.counts()).toEqual({ writes: 3, bytes: 10 + 3 });
    await storage.close();
  });
});
