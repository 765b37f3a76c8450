// A session's status is derived: whatever stands in the inbox, it is running exactly when a turn is or will be.

import { expect, test } from 'vitest';
import { initialState } from '../../shared/core/fold.ts';
import { sessionStatus } from '../../shared/core/session-status.ts';
import { LIMITS } from '../../shared/types/limits.ts';
import type { InboxEvent } from '../../shared/types/log.ts';
import { event, says, session, T0, TURN } from './builders.ts';

const interrupt = event({ type: 'user.interrupt' });
const update = event({ type: 'control.update', change: { title: 'T' } });

test.each<[string, InboxEvent[], string]>([
  ['nothing', [], 'idle'],
  ['a message', [says('a')], 'running'],
  ['an interrupt alone', [interrupt], 'idle'],
  ['a message that is interrupted, and one behind it', [says('a'), interrupt, says('b')], 'running'],
  ['a message behind an interrupt', [interrupt, says('a')], 'running'],
  ['a change alone', [update], 'idle'],
  ['a message behind a change', [update, says('a')], 'running'],
])('%s', (_what, inbox, status) => {
  const step = { state: initialState(session()), inbox, now: T0, limits: LIMITS, newTurnId: TURN };
  expect(sessionStatus(step, false)).toBe(status);
});
