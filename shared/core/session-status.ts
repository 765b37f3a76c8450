// A session's status and whether there is work are derived, never stored (design 2, 3).

import type { InboxEvent } from '../types/log.ts';
import type { NextStep, SessionState, StepInput } from '../types/turn.ts';
import { isInterrupt } from './calls.ts';
import { nextStep } from './next-step.ts';

export type DerivedStatus = 'idle' | 'running' | 'rescheduling' | 'terminated';

/** Open inbox events: those that the log has not taken. */
export function openEvents(state: SessionState, inbox: readonly InboxEvent[]): readonly InboxEvent[] {
  if (inbox.length === 0) return inbox;
  const ids = new Set(inbox.map((e) => e.id as string));
  const taken = new Set<string>();
  for (let i = state.inputs.length - 1; i >= 0 && taken.size < ids.size; i--) {
    const id = state.inputs[i]?.id;
    if (id !== undefined && ids.has(id)) taken.add(id);
  }
  return inbox.filter((e) => !taken.has(e.id));
}

/** Whether a holder of the lease would have something to do. */
export const isWork = (step: NextStep): boolean => step.kind !== 'wait';

/** A turn without a live lease is being rescheduled; work that nobody has taken yet counts as running. */
export function sessionStatus(input: StepInput, leaseLive: boolean): DerivedStatus {
  const { state } = input;
  if (state.archivedAt !== null) return 'terminated';
  if (state.turnOpen) return leaseLive ? 'running' : 'rescheduling';
  // Controls and interrupts are taken first and start no turn; what matters is whether something behind them does.
  const inbox = input.inbox.filter((e) => !isInterrupt(e) && !e.type.startsWith('control.'));
  return startsTurn(nextStep({ ...input, inbox })) ? 'running' : 'idle';
}

const startsTurn = (step: NextStep): boolean =>
  step.kind === 'append' && step.entries.some((e) => e.kind === 'turn_started');
