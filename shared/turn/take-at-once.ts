// Events that a resting session would take at once need no inbox: the holder's first append can be written with the lease.

import { nextStep } from '../core/next-step.ts';
import type { Ports } from '../ports/ports.ts';
import { ID_PREFIX, type TurnId } from '../types/ids.ts';
import type { EntryBody } from '../types/log.ts';
import type { SessionState } from '../types/turn.ts';
import type { AcceptRequest } from './engine-types.ts';

export interface FirstAppend {
  readonly seq: number;
  readonly entries: readonly EntryBody[];
}

/**
 * The append with which a holder of `state` would take all events of `request`; undefined where it would not, where others
 * wait before them, or where they are large. Right only while the log ends where `state` does: the slot decides.
 */
export function firstAppendOf(ports: Ports, state: SessionState, request: AcceptRequest): FirstAppend | undefined {
  const { clock, ids, limits } = ports;
  if (request.open !== 0 || request.claims.length > 0 || state.turnOpen) return undefined;
  const newTurnId = (ID_PREFIX.turn + ids.ulid()) as TurnId;
  const step = nextStep({ state, inbox: request.events, now: clock.now(), limits, newTurnId });
  if (step.kind !== 'append') return undefined;
  const taken = step.entries.filter((entry) => entry.kind === 'input').length;
  if (taken !== request.events.length) return undefined;
  if (JSON.stringify(step.entries).length > limits.blockInlineBytesMax) return undefined;
  return { seq: state.lastSeq + 1, entries: step.entries };
}
