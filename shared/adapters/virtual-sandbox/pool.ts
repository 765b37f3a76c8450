// Children of the service: started at the first need, one spare, at most so many; others queue. A child serves one tenant only and
// one job at a time; an idle one ends after a while, one that was killed is never used again.

import { type Child, type ChildOptions, type Job, type JobOutcome, startChild } from './child-process.ts';

export interface PoolOptions extends ChildOptions {
  readonly processesMax: number;
  readonly spares: number;
  readonly idleMs: number;
}

export interface Pool {
  run(tenant: string, job: Job): Promise<JobOutcome>;
  /** Children alive now. */
  size(): number;
  close(): void;
}

interface Slot {
  readonly child: Child;
  /** Set at its first job. */
  tenant: string | null;
  busy: boolean;
  idleTimer: NodeJS.Timeout | undefined;
}

/** No child is started before the first `run`. */
export function createPool(options: PoolOptions): Pool {
  const slots = new Set<Slot>();
  const queue: (() => void)[] = [];
  const state = { closed: false };

  const remove = (slot: Slot) => {
    clearTimeout(slot.idleTimer);
    slots.delete(slot);
    slot.child.kill();
  };
  const add = (): Slot => {
    const slot: Slot = { child: startChild(options), tenant: null, busy: false, idleTimer: undefined };
    slots.add(slot);
    return slot;
  };
  const rest = (slot: Slot) => {
    slot.busy = false;
    slots.delete(slot); // to the end: the first idle one is the least recently used
    slots.add(slot);
    slot.idleTimer = setTimeout(() => remove(slot), options.idleMs);
    slot.idleTimer.unref();
  };
  /** A child for this tenant: its own idle one, the spare, a new one, or in place of another tenant's idle one. */
  const take = (tenant: string): Slot | undefined => {
    for (const slot of [...slots]) if (!slot.child.isAlive()) remove(slot);
    const idle = [...slots].filter((slot) => !slot.busy);
    const found = idle.find((slot) => slot.tenant === tenant) ?? idle.find((slot) => slot.tenant === null);
    if (found) return found;
    if (slots.size < options.processesMax) return add();
    const other = idle[0];
    if (!other) return undefined;
    remove(other);
    return add();
  };
  const keepSpare = () => {
    const fresh = [...slots].filter((slot) => slot.tenant === null).length;
    if (state.closed || fresh >= options.spares || slots.size >= options.processesMax) return;
    rest(add());
  };

  return {
    run: async (tenant, job) => {
      const startedAt = performance.now();
      let slot = state.closed ? undefined : take(tenant);
      while (!slot) {
        const left = job.timeoutMs - (performance.now() - startedAt);
        if (state.closed || job.signal.aborted) return { kind: 'killed', why: 'aborted' };
        if (left <= 0) return { kind: 'killed', why: 'timeout' };
        await nextTurn(queue, left, job.signal);
        slot = state.closed ? undefined : take(tenant);
      }
      clearTimeout(slot.idleTimer);
      slot.busy = true;
      slot.tenant = tenant;
      const left = Math.max(1, job.timeoutMs - (performance.now() - startedAt));
      const outcome = await slot.child.run({ ...job, timeoutMs: left });
      if (outcome.kind === 'killed' || state.closed) remove(slot);
      else rest(slot);
      queue.shift()?.();
      keepSpare();
      return outcome;
    },
    size: () => slots.size,
    close: () => {
      state.closed = true;
      for (const slot of [...slots]) remove(slot);
      for (const go of queue.splice(0)) go();
    },
  };
}

/** Resolves when a child was given back, the time is over or the job was aborted. */
function nextTurn(queue: (() => void)[], timeoutMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const go = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', go);
      const at = queue.indexOf(go);
      if (at >= 0) queue.splice(at, 1);
      resolve();
    };
    const timer = setTimeout(go, timeoutMs);
    signal.addEventListener('abort', go, { once: true });
    queue.push(go);
  });
}
