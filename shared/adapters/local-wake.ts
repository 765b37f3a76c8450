// Wake-ups as timers of this process: one per session, the earliest wins; a wake-up that comes while the session's handler
// runs makes it run once more afterwards. What is lost with the process, the sweep of `due` at the next start finds.

import type { Logger } from '../ports/system.ts';
import type { Wake } from '../ports/wake.ts';
import type { SessionId, TenantId } from '../types/ids.ts';

export type WakeHandler = (tenant: TenantId, session: SessionId) => Promise<void>;

export interface LocalWake extends Wake {
  /** Who runs a session when its time has come. Wake-ups from before are kept for it. */
  onWake(handler: WakeHandler): void;
  /** Cancels what waits; later wake-ups are ignored. A handler that runs is not stopped. */
  close(): void;
}

interface Waiting {
  readonly tenant: TenantId;
  readonly session: SessionId;
  /** When to look, or null where nobody asked (again). */
  at: number | null;
  timer: NodeJS.Timeout | null;
  running: boolean;
}

const TIMER_MS_MAX = 2 ** 31 - 1;

/** A handler that fails is logged and contained: waking it again is the handler's own business. */
export function createLocalWake({ logger }: { readonly logger: Logger }): LocalWake {
  const sessions = new Map<string, Waiting>();
  let handler: WakeHandler | null = null;
  let closed = false;

  const schedule = (waiting: Waiting) => {
    if (waiting.timer) clearTimeout(waiting.timer);
    waiting.timer = null;
    if (closed || !handler || waiting.running || waiting.at === null) return;
    const delayMs = Math.min(Math.max(0, waiting.at - performance.now()), TIMER_MS_MAX);
    if (delayMs === 0)
      void run(waiting); // a timer of 0 ms would cost one
    else waiting.timer = setTimeout(() => void run(waiting), delayMs);
  };

  const run = async (waiting: Waiting) => {
    const { tenant, session } = waiting;
    waiting.at = null;
    waiting.timer = null;
    waiting.running = true;
    try {
      await handler?.(tenant, session);
    } catch (error) {
      logger.error('wake-up failed', { tenant, session, error });
    }
    waiting.running = false;
    if (waiting.at === null) sessions.delete(`${tenant}/${session}`);
    else schedule(waiting);
  };

  return {
    async wake(tenant, session, delayMs) {
      if (closed) return;
      const key = `${tenant}/${session}`;
      const waiting = sessions.get(key) ?? { tenant, session, at: null, timer: null, running: false };
      sessions.set(key, waiting);
      const at = performance.now() + delayMs;
      if (waiting.at !== null && waiting.at <= at) return;
      waiting.at = at;
      schedule(waiting);
    },
    onWake(next) {
      handler = next;
      for (const waiting of sessions.values()) schedule(waiting);
    },
    close() {
      closed = true;
      for (const waiting of sessions.values()) schedule(waiting);
      sessions.clear();
    },
  };
}
