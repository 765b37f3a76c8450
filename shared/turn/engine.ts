// The turn as the doors see it: one per process. Runs of a session in one process are one run.

import { foldAll, placeEntries } from '../core/fold.ts';
import type { LogDeps } from '../log/deps.ts';
import { listDue } from '../log/due.ts';
import { acceptEvents } from '../log/inbox.ts';
import { newRev } from '../log/keys.ts';
import { type Lease, offerLease } from '../log/lease.ts';
import type { Ports } from '../ports/ports.ts';
import type { SessionId, TenantId } from '../types/ids.ts';
import type { AcceptOutcome, AcceptRequest, Engine } from './engine-types.ts';
import { followSession } from './follow.ts';
import { createHub } from './hub.ts';
import { createSessionCache, loadSession } from './load-session.ts';
import { runSession } from './run-session.ts';
import { firstAppendOf } from './take-at-once.ts';

const DUE_PAGE_ROWS = 100;

export function createEngine(ports: Ports): Engine {
  const hub = createHub();
  const cache = createSessionCache(ports.limits.warmSessionsMax);
  const runs = new Map<SessionId, { again: boolean; readonly done: Promise<void> }>();

  /** Leases that came with an acceptance, until the next run of the session takes them over. */
  const handed = new Map<SessionId, Lease>();

  const depsOf = (tenant: TenantId): LogDeps => ({
    store: ports.storage.forTenant(tenant),
    clock: ports.clock,
    ids: ports.ids,
    limits: ports.limits,
  });

  async function runUntilQuiet(tenant: TenantId, session: SessionId, self: { again: boolean }): Promise<void> {
    do {
      self.again = false;
      const lease = handed.get(session);
      handed.delete(session);
      try {
        await runSession({ ports, deps: depsOf(tenant), hub, cache, tenant, session }, lease);
      } catch (error) {
        ports.logger.error('run failed', {
          session,
          error: error instanceof Error ? (error.stack ?? '') : String(error),
        });
        await ports.wake.wake(tenant, session, ports.limits.leaseMs).catch(() => {});
      }
    } while (self.again);
    runs.delete(session);
  }

  function run(tenant: TenantId, session: SessionId): Promise<void> {
    const running = runs.get(session);
    if (running) {
      running.again = true; // what was accepted after its last look
      return running.done;
    }
    const self = { again: false, done: Promise.resolve() };
    runs.set(session, self);
    self.done = runUntilQuiet(tenant, session, self);
    return self.done;
  }

  async function accept(request: AcceptRequest): Promise<AcceptOutcome> {
    const { tenant, session, events } = request;
    const deps = depsOf(tenant);
    // Whoever watches, runs: the lease comes with the acceptance, in one write, and with it what the holder does first.
    const offer = hub.hasListeners(session) ? await offerLease(deps, session, newRev(ports.ids)) : undefined;
    const state = cache.get(session);
    const first = offer && state && firstAppendOf(ports, state, request);
    const accepted = await acceptEvents(deps, request, offer && { ...offer, first });
    if (accepted.kind === 'repeated')
      return { kind: 'repeated', fingerprint: accepted.record.fingerprint, answer: accepted.record.answer };
    if (accepted.kind !== 'accepted') return accepted;
    hub.publish(session, [{ kind: 'accepted', events }]);
    if (accepted.lease && accepted.tookAt !== undefined && first && state) {
      const entries = placeEntries(state, first.entries, accepted.lease.epoch, accepted.tookAt);
      cache.set(session, foldAll(state, entries));
      hub.publish(session, [{ kind: 'entries', entries }]);
    }
    if (accepted.lease) {
      handed.set(session, accepted.lease);
      void run(tenant, session);
    } else await ports.wake.wake(tenant, session, 0);
    return { kind: 'accepted' };
  }

  return {
    load: (tenant, session) => loadSession(ports, cache, tenant, session),
    accept,
    run,
    follow: (tenant, session, from, signal) => followSession({ ports, hub, cache, tenant, session }, from, signal),
    async resumeDue() {
      for (let after: string | undefined; ; ) {
        const due = await listDue(ports.storage, after, DUE_PAGE_ROWS);
        for (const { tenant, session } of due) if (!runs.has(session)) await ports.wake.wake(tenant, session, 0);
        if (due.length < DUE_PAGE_ROWS) return;
        after = due.at(-1)?.position;
      }
    },
    announceDeleted(session) {
      cache.delete(session);
      hub.publish(session, [{ kind: 'deleted' }]);
    },
    async drain(timeoutMs) {
      const all = Promise.allSettled([...runs.values()].map((r) => r.done));
      const timer = new AbortController();
      await Promise.race([all, ports.clock.sleep(timeoutMs, timer.signal)]);
      timer.abort();
    },
  };
}
