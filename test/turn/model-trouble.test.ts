// What the operator's log says of failed model calls: one line each, with what was decided, and nothing of what was said.

import { expect, it } from 'vitest';
import { createLogger } from '../../shared/adapters/system.ts';
import { text } from '../core/builders.ts';
import { type Answer, answers, fails, hangs, startHarness } from './harness.ts';

async function warningsOf(script: readonly Answer[], interruptAfterMs?: number) {
  const lines: Readonly<Record<string, unknown>>[] = [];
  const logger = createLogger({ write: (line) => lines.push(JSON.parse(line)) > 0 });
  const h = await startHarness({ script, logger });
  try {
    await h.send({ type: 'user.message', content: [text('a secret matter')] });
    if (interruptAfterMs !== undefined) {
      setTimeout(() => void h.send({ type: 'user.interrupt' }), interruptAfterMs);
    }
    await h.idle();
    return { lines, session: h.session.id };
  } finally {
    await h.close();
  }
}

it('logs each failed attempt once, with the decision, and no word of the conversation', async () => {
  const script = [fails(529, 'overloaded_error'), fails(400, 'invalid_request_error')];
  const { lines, session } = await warningsOf(script);
  const about = { at: expect.any(String), level: 'warn', message: 'a model call failed' };
  const line = (fields: object) => ({ ...about, session, kind: 'http', requestId: null, ...fields });
  expect(lines).toEqual([
    line({ status: 529, reason: 'overloaded_error', attempt: 1, retry: 'retrying', waitMs: 1 }),
    line({ status: 400, reason: 'invalid_request_error', attempt: 2, retry: 'exhausted', waitMs: 0 }),
  ]);
  expect(JSON.stringify(lines)).not.toContain('secret');
});

it('says nothing of calls that succeed or were interrupted', async () => {
  expect((await warningsOf([answers([text('fine')])])).lines).toEqual([]);
  expect((await warningsOf([hangs([text('half')], 3)], 30)).lines).toEqual([]);
});
