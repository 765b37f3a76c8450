// Where a stream goes on: an SSE id or an event id → the place in the log behind it. What names no place is a 400.

import type { SessionSnapshot } from '../../turn/engine-types.ts';
import { readEntries } from '../../turn/spill-entries.ts';
import { ServiceError } from '../../types/errors.ts';
import { parseDerivedEventId, type SessionId } from '../../types/ids.ts';
import type { LogEntry } from '../../types/log.ts';
import { eventsOfEntry } from '../../wire/events/events.ts';
import type { Asker } from '../find.ts';
import { logDeps } from '../service.ts';

export interface Place {
  readonly seq: number;
  readonly n: number;
}

/** An event of a model call stands this close to its `model_started`, but for waits of the client. */
const ENTRIES_PER_READ = 100;

/** `field` is how the request named it, for the error. */
export async function resolvePlace(
  asker: Asker,
  session: SessionId,
  snapshot: SessionSnapshot,
  given: { readonly id: string; readonly field: string },
): Promise<Place> {
  const { id, field } = given;
  const unknown = () =>
    new ServiceError('invalid_request', `${field}: ${shown(id)} is no event of this session's log`, { field });
  const { state } = snapshot;
  const context = { session, agentName: state.agent.name, budget: state.budget };
  const read = async (afterSeq: number, limit: number): Promise<readonly LogEntry[]> => {
    const { store } = logDeps(asker.service, asker.caller.tenant);
    return readEntries({ store, blobs: asker.service.ports.blobs }, session, afterSeq, limit);
  };
  const place = /^(\d{1,12})-(\d{1,6})$/.exec(id);
  if (place) {
    const seq = Number(place[1]);
    const n = Number(place[2]);
    const [entry] = seq >= 1 && seq <= state.lastSeq ? await read(seq - 1, 1) : [];
    if (!entry || n >= eventsOfEntry(context, entry).length) throw unknown();
    return { seq, n };
  }
  const input = state.inputs.find((i) => i.id === id);
  if (input) return { seq: input.seq, n: 0 };
  const derived = parseDerivedEventId(id);
  if (!derived || derived.session !== session || derived.seq < 1 || derived.seq > state.lastSeq) throw unknown();
  for (let after = derived.seq - 1; after < state.lastSeq; ) {
    const entries = await read(after, ENTRIES_PER_READ);
    for (const entry of entries) {
      const n = eventsOfEntry(context, entry).findIndex((e) => e.id === id);
      if (n >= 0) return { seq: entry.seq, n };
    }
    const last = entries.at(-1);
    if (!last) break;
    after = last.seq;
  }
  throw unknown();
}

const shown = (id: string): string => id.slice(0, 80).replace(/[^\x20-\x7e]/g, '?');
