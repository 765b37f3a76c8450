// The kernel: do the next step until there is none. Nothing else in the code base loops over the model.
// Entries with no effect between them travel in one append; every effect is preceded by a commit of what led to it.

import { waitingCalls } from '../core/calls.ts';
import { nextStep } from '../core/next-step.ts';
import { takeClaim } from '../log/claims.ts';
import { ID_PREFIX, type TurnId } from '../types/ids.ts';
import type { EntryBody } from '../types/log.ts';
import type { NextStep } from '../types/turn.ts';
import { callModel } from './call-model.ts';
import { runTools } from './run-tools.ts';
import type { Worker } from './worker.ts';

/** Runs turns until nothing can be taken any more, or the session is lost to another holder. */
export async function runTurns(worker: Worker): Promise<void> {
  const { ports, session } = worker.context;
  while (!worker.lost()) {
    takeOver(worker);
    const step = await decide(worker);
    if (step.kind === 'wait') {
      await worker.commit();
      return;
    }
    try {
      await doStep(worker, step);
    } catch (error) {
      ports.logger.error('turn failed', {
        session,
        error: error instanceof Error ? (error.stack ?? error.message) : String(error),
      });
      if (!(await failTurn(worker))) throw error;
    }
  }
}

/** The first entry of a holder that finds a turn open; staged again where the slot for it was lost to a dead one's. */
function takeOver(worker: Worker): void {
  const { turnOpen, counters, epoch } = worker.state();
  if (turnOpen && counters && epoch < worker.lease().epoch)
    worker.stage([{ kind: 'resumed', turnId: counters.turnId }]);
}

async function decide(worker: Worker): Promise<NextStep> {
  const { clock, ids, limits } = worker.context.ports;
  const inbox = await worker.inbox();
  const newTurnId = (ID_PREFIX.turn + ids.ulid()) as TurnId;
  return nextStep({ state: worker.state(), inbox, now: clock.now(), limits, newTurnId });
}

async function doStep(worker: Worker, step: Exclude<NextStep, { kind: 'wait' }>): Promise<void> {
  switch (step.kind) {
    case 'append':
      worker.stage(step.entries);
      if (step.entries.some((e) => e.kind === 'session_updated')) await worker.dropWorkspace();
      return;
    case 'call_model':
      if (step.waitMs > 0) await pause(worker, step.waitMs);
      else await callModel(worker, step.attempt);
      return;
    case 'run_tools':
      await runTools(worker, step.calls);
      return;
    case 'end':
      await endTurn(worker, step.entries);
      return;
    case 'compact':
      throw new Error('compaction is not part of this version');
    default:
      step satisfies never;
  }
}

/** Waits before another attempt; an interrupt ends the wait. What led to it is stored first. */
async function pause(worker: Worker, ms: number): Promise<void> {
  if (!(await worker.commit())) return;
  await worker.during((signal) => worker.context.ports.clock.sleep(ms, signal));
}

/** A call that we answer ourselves is claimed first; where the client was faster, its answer is taken instead. */
async function endTurn(worker: Worker, entries: readonly EntryBody[]): Promise<void> {
  const { deps, session } = worker.context;
  const answered = new Set(entries.flatMap((e) => (e.kind === 'tool_result' ? [e.toolUseId] : [])));
  for (const call of waitingCalls(worker.state().calls)) {
    if (!answered.has(call.toolUseId)) continue;
    const claim = await takeClaim(deps.store, session, call.eventId, 'holder');
    if (!claim.taken && claim.by !== 'holder') {
      worker.reread();
      return;
    }
  }
  worker.stage(entries);
  if (!(await worker.commit())) return;
  await worker.dropWorkspace();
}

/** A fault of ours ends the turn where it can be told from an outage: the session stays usable. */
async function failTurn(worker: Worker): Promise<boolean> {
  worker.unstage();
  const state = worker.state();
  if (!state.turnOpen || !state.counters || worker.lost()) return false;
  const error = { type: 'unknown_error', message: 'the turn failed inside the service' } as const;
  const open: EntryBody[] = state.calls
    .filter((c) => c.result === null)
    .map((c) => ({
      kind: 'tool_result',
      toolUseId: c.toolUseId,
      modelSeq: c.modelSeq,
      block: c.block,
      callKind: c.kind,
      content: [{ type: 'text', text: 'The outcome of this call is unknown: the service failed.' }],
      isError: true,
    }));
  const model: EntryBody[] = state.openModel
    ? [{ kind: 'model_failed', modelSeq: state.openModel.seq, reason: 'lost' }]
    : [];
  const outcome = { kind: 'failed', error } as const;
  worker.stage([
    ...model,
    ...open,
    { kind: 'turn_ended', turnId: state.counters.turnId, outcome, totals: state.totals },
  ]);
  return worker.commit();
}
