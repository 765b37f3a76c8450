// Takes a session's lease, works until there is nothing left to do, gives the lease back, and looks once more (design 3).

import { nextStep } from '../core/next-step.ts';
import { isWork, openEvents } from '../core/session-status.ts';
import { clearDue } from '../log/due.ts';
import { readInbox } from '../log/inbox.ts';
import { newRev } from '../log/keys.ts';
import { acquireLease, type Lease, releaseLease } from '../log/lease.ts';
import { loadState, NO_TURN } from './load-session.ts';
import { runTurns } from './run-turns.ts';
import { startWorker, type WorkerContext } from './worker.ts';

/**
 * Resolves when this process has nothing more to do for the session now. `held`: a lease that was just taken for this run.
 * Throws only for outages of a port.
 */
export async function runSession(context: WorkerContext, held?: Lease): Promise<void> {
  const { ports, deps, cache, tenant, session } = context;
  const taken = held
    ? ({ kind: 'acquired', lease: held } as const)
    : await acquireLease(deps, session, newRev(ports.ids));
  if (taken.kind === 'deleted') return;
  if (taken.kind === 'held') {
    await ports.wake.wake(tenant, session, Math.max(0, taken.until - ports.clock.now()) + 50);
    return;
  }
  const state = await loadState(ports, cache, tenant, session);
  if (state === undefined) return;
  const worker = startWorker(context, taken.lease, state);
  try {
    await runTurns(worker);
  } finally {
    await worker.close();
  }
  if (worker.lost()) return;
  const lease = worker.lease();
  // Both in one tick: an embedded store syncs once for them. Taken inbox items are only swept, so their order is free.
  const [released] = await Promise.all([releaseLease(deps, session, lease), worker.sweep()]);
  if (released === 'lost') return;
  const inbox = openEvents(worker.state(), await readInbox(deps.store, session));
  const look = { state: worker.state(), inbox, now: ports.clock.now(), limits: ports.limits, newTurnId: NO_TURN };
  const cleared = isWork(nextStep(look)) ? 'changed' : await clearDue(deps.store, session, lease.dueRev);
  if (cleared === 'changed') await ports.wake.wake(tenant, session, 0);
}
