// The last entry of a turn, with the session's usage so far.

import type { EntryBody } from '../../types/log.ts';
import type { TurnOutcome } from '../../types/outcome.ts';
import type { StepInput } from '../../types/turn.ts';

/** `turn_ended` for `outcome`; also between turns, where a partly answered pause is announced again. */
export function endTurn(input: StepInput, outcome: TurnOutcome): EntryBody {
  const { state, now, newTurnId } = input;
  const active = state.turnStartedAt === null ? 0 : Math.max(0, now - state.turnStartedAt);
  return {
    kind: 'turn_ended',
    turnId: state.counters?.turnId ?? newTurnId,
    outcome,
    totals: { ...state.totals, activeMs: state.totals.activeMs + active },
  };
}
