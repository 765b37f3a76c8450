// The two answers of a send that wait for its turn: the stream of it, or all of its events at the end.

import type { FollowFrom, SessionSnapshot } from '../../turn/engine-types.ts';
import type { SessionId } from '../../types/ids.ts';
import type { TurnEvent } from '../../types/turn.ts';
import { eventsOfEntry } from '../../wire/events/events.ts';
import type { WireEvent } from '../../wire/events/wire-event.ts';
import { json, type RouteRequest } from '../route.ts';
import { viewOf } from '../session/change-session.ts';
import type { Sent } from '../session/send-events.ts';
import { createTracker } from './follow.ts';
import { createFramer } from './frames.ts';
import { hydrateBatch } from './hydrate-entry.ts';
import { openStream, streamAnswer } from './sse.ts';

export interface StreamTarget {
  readonly request: RouteRequest;
  readonly session: SessionId;
  readonly snapshot: SessionSnapshot;
  readonly eventDeltas: readonly string[];
  readonly repriseDeltas: readonly string[];
}

interface Following {
  readonly sent: Sent;
  readonly batches: AsyncIterable<readonly TurnEvent[]>;
}

/** Listens before it accepts, so the echo is the first thing heard. A repeated request attaches behind its first one. */
async function startFollow(target: StreamTarget, accept: () => Promise<Sent>, signal: AbortSignal): Promise<Following> {
  const { request, session, snapshot } = target;
  const follow = (from: FollowFrom, until: AbortSignal) =>
    request.service.engine.follow(request.caller.tenant, session, from, until);
  const own = new AbortController();
  const from = { afterSeq: snapshot.state.lastSeq, openEvents: false };
  const batches = follow(from, AbortSignal.any([signal, own.signal]));
  let sent: Sent;
  try {
    sent = await accept();
  } catch (error) {
    await discard(batches, own);
    throw error;
  }
  if (!sent.repeated) return { sent, batches };
  await discard(batches, own);
  return { sent, batches: follow({ afterSeq: sent.afterSeq, openEvents: true }, signal) };
}

/** It listens from the call on, so it must be ended even where nobody read from it. */
async function discard(batches: AsyncIterable<readonly TurnEvent[]>, own: AbortController): Promise<void> {
  own.abort();
  for await (const _batch of batches) break;
}

/** The events that belong to the send, batch by batch, to the end of its turn. */
async function* trackedBatches(
  target: StreamTarget,
  { sent, batches }: Following,
): AsyncGenerator<readonly TurnEvent[]> {
  const tracker = createTracker(sent.ids, target.snapshot.state);
  const { blobs } = target.request.service.ports;
  for await (const batch of batches) {
    const { events, done } = tracker.take(batch);
    yield await hydrateBatch(blobs, events);
    if (done) return;
  }
}

/** `Accept: text/event-stream`. */
export async function followStream(target: StreamTarget, accept: () => Promise<Sent>): Promise<Response> {
  const { request, session, snapshot, eventDeltas, repriseDeltas } = target;
  const { service, caller, requestId } = request;
  const close = openStream(service, caller.tenant);
  const abort = new AbortController();
  try {
    const following = await startFollow(target, accept, abort.signal);
    const now = () => service.ports.clock.now();
    const framer = createFramer({ session, state: snapshot.state, eventDeltas, repriseDeltas, after: null, now });
    async function* texts(): AsyncGenerator<string> {
      for await (const batch of trackedBatches(target, following)) yield framer.encode(batch);
    }
    return streamAnswer({ service, tenant: caller.tenant, requestId }, texts(), abort, close);
  } catch (error) {
    abort.abort();
    close();
    throw error;
  }
}

/** `Prefer: wait=N`: 200 with all events of the turn, or 202 with the echo after `waitSeconds`. */
export async function waitForEnd(
  target: StreamTarget,
  accept: () => Promise<Sent>,
  waitSeconds: number,
): Promise<Response> {
  const { request, session } = target;
  const { clock } = request.service.ports;
  const abort = new AbortController();
  const leave = () => abort.abort();
  request.raw.signal.addEventListener('abort', leave, { once: true });
  const timer = new AbortController();
  try {
    const following = await startFollow(target, accept, abort.signal);
    const ended = collectEvents(target, following);
    const late = clock.sleep(waitSeconds * 1000, timer.signal).then(() => null);
    const events = await Promise.race([ended, late]);
    const { answer } = following.sent;
    const applied = { 'preference-applied': `wait=${waitSeconds}` };
    if (events === null) {
      ended.catch(() => {}); // nobody waits for it any more
      return json(request, answer, 202, applied);
    }
    const loaded = await request.service.engine.load(request.caller.tenant, session);
    const view = loaded && loaded !== 'deleted' ? { session: viewOf(request.service, loaded) } : {};
    return json(request, { data: answer.data, reprise: { ...answer.reprise, ...view, events } }, 200, applied);
  } finally {
    timer.abort();
    abort.abort();
    request.raw.signal.removeEventListener('abort', leave);
  }
}

async function collectEvents(target: StreamTarget, following: Following): Promise<readonly WireEvent[]> {
  const { session, snapshot } = target;
  const { agent, budget } = snapshot.state;
  const context = { session, agentName: agent.name, budget };
  const events: WireEvent[] = [];
  for await (const batch of trackedBatches(target, following)) {
    for (const event of batch) {
      if (event.kind === 'entries') for (const entry of event.entries) events.push(...eventsOfEntry(context, entry));
    }
  }
  return events;
}
