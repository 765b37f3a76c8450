// A page of a session's events: the log first, then what is still open (the other way round when newest first). A cursor holds
// both positions; the first page that shows an open event freezes the log's end in it.

import { readLogBackwards } from '../../log/session-log.ts';
import type { SessionSnapshot } from '../../turn/engine-types.ts';
import { readEntries, unspillEntries } from '../../turn/spill-entries.ts';
import type { SessionId } from '../../types/ids.ts';
import type { LogEntry } from '../../types/log.ts';
import { type CreatedRange, hasRange, isInRange } from '../../wire/common.ts';
import { eventsOfEntry, queuedEvent } from '../../wire/events/events.ts';
import type { EventContext, WireEvent } from '../../wire/events/wire-event.ts';
import { decodeCursor, encodeCursor, foreignCursor, type Order, type PageCursor } from '../../wire/pages.ts';
import type { Asker } from '../find.ts';
import { logDeps } from '../service.ts';
import { hydrateEntry, hydrateEvent } from './hydrate-entry.ts';

export interface EventsQuery extends CreatedRange {
  readonly order: Order;
  readonly limit: number;
  readonly page?: string | undefined;
  readonly types?: readonly string[] | undefined;
}

/** `log`: after (before) event `n` of entry `seq`. `open`: after (before) the open event `id`, the log's end being `seq`. */
type Position =
  | { readonly part: 'log'; readonly seq: number; readonly n: number }
  | { readonly part: 'open'; readonly seq: number; readonly id: string };

interface Placed {
  readonly event: WireEvent;
  readonly at: Position;
}

const ENTRIES_PER_READ = 500;

export async function listEvents(
  asker: Asker,
  session: SessionId,
  snapshot: SessionSnapshot,
  query: EventsQuery,
): Promise<{ readonly data: readonly WireEvent[]; readonly next_page: string | null }> {
  const list = `events/${session}`;
  const cursor = query.page === undefined ? null : decodeCursor(query.page, list, query.order);
  const start = cursor && readPosition(cursor, snapshot.state.lastSeq);
  const walk = query.order === 'asc' ? oldestFirst : newestFirst;
  const found: Placed[] = [];
  for await (const placed of walk({ asker, session, snapshot }, start)) {
    if (!isWanted(placed.event, query)) continue;
    found.push(placed);
    if (found.length > query.limit) break;
  }
  const rows = found.slice(0, query.limit);
  const last = rows.at(-1);
  const more = found.length > query.limit && last !== undefined;
  const next = more ? { list, order: query.order, direction: 'next' as const, at: writePosition(last.at) } : null;
  return { data: rows.map((r) => r.event), next_page: next && encodeCursor(next) };
}

function isWanted(event: WireEvent, query: EventsQuery): boolean {
  if (query.types && query.types.length > 0 && !query.types.includes(event.type)) return false;
  if (!hasRange(query)) return true;
  return event.processed_at !== null && isInRange(Date.parse(event.processed_at), query);
}

interface Source {
  readonly asker: Asker;
  readonly session: SessionId;
  readonly snapshot: SessionSnapshot;
}

const contextOf = ({ session, snapshot: { state } }: Source): EventContext => ({
  session,
  agentName: state.agent.name,
  budget: state.budget,
});

async function* oldestFirst(source: Source, start: Position | null): AsyncGenerator<Placed> {
  const { snapshot } = source;
  const end = start?.part === 'open' ? start.seq : snapshot.state.lastSeq;
  if (start?.part !== 'open') {
    let after = (start?.seq ?? 1) - 1;
    let skip = start ? start.n : -1;
    while (after < end) {
      const entries = await readForwards(source, after, Math.min(ENTRIES_PER_READ, end - after));
      for (const entry of entries) {
        const events = eventsOfEntry(contextOf(source), entry);
        for (let n = skip + 1; n < events.length; n++) {
          yield { event: events[n] as WireEvent, at: { part: 'log', seq: entry.seq, n } };
        }
        skip = -1;
        after = entry.seq;
      }
      if (entries.length === 0) break;
    }
  }
  yield* openAfter(source, end, start?.part === 'open' ? start.id : '');
}

