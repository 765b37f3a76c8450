// Ids sort as they were made, sleeping can be ended, log lines never show keys.

import { describe, expect, test } from 'vitest';
import { createIdSource, createLogger, hashing, redactSecrets, systemClock } from '../../shared/adapters/system.ts';
import { sessionId } from '../../shared/types/ids.ts';

describe('ids', () => {
  test('sort in order of the calls: within a millisecond, and when the clock steps back', () => {
    const times = [1000, 1000, 1001, 900, 900, 1001, 1_700_000_000_000];
    let i = 0;
    const ids = createIdSource(() => times[Math.min(i++, times.length - 1)] as number);
    const made = Array.from({ length: 2000 }, () => ids.ulid());
    expect([...made].sort()).toEqual(made);
    expect(new Set(made).size).toBe(made.length);
    for (const ulid of made.slice(0, 20)) expect(sessionId(`sesn_${ulid}`)).toContain(ulid);
  });

  test('begin with the time, as ULIDs do', () => {
    expect(
      createIdSource(() => 1_469_918_176_385)
        .ulid()
        .slice(0, 10),
    ).toBe('01aryz6s41');
  });

  test('nonces are 128 bits of printable text', () => {
    const ids = createIdSource();
    const nonces = Array.from({ length: 100 }, () => ids.nonce());
    expect(new Set(nonces).size).toBe(100);
    for (const nonce of nonces) expect(nonce).toMatch(/^[A-Za-z0-9_-]{22}$/);
  });
});

describe('sleep', () => {
  test('ends after its time, at once when aborted before or meanwhile', async () => {
    const abort = new AbortController();
    const start = performance.now();
    await systemClock.sleep(20, abort.signal);
    expect(performance.now() - start).toBeGreaterThanOrEqual(18);
    setTimeout(() => abort.abort(), 10);
    await systemClock.sleep(60_000, abort.signal);
    await systemClock.sleep(60_000, abort.signal);
    expect(performance.now() - start).toBeLessThan(5000);
  });
});

test('hashes as SHA-256 in hex', () => {
  expect(hashing.sha256('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  expect(hashing.sha256(new TextEncoder().encode('abc'))).toBe(hashing.sha256('abc'));
});

describe('log lines', () => {
  const logTo = (isTTY: boolean) => {
    const lines: string[] = [];
    return { lines, logger: createLogger({ write: (line) => lines.push(line), isTTY }) };
  };

  test('are JSON with fields, errors with their stack, and whatever cannot be JSON', () => {
    const { lines, logger } = logTo(false);
    const circle: Record<string, unknown> = {};
    circle.self = circle;
    logger.info('one', { a: 1 });
    logger.error('two', { error: new TypeError('broke'), big: 5n });
    logger.warn('three', { circle });
    expect(JSON.parse(lines[0] as string)).toMatchObject({ level: 'info', message: 'one', a: 1 });
    expect(JSON.parse(lines[1] as string)).toMatchObject({ big: '5', error: { name: 'TypeError', message: 'broke' } });
    expect(JSON.parse(lines[2] as string)).toMatchObject({ level: 'warn', message: 'three' });
    expect(lines.every((line) => line.endsWith('\n') && !line.slice(0, -1).includes('\n'))).toBe(true);
  });

  test('are short where a person reads', () => {
    const { lines, logger } = logTo(true);
    logger.info('ready', { url: 'http://localhost:8787', ms: 12 });
    logger.warn('slow');
    expect(lines[0]).toMatch(/^\d\d:\d\d:\d\d ready url=http:\/\/localhost:8787 ms=12\n$/);
    expect(lines[1]).toMatch(/ warn: slow\n$/);
  });

  test.each([
    'rk_live_0123456789abcdef',
    'sk-ant-api03-abcDEF_123-456',
    'Bearer abc.def-ghi_jkl=',
    'authorization: bearer 0123456789',
  ])('never show %s', (secret) => {
    const core = secret.split(/[\s_]|ant-/).at(-1) as string;
    const { lines, logger } = logTo(false);
    logger.error(`failed with ${secret}`, { headers: { authorization: secret }, error: new Error(secret) });
    expect(lines.join('')).not.toContain(core);
    expect(lines.join('')).toContain('[redacted]');
    expect(() => JSON.parse(lines[0] as string)).not.toThrow();
  });

  test('leave other text alone', () => {
    for (const text of ['the bearer of news', 'task-ant', 'work_item', 'risk-antenna'])
      expect(redactSecrets(text)).toBe(text);
  });
});
