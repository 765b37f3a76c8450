// Reading along: what the log holds, then what happens, gap-free and in order. Entries are the truth; previews and queued
// echoes are passed through as they come. Other processes' entries are found by looking at the log. A reader who is behind gets
// the log page by page, at its own pace.

import { openEvents } from '../core/session-status.ts';
import { readInbox } from '../log/inbox.ts';
import type { Ports } from '../ports/ports.ts';
import { parseDerivedEventId, type SessionId, type TenantId } from '../types/ids.ts';
import type { LogEntry } from '../types/log.ts';
import type { SessionState, TurnEvent } from '../types/turn.ts';
import type { FollowFrom } from './engine-types.ts';
import type { Hub } from './hub.ts';
import type { SessionCache } from './load-session.ts';
import { loadSession } from './load-session.ts';
import { readEntries } from './spill-entries.ts';

export interface FollowContext {
  readonly ports: Ports;
  readonly hub: Hub;
  readonly cache: SessionCache;
  readonly tenant: TenantId;
  readonly session: SessionId;
}

/** So much of the log is held for a reader that is behind. */
const ENTRIES_PER_PAGE = 100;

/** A reason to abort with: the default one is an exception with a stack, made each time. */
const ENDED = 'ended';

/** See `Engine.follow`. Listens from this call on. */
export function followSession(
  context: FollowContext,
  from: FollowFrom,
  signal: AbortSignal,
): AsyncIterable<readonly TurnEvent[]> {
  const { ports, hub, cache, session } = context;
  // Looked at now, not when the reader first asks: what happens from here on comes through the hub, echo before entry.
  const isBehind = (cache.get(session)?.lastSeq ?? -1) !== from.afterSeq;
  const previews = from.openEvents ? hub.openPreviews(session) : [];
  let queue: TurnEvent[] = [];
  let wake: () => void = () => {};
  let isQuiet = true;
  let isLate = false;
  const unsubscribe = hub.subscribe(session, (events) => {
    queue.push(...events);
    isQuiet = false;
    wake();
  });
  signal.addEventListener('abort', () => wake(), { once: true });
  const stop = new AbortController();
  /** Makes the reader look at the store after a poll interval in which nothing happened. */
  const beat = async (): Promise<void> => {
    for (;;) {
      await ports.clock.sleep(ports.limits.watchPollMs, stop.signal);
      if (stop.signal.aborted) return;
      isLate = isQuiet;
      isQuiet = true;
      if (isLate) wake();
    }
  };
  void beat();
  /** Resolves with true when something happened, with false after a poll interval without. */
  const next = async (): Promise<boolean> => {
    if (queue.length === 0 && !signal.aborted && !isLate) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
    isLate = false;
    return queue.length > 0 || signal.aborted;
  };
  const end = (): void => {
    unsubscribe();
    stop.abort(ENDED);
  };
  return generate(context, from, { next, take, signal, end, isBehind, previews });

  function take(): TurnEvent[] {
    const events = queue;
    queue = [];
    return events;
  }
}

interface Source {
  readonly next: () => Promise<boolean>;
  readonly take: () => TurnEvent[];
  readonly signal: AbortSignal;
  readonly end: () => void;
  /** Whether the log may hold entries behind the start; else it need not be read. */
  readonly isBehind: boolean;
  /** Of the answer that streamed when the reader came; what came since is in the queue. */
  readonly previews: readonly TurnEvent[];
}

async function* generate(
  context: FollowContext,
  from: FollowFrom,
  source: Source,
): AsyncGenerator<readonly TurnEvent[]> {
  const { ports, cache, tenant, session } = context;
  const read = { store: ports.storage.forTenant(tenant), blobs: ports.blobs };
  let last = from.afterSeq;
  const advance = (entries: readonly LogEntry[]): TurnEvent[] => {
    const fresh = entries.filter((e) => e.seq > last);
    last = fresh.at(-1)?.seq ?? last;
    return fresh.length > 0 ? [{ kind: 'entries', entries: fresh }] : [];
  };
  /** What the log holds behind the reader's place. A page is read when the one before it was taken. */
  async function* catchUp(): AsyncGenerator<readonly TurnEvent[]> {
    for (let isMore = true; isMore && !source.signal.aborted; ) {
      const page = await readEntries(read, session, last, ENTRIES_PER_PAGE);
      isMore = page.length === ENTRIES_PER_PAGE;
      const caughtUp = advance(page);
      if (caughtUp.length > 0) yield caughtUp;
    }
  }
  try {
    if (source.isBehind || from.openEvents) yield* catchUp();
    if (from.openEvents) {
      const snapshot = await loadSession(ports, cache, tenant, session);
      if (snapshot === 'deleted' || snapshot === undefined) {
        yield [DELETED];
        return;
      }
      yield* catchUp();
      const open = openEvents(snapshot.state, await readInbox(read.store, session));
      const echoes: TurnEvent[] = open.length > 0 ? [{ kind: 'accepted', events: open }] : [];
      const streaming = previewsOf(snapshot.state, source.previews);
      if (echoes.length + streaming.length > 0) yield [...echoes, ...streaming];
    }
    while (!source.signal.aborted) {
      const found = (await source.next()) ? 'events' : await look(context, last);
      if (found === 'more') yield* catchUp();
      let out: TurnEvent[] = found === 'deleted' ? [DELETED] : [];
      for (const event of found === 'events' ? source.take() : []) {
        if (event.kind !== 'entries') out.push(event);
        else if ((event.entries[0]?.seq ?? 0) <= last + 1) out.push(...advance(event.entries));
        else {
          if (out.length > 0) yield out;
          out = [];
          yield* catchUp();
        }
      }
      if (out.length > 0) yield out;
      if (out.some((e) => e.kind === 'deleted')) return;
    }
  } finally {
    source.end();
  }
}

/** Previews whose call is still open: of a call that has its outcome, the events themselves have been sent. */
function previewsOf(state: SessionState, previews: readonly TurnEvent[]): readonly TurnEvent[] {
  return previews.filter((p) => 'eventId' in p && parseDerivedEventId(p.eventId)?.seq === state.openModel?.seq);
}

const DELETED: TurnEvent = { kind: 'deleted' };

/** What another process may have done: new entries, or the end of the session. */
async function look(context: FollowContext, last: number): Promise<'deleted' | 'more' | 'nothing'> {
  const { ports, cache, tenant, session } = context;
  const snapshot = await loadSession(ports, cache, tenant, session);
  if (snapshot === 'deleted' || snapshot === undefined) return 'deleted';
  return snapshot.state.lastSeq === last ? 'nothing' : 'more';
}
