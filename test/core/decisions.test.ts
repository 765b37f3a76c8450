// Retries and permissions as rows.

import { describe, expect, it } from 'vitest';
import { type CallFailure, decideRetry } from '../../shared/core/decide-retry.ts';
import { evaluatePermission } from '../../shared/core/evaluate-permission.ts';
import { LIMITS } from '../../shared/types/limits.ts';
import type { PermissionMode, PermissionPolicy } from '../../shared/types/permission.ts';
import { agent, custom, toolset } from './builders.ts';

const failure = (over: Partial<CallFailure>): CallFailure => ({
  kind: 'http',
  status: null,
  apiType: null,
  message: 'm',
  retryAfterMs: null,
  ...over,
});
const fresh = { attempts: 0, waitedMs: 0, random: 0.5 };

describe('decideRetry', () => {
  it.each([
    [{ status: 429 }, 'retrying', 'model_rate_limited_error'],
    [{ status: 529 }, 'retrying', 'model_overloaded_error'],
    [{ status: 500 }, 'retrying', 'model_request_failed_error'],
    [{ status: 408 }, 'retrying', 'model_request_failed_error'],
    [{ status: 400 }, 'exhausted', 'model_request_failed_error'],
    [{ status: 401 }, 'exhausted', 'model_request_failed_error'],
    [{ status: 402 }, 'exhausted', 'billing_error'],
    [{ kind: 'cut' }, 'retrying', 'model_request_failed_error'],
    [{ kind: 'stalled' }, 'retrying', 'model_request_failed_error'],
    [{ kind: 'network' }, 'retrying', 'model_request_failed_error'],
    [{ kind: 'stream', apiType: 'overloaded_error' }, 'retrying', 'model_overloaded_error'],
    [{ kind: 'stream', apiType: 'invalid_request_error' }, 'exhausted', 'model_request_failed_error'],
  ] as const)('%j → %s', (over, retry, type) => {
    expect(decideRetry(failure(over), fresh, LIMITS)).toMatchObject({ retry, error: { type } });
  });

  it('doubles its waits, honours retry-after, and gives up after the attempts or the time', () => {
    const waits = [0, 1, 2].map(
      (attempts) => decideRetry(failure({ status: 500 }), { ...fresh, attempts }, LIMITS).waitMs,
    );
    expect(waits).toEqual([750, 1500, 3000]);
    expect(decideRetry(failure({ status: 429, retryAfterMs: 20_000 }), fresh, LIMITS).waitMs).toBe(20_000);
    expect(decideRetry(failure({ status: 429, retryAfterMs: 91_000 }), fresh, LIMITS).retry).toBe('exhausted');
    expect(decideRetry(failure({ status: 500 }), { ...fresh, attempts: 5 }, LIMITS).retry).toBe('exhausted');
    expect(decideRetry(failure({ status: 500 }), { ...fresh, waitedMs: 89_900 }, LIMITS).retry).toBe('exhausted');
  });
});

describe('evaluatePermission', () => {
  const check = (name: string, policy: PermissionPolicy, mode: PermissionMode | null) =>
    evaluatePermission(agent([{ ...toolset(), defaultPolicy: policy } as never, custom('lookup')]), mode, name);
  it.each([
    ['bash', 'always_allow', null, 'builtin', 'allow'],
    ['bash', 'always_ask', null, 'builtin', 'ask'],
    ['bash', 'always_ask', 'bypassPermissions', 'builtin', 'allow'],
    ['write', 'always_ask', 'acceptEdits', 'builtin', 'allow'],
    ['bash', 'always_ask', 'acceptEdits', 'builtin', 'ask'],
    ['bash', 'always_allow', 'plan', 'builtin', 'deny'],
    ['read', 'always_allow', 'plan', 'builtin', 'allow'],
    ['read', 'auto', null, 'builtin', 'allow'],
    ['bash', 'auto', null, 'builtin', 'ask'],
    ['Bash', 'always_allow', null, 'unknown', 'deny'],
    ['web_search', 'always_allow', null, 'unknown', 'deny'],
    ['lookup', 'always_ask', 'plan', 'custom', 'allow'],
  ] as const)('%s under %s in mode %s → %s %s', (name, policy, mode, kind, decision) => {
    expect(check(name, policy, mode)).toMatchObject({ kind, decision });
  });
  it('denies what is switched off, even where the mode allows all', () => {
    const off = agent([
      { ...toolset(), configs: [{ name: 'bash', enabled: false, permission_policy: 'always_allow' }] } as never,
    ]);
    expect(evaluatePermission(off, 'bypassPermissions', 'bash')).toMatchObject({ decision: 'deny' });
  });
});
