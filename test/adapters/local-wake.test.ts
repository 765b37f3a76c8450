// Wake-ups in one process: the earliest wins, none is lost while a handler runs, failures are contained.

import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createLocalWake, type LocalWake } from '../../shared/adapters/local-wake.ts';
import type { SessionId, TenantId } from '../../shared/types/ids.ts';

const T = 'tenant' as TenantId;
const S = 'sesn_a' as SessionId;
const OTHER = 'sesn_b' as SessionId;

describe('local wake', () => {
  let wake: LocalWake;
  let runs: string[];
  const errors: string[] = [];

  beforeEach(() => {
    vi.useFakeTimers();
    runs = [];
    errors.length = 0;
    wake = createLocalWake({ logger: { info() {}, warn() {}, error: (message) => void errors.push(message) } });
  });
  afterEach(() => {
    wake.close();
    vi.useRealTimers();
  });
  const record = () => wake.onWake(async (tenant, session) => void runs.push(`${tenant} ${session}`));

  test('runs the handler when the time has come, once for many wake-ups, the earliest wins', async () => {
    record();
    await wake.wake(T, S, 500);
    await wake.wake(T, S, 100);
    await wake.wake(T, S, 900);
    await wake.wake(T, OTHER, 300);
    await vi.advanceTimersByTimeAsync(99);
    expect(runs).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(runs).toEqual(['tenant sesn_a']);
    await vi.advanceTimersByTimeAsync(2000);
    expect(runs).toEqual(['tenant sesn_a', 'tenant sesn_b']);
  });

  test('the same session id of two tenants is two sessions', async () => {
    record();
    await wake.wake(T, S, 0);
    await wake.wake('two' as TenantId, S, 0);
    await vi.advanceTimersByTimeAsync(1);
    expect(runs).toEqual(['tenant sesn_a', 'two sesn_a']);
  });

  test('a wake-up while the handler runs makes it run once more afterwards, never beside itself', async () => {
    let finish: () => void = () => {};
    wake.onWake(async () => {
      runs.push('start');
      await new Promise<void>((resolve) => {
        finish = resolve;
      });
      runs.push('end');
    });
    await wake.wake(T, S, 0);
    await vi.advanceTimersByTimeAsync(1);
    for (let i = 0; i < 3; i++) await wake.wake(T, S, 0);
    await vi.advanceTimersByTimeAsync(1000);
    expect(runs).toEqual(['start']);
    finish();
    await vi.advanceTimersByTimeAsync(1);
    expect(runs).toEqual(['start', 'end', 'start']);
    finish();
    await vi.advanceTimersByTimeAsync(1000);
    expect(runs).toEqual(['start', 'end', 'start', 'end']);
  });

  test('a handler that fails is logged, and the next wake-up works', async () => {
    wake.onWake(async () => {
      runs.push('run');
      throw new Error('broke');
    });
    await wake.wake(T, S, 0);
    await vi.advanceTimersByTimeAsync(1);
    await wake.wake(T, S, 0);
    await vi.advanceTimersByTimeAsync(1);
    expect(runs).toEqual(['run', 'run']);
    expect(errors).toEqual(['wake-up failed', 'wake-up failed']);
  });

  test('wake-ups from before there is a handler are kept for it', async () => {
    await wake.wake(T, S, 0);
    await vi.advanceTimersByTimeAsync(1000);
    record();
    await vi.advanceTimersByTimeAsync(1);
    expect(runs).toEqual(['tenant sesn_a']);
  });

  test('after close nothing runs any more', async () => {
    record();
    await wake.wake(T, S, 10);
    wake.close();
    await wake.wake(T, OTHER, 10);
    await vi.advanceTimersByTimeAsync(1000);
    expect(runs).toEqual([]);
    expect(vi.getTimerCount()).toBe(0);
  });
});
