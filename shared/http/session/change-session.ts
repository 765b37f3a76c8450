// Changes of a session are inbox items that only the holder applies. Here they are accepted, given a moment to be applied,
// and shown folded over the log, so the answer is right at once.

import { foldAll } from '../../core/fold.ts';
import { changeOf } from '../../core/merge-metadata.ts';
import type { SessionSnapshot } from '../../turn/engine-types.ts';
import { ServiceError } from '../../types/errors.ts';
import { type EventId, ID_PREFIX, type SessionId } from '../../types/ids.ts';
import type { ControlEvent, InboxEvent, LogEntry } from '../../types/log.ts';
import type { SessionState } from '../../types/turn.ts';
import { sessionView } from '../../wire/sessions.ts';
import { type Asker, findSession } from '../find.ts';
import type { Service } from '../service.ts';

const POLL_MS = 20;

/** An accepted event's identity: the id that it keeps, and the time. */
export const stampOf = ({ ports }: Service): Pick<InboxEvent, 'id' | 'acceptedAt'> => ({
  id: (ID_PREFIX.event + ports.ids.ulid()) as EventId,
  acceptedAt: ports.clock.now(),
});

/** The state with accepted but not yet applied changes in it. */
export function pendingState(snapshot: SessionSnapshot): SessionState {
  let { state } = snapshot;
  for (const event of snapshot.inbox) {
    if (event.type !== 'control.update' && event.type !== 'control.archive') continue;
    const change =
      event.type === 'control.update' ? { change: changeOf(state, event) } : { change: {}, archived: true };
    const at = { v: 1, seq: state.lastSeq + 1, epoch: state.epoch, at: event.acceptedAt } as const;
    const entry: LogEntry = { kind: 'session_updated', inputId: event.id, ...change, ...at };
    state = foldAll(state, [entry]);
  }
  return state;
}

/** The session resource as it stands now. */
export function viewOf({ ports }: Service, snapshot: SessionSnapshot): ReturnType<typeof sessionView> {
  const state = pendingState(snapshot);
  const status = state.archivedAt === null ? snapshot.status : 'terminated';
  return sessionView(state, status, ports.clock.now());
}

/**
 * Stores a control event and waits until it is applied, at most `archiveWaitMs`; while a turn runs it is applied at its next
 * safe point. Gives the session after it.
 */
export async function changeSession(
  asker: Asker,
  session: { readonly id: SessionId; readonly snapshot: SessionSnapshot },
  control: ControlEvent,
): Promise<SessionSnapshot> {
  const { service, caller } = asker;
  const event: InboxEvent = { ...control, ...stampOf(service) };
  const outcome = await service.engine.accept({
    tenant: caller.tenant,
    session: session.id,
    sessionRev: session.snapshot.sessionRev,
    events: [event],
    claims: [],
  });
  if (outcome.kind === 'deleted') throw new ServiceError('not_found', `there is no session ${session.id}`);
  if (outcome.kind !== 'accepted') throw new Error(`a control event was ${outcome.kind}`);
  const running = session.snapshot.status === 'running' || session.snapshot.status === 'rescheduling';
  return waitUntil(asker, session.id, running ? 0 : service.ports.limits.archiveWaitMs, (s) =>
    s.inbox.every((e) => e.id !== event.id),
  );
}

/** Looks until `done`, at most `timeoutMs`; gives the last look. */
export async function waitUntil(
  asker: Asker,
  id: SessionId,
  timeoutMs: number,
  done: (snapshot: SessionSnapshot) => boolean,
): Promise<SessionSnapshot> {
  const { clock } = asker.service.ports;
  const end = clock.now() + timeoutMs;
  for (;;) {
    const { snapshot } = await findSession(asker, id);
    if (done(snapshot) || clock.now() >= end) return snapshot;
    await clock.sleep(POLL_MS, NEVER);
  }
}

const NEVER = new AbortController().signal;