/** What was open when the log ended at `end`: meanwhile the log may have taken some of it. */
async function* openAfter(source: Source, end: number, id: string): AsyncGenerator<Placed> {
  const { snapshot, asker } = source;
  const taken = end < snapshot.state.lastSeq ? await readForwards(source, end, Number.POSITIVE_INFINITY) : [];
  const shown: { readonly id: string; readonly event: WireEvent }[] = [];
  for (const entry of taken) {
    if (entry.kind !== 'input') continue;
    for (const event of eventsOfEntry(contextOf(source), entry)) shown.push({ id: event.id, event });
  }
  for (const open of snapshot.inbox) {
    const hydrated = await hydrateEvent(asker.service.ports.blobs, open);
    for (const event of queuedEvent(hydrated)) shown.push({ id: event.id, event });
  }
  shown.sort((a, b) => (a.id < b.id ? -1 : 1));
  for (const { id: own, event } of shown) {
    if (own > id) yield { event, at: { part: 'open', seq: end, id: own } };
  }
}

async function* newestFirst(source: Source, start: Position | null): AsyncGenerator<Placed> {
  const { snapshot } = source;
  const end = start?.seq ?? snapshot.state.lastSeq;
  if (start?.part !== 'log') {
    const open: Placed[] = [];
    for await (const placed of openAfter(source, end, '')) open.push(placed);
    const before = start?.id;
    for (const placed of open.reverse()) if (before === undefined || placed.event.id < before) yield placed;
  }
  let before = start?.part === 'log' ? start.seq + 1 : end + 1;
  let keep = start?.part === 'log' ? start.n : Number.POSITIVE_INFINITY;
  while (before > 1) {
    const entries = await readBackwards(source, before);
    for (const entry of entries) {
      const events = eventsOfEntry(contextOf(source), entry);
      for (let n = Math.min(keep, events.length) - 1; n >= 0; n--) {
        yield { event: events[n] as WireEvent, at: { part: 'log', seq: entry.seq, n } };
      }
      keep = Number.POSITIVE_INFINITY;
      before = entry.seq;
    }
    if (entries.length === 0) break;
  }
}

async function readForwards({ asker, session }: Source, after: number, limit: number): Promise<readonly LogEntry[]> {
  const { blobs } = asker.service.ports;
  const { store } = logDeps(asker.service, asker.caller.tenant);
  const entries = await readEntries({ store, blobs }, session, after, limit);
  return Promise.all(entries.map((e) => hydrateEntry(blobs, e)));
}

async function readBackwards({ asker, session }: Source, before: number): Promise<readonly LogEntry[]> {
  const { blobs } = asker.service.ports;
  const { store } = logDeps(asker.service, asker.caller.tenant);
  const entries = await unspillEntries(blobs, await readLogBackwards(store, session, before, ENTRIES_PER_READ));
  return Promise.all(entries.map((e) => hydrateEntry(blobs, e)));
}

const writePosition = (p: Position): string => (p.part === 'log' ? `l.${p.seq}.${p.n}` : `o.${p.seq}.${p.id}`);

/** The position of a cursor that this list gave out when the log ended at `lastSeq` or before; of any other one a 400. */
function readPosition({ at, direction }: PageCursor, lastSeq: number): Position {
  const log = /^l\.(\d{1,12})\.(\d{1,9})$/.exec(at);
  const open = /^o\.(\d{1,12})\.(sevt_\w+)$/.exec(at);
  const seq = Number(log?.[1] ?? open?.[1]);
  if (direction !== 'next' || !(seq <= lastSeq)) throw foreignCursor();
  if (log && seq > 0) return { part: 'log', seq, n: Number(log[2]) };
  if (open) return { part: 'open', seq, id: open[2] as string };
  throw foreignCursor();
}
