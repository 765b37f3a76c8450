// When the answer that made a call is stored: before an unsafe call runs, always; before a quick safe one ends, not needed; a
// slow safe one is in the log while it runs.

import { afterEach, expect, it } from 'vitest';
import type { EntryKind } from '../../shared/types/log.ts';
import { text, toolUse } from '../core/builders.ts';
import { answers, calls, type Harness, startHarness } from './harness.ts';

let h: Harness;
afterEach(() => h.close());

/** The kinds in the log when a call of `name` has run for `ms`. */
async function kindsWhileRunning(name: string, ms: number): Promise<readonly EntryKind[]> {
  let seen: readonly EntryKind[] = [];
  const tool = async () => {
    if (ms > 0) await new Promise((resolve) => setTimeout(resolve, ms));
    seen = (await h.log()).map((entry) => entry.kind);
    return { content: [text('ok')], isError: false };
  };
  h = await startHarness({ script: [calls({ ...toolUse('t'), name }), answers([text('done')])], tool });
  await h.send({ type: 'user.message', content: [text('go')] });
  await h.idle();
  const kinds = (await h.log()).map((entry) => entry.kind);
  expect(kinds.slice(-6)).toEqual(['decided', 'tool_started', 'tool_result', 'model_started', 'message', 'turn_ended']);
  return seen;
}

it('an unsafe call runs behind its tool_started', async () => {
  expect((await kindsWhileRunning('bash', 0)).at(-1)).toBe('tool_started');
});

it('a quick safe call runs ahead of its answer', async () => {
  expect((await kindsWhileRunning('read', 0)).at(-1)).toBe('model_started');
});

it('a slow safe call is in the log while it runs', async () => {
  expect((await kindsWhileRunning('read', 200)).at(-1)).toBe('tool_started');
});
