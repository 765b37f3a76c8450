// One holder's hands on one session: the lease kept alive, entries staged and committed, the inbox watched.
// Commit, then announce: nobody hears of an entry before its append is in. Losing the lease or a slot is a value.

import { isInterrupt } from '../core/calls.ts';
import { foldAll, placeEntries } from '../core/fold.ts';
import { openEvents } from '../core/session-status.ts';
import type { LogDeps } from '../log/deps.ts';
import { readInbox, sweepInbox } from '../log/inbox.ts';
import { newRev } from '../log/keys.ts';
import { type Lease, renewLease } from '../log/lease.ts';
import { appendEntries } from '../log/session-log.ts';
import type { Ports } from '../ports/ports.ts';
import type { Workspace } from '../ports/sandbox.ts';
import type { SessionId, TenantId } from '../types/ids.ts';
import type { EntryBody, InboxEvent } from '../types/log.ts';
import type { SessionState, TurnEvent } from '../types/turn.ts';
import type { Hub } from './hub.ts';
import type { SessionCache } from './load-session.ts';
import { readTailEntries, spillEntries } from './spill-entries.ts';

export interface WorkerContext {
  readonly ports: Ports;
  readonly deps: LogDeps;
  readonly hub: Hub;
  readonly cache: SessionCache;
  readonly tenant: TenantId;
  readonly session: SessionId;
}

export interface Worker {
  readonly context: WorkerContext;
  /** What will be true once everything staged is in. */
  state(): SessionState;
  lease(): Lease;
  /** Open inbox events, read again where something may have come. */
  inbox(): Promise<readonly InboxEvent[]>;
  /** Reads the inbox again before the next decision. */
  reread(): void;
  /** Adds entries to the next append. */
  stage(entries: readonly EntryBody[]): void;
  /** Forgets what is staged. */
  unstage(): void;
  /** Appends what is staged. False: the session is another's now, or what was staged is void; look at `lost()`. */
  commit(): Promise<boolean>;
  /** The lease or the log belongs to a later epoch: stop without another word. */
  lost(): boolean;
  emit(events: readonly TurnEvent[]): void;
  /** Runs `effect` with a signal that aborts on an interrupt, on a lost lease, or when a store says so. */
  during<T>(effect: (signal: AbortSignal) => Promise<T>): Promise<T>;
  workspace(): Workspace;
  /** Drops the working copy, after its files were changed from outside or its turn ended. */
  dropWorkspace(): Promise<void>;
  sweep(): Promise<void>;
  close(): Promise<void>;
}

/** Starts to hold `session`: `state` is the committed fold, `lease` just taken. */
export function startWorker(context: WorkerContext, held: Lease, from: SessionState): Worker {
  const { ports, deps, hub, cache, session, tenant } = context;
  const { clock, ids, limits, logger } = ports;
  let lease = held;
  let committed = from;
  let tentative = from;
  let staged: EntryBody[] = [];
  let lost = from.epoch > held.epoch; // somebody was faster while we read
  let inbox: readonly InboxEvent[] = [];
  let dirty = true;
  let readAt = 0;
  let workspace: Workspace | null = null;
  let committing: Promise<boolean> = Promise.resolve(true);
  const effects = new Set<AbortController>();

  const giveUp = () => {
    lost = true;
    for (const effect of effects) effect.abort();
  };
  const lookForInterrupt = (events: readonly InboxEvent[]) => {
    if (events.some(isInterrupt)) for (const effect of effects) effect.abort();
  };
  const unsubscribe = hub.subscribe(session, (events) => {
    for (const event of events) {
      if (event.kind !== 'accepted') continue;
      dirty = true;
      lookForInterrupt(event.events);
    }
  });
  const refresh = async () => {
    dirty = false;
    readAt = clock.now();
    inbox = openEvents(committed, await readInbox(deps.store, session));
  };
  const renewal = repeat(limits.leaseRenewMs, async () => {
    const renewed = await renewLease(deps, session, lease);
    if (renewed === 'lost') giveUp();
    else lease = renewed;
  });
  const poll = repeat(limits.interruptPollMs, async () => {
    if (effects.size === 0) return;
    await refresh();
    lookForInterrupt(inbox);
  });

  /** Runs `job` every `ms`, never twice at once; a failing store is tried again with the next beat. */
  function repeat(ms: number, job: () => Promise<void>): () => void {
    const stop = new AbortController();
    const beat = async () => {
      for (;;) {
        await clock.sleep(ms, stop.signal);
        if (stop.signal.aborted || lost) return;
        await job().catch((error: unknown) => logger.warn('worker beat failed', { session, error: String(error) }));
      }
    };
    void beat();
    return () => stop.abort('stopped'); // the default reason is an exception with a stack
  }

  /** One append at a time: tools that run side by side end, and commit, whenever they like. */
  async function commitStaged(): Promise<boolean> {
    if (lost) return false;
    if (staged.length === 0) return true;
    const bodies = staged;
    staged = [];
    const entries = await spillEntries({ ...ports, tenant, session }, bodies, limits.appendBytesMax);
    const append = {
      session,
      seq: committed.lastSeq + 1,
      epoch: lease.epoch,
      nonce: newRev(ids),
      at: clock.now(),
      entries,
    };
    const result = await appendEntries(deps.store, append);
    if (result.kind === 'lost') {
      staged = [];
      committed = foldAll(
        committed,
        await readTailEntries({ store: deps.store, blobs: ports.blobs }, session, committed.lastSeq),
      );
      if (committed.epoch > lease.epoch) giveUp(); // the winner's, or one behind it
      tentative = committed;
      dirty = true;
      return false;
    }
    const stored = placeEntries(committed, bodies, lease.epoch, append.at);
    committed = foldAll(committed, stored);
    // A sibling may have staged its result while this append was under way.
    tentative =
      staged.length === 0 ? committed : foldAll(committed, placeEntries(committed, staged, lease.epoch, append.at));
    cache.set(session, committed);
    hub.publish(session, [{ kind: 'entries', entries: stored }]);
    return true;
  }

  return {
    context,
    state: () => tentative,
    lease: () => lease,
    lost: () => lost,
    async inbox() {
      if (dirty || clock.now() - readAt > limits.interruptPollMs) await refresh();
      return openEvents(tentative, inbox);
    },
    reread() {
      dirty = true;
    },
    unstage() {
      staged = [];
      tentative = committed;
    },
    stage(entries) {
      staged.push(...entries);
      tentative = foldAll(tentative, placeEntries(tentative, entries, lease.epoch, clock.now()));
    },
    commit() {
      committing = committing.then(commitStaged, commitStaged);
      return committing;
    },
    emit: (events) => hub.publish(session, events),
    async during(effect) {
      const abort = new AbortController();
      effects.add(abort);
      if (lost || openEvents(tentative, inbox).some(isInterrupt)) abort.abort();
      try {
        return await effect(abort.signal);
      } finally {
        effects.delete(abort);
      }
    },
    workspace() {
      workspace ??= ports.sandbox.open({
        tenant,
        session,
        epoch: lease.epoch,
        files: tentative.files,
        shell: tentative.shell,
      });
      return workspace;
    },
    async dropWorkspace() {
      const old = workspace;
      workspace = null;
      await old?.close();
    },
    sweep: () => sweepInbox(deps.store, session, (id) => committed.inputs.some((input) => input.id === id)),
    async close() {
      unsubscribe();
      renewal();
      poll();
      await workspace?.close();
      workspace = null;
    },
  };
}
