// A session's events: send, follow, wait, list, stream.

import { z } from 'zod';
import type { SessionSnapshot } from '../../turn/engine-types.ts';
import type { TurnEvent } from '../../types/turn.ts';
import { CREATED_RANGE_ALL, ORDER, PAGE_QUERY } from '../../wire/common.ts';
import { SendEvents } from '../../wire/events/client-events.ts';
import { EVENT_TYPES, SentAnswer, SessionEventPage, StreamedEventView } from '../../wire/events/event-schemas.ts';
import { most } from '../../wire/limits.ts';
import { findSession } from '../find.ts';
import { defineRoute, IDEMPOTENCY_HEADER, json, type Route, type RouteRequest } from '../route.ts';
import { fingerprintOf, idempotencyKeyOf, repeatedSend, sendEvents } from '../session/send-events.ts';
import { followStream, type StreamTarget, waitForEnd } from '../stream/follow-answer.ts';
import { createFramer } from '../stream/frames.ts';
import { hydrateBatch } from '../stream/hydrate-entry.ts';
import { listEvents } from '../stream/list-events.ts';
import { resolvePlace } from '../stream/resume.ts';
import { openStream, streamAnswer } from '../stream/sse.ts';

const tag = 'Events';
const EVENT_DELTAS = ['agent.message', 'agent.thinking'] as const;
const REPRISE_DELTAS = ['agent.tool_use', 'agent.thinking'] as const;

const Deltas = {
  'event_deltas[]': z
    .array(z.enum(EVENT_DELTAS))
    .max(...most('eventDeltasMax', 'values'))
    .optional(),
  'reprise_deltas[]': z
    .array(z.enum(REPRISE_DELTAS))
    .max(...most('eventDeltasMax', 'values'))
    .optional()
    .describe('An extension: tool input and the text of thinking as they are generated'),
};
type DeltasQuery = z.output<z.ZodObject<typeof Deltas>>;

const deltasOf = (query: DeltasQuery) => ({
  eventDeltas: query['event_deltas[]'] ?? [],
  repriseDeltas: query['reprise_deltas[]'] ?? [],
});

const send = defineRoute(
  {
    method: 'post',
    path: '/v1/sessions/{session_id}/events',
    operationId: 'sendEvents',
    summary: 'Send events',
    description:
      'Answers once the events are durable. With `Accept: text/event-stream` the answer is the stream of what follows, to the end of the turn (Follow). With `Prefer: wait=N` it is given at the end of the turn, or after N seconds with status 202.',
    tag,
    query: z.object(Deltas),
    body: SendEvents,
    headers: [
      IDEMPOTENCY_HEADER,
      { name: 'prefer', description: '`wait=N`: wait at most N seconds for the end of the turn' },
    ],
    answers: {
      200: {
        description: 'The accepted events with their ids',
        schema: SentAnswer,
        also: { 'text/event-stream': StreamedEventView },
      },
      202: { description: 'Accepted; the turn had not ended in time', schema: SentAnswer },
    },
  },
  async (request) => {
    const { service, caller, body, query } = request;
    const charsMax = service.ports.limits.idempotencyKeyCharsMax;
    const key = idempotencyKeyOf(request.header('idempotency-key'), charsMax);
    const { id, snapshot } = await findSession(request, request.param('session_id'));
    const target = { service, caller, session: id };
    const idempotency = { key, fingerprint: key === null ? '' : fingerprintOf(request, id, body) };
    const accept = async (from: SessionSnapshot) =>
      (await repeatedSend(request, key, idempotency.fingerprint)) ?? sendEvents(target, from, body, idempotency);

    const stream: StreamTarget = { request, session: id, snapshot, ...deltasOf(query) };
    if (wantsStream(request)) return followStream(stream, () => accept(snapshot));
    const waitSeconds = preferredWait(request.header('prefer'), service.ports.limits.waitSecondsMax);
    if (waitSeconds > 0) return waitForEnd(stream, () => accept(snapshot), waitSeconds);
    return json(request, (await accept(snapshot)).answer);
  },
);

const wantsStream = (request: RouteRequest): boolean =>
  /(^|,)\s*text\/event-stream\s*(;|,|$)/i.test(request.header('accept') ?? '');

/** Seconds of `Prefer: wait=N`, at most `max`; 0 where there is none. */
export function preferredWait(header: string | undefined, max: number): number {
  const seconds = /(?:^|,)\s*wait\s*=\s*"?(\d{1,9})"?\s*(?:;|,|$)/i.exec(header ?? '')?.[1];
  return Math.min(Number(seconds ?? 0), max);
}

const list = defineRoute(
  {
    method: 'get',
    path: '/v1/sessions/{session_id}/events',
    operationId: 'listEvents',
    summary: 'List events',
    description: 'Oldest first. Queued events follow the processed ones, with `processed_at: null`.',
    tag,
    query: z.object({
      ...PAGE_QUERY,
      ...ORDER,
      ...CREATED_RANGE_ALL,
      'types[]': z
        .array(z.enum(EVENT_TYPES))
        .max(...most('filterValuesMax', 'values'))
        .optional(),
    }),
    answers: { 200: { description: 'A page of events', schema: SessionEventPage } },
  },
  async (request) => {
    const { query, service } = request;
    const { id, snapshot } = await findSession(request, request.param('session_id'));
    const page = await listEvents(request, id, snapshot, {
      ...query,
      order: query.order ?? 'asc',
      limit: query.limit ?? service.ports.limits.eventPageSizeDefault,
      types: query['types[]'],
    });
    return json(request, page);
  },
);

const stream = defineRoute(
  {
    method: 'get',
    path: '/v1/sessions/{session_id}/events/stream',
    operationId: 'streamEvents',
    summary: 'Stream events',
    description:
      'From now on, or behind the event that `Last-Event-ID` or `after` names (an SSE id or an event id), without gap or repetition. `event: ping` is the heartbeat.',
    tag,
    query: z.object({
      ...Deltas,
      after: z
        .string()
        .max(...most('idCharsMax', 'characters'))
        .optional(),
    }),
    headers: [{ name: 'last-event-id', description: 'The `id:` of the last frame that was seen' }],
    answers: {
      200: { description: 'Frames of `event: message`', schema: StreamedEventView, contentType: 'text/event-stream' },
    },
  },
  async (request) => {
    const { service, caller, query } = request;
    const { id: session, snapshot } = await findSession(request, request.param('session_id'));
    const header = request.header('last-event-id');
    const given = header
      ? { id: header, field: 'last-event-id' }
      : query.after !== undefined && { id: query.after, field: 'after' };
    const place = given ? await resolvePlace(request, session, snapshot, given) : null;
    const close = openStream(service, caller.tenant);
    const abort = new AbortController();
    const from = place
      ? { afterSeq: place.seq - 1, openEvents: true }
      : { afterSeq: snapshot.state.lastSeq, openEvents: false };
    const batches = service.engine.follow(caller.tenant, session, from, abort.signal);
    const { state } = snapshot;
    const now = () => service.ports.clock.now();
    const framer = createFramer({ session, state, ...deltasOf(query), after: place, now });
    const texts = encodeAll(batches, (batch) => framer.encode(batch), request);
    if (request.raw.method === 'HEAD') abort.abort();
    return streamAnswer({ service, tenant: caller.tenant, requestId: request.requestId }, texts, abort, close);
  },
);

async function* encodeAll(
  batches: AsyncIterable<readonly TurnEvent[]>,
  encode: (batch: readonly TurnEvent[]) => string,
  { service }: Pick<RouteRequest, 'service'>,
): AsyncGenerator<string> {
  for await (const batch of batches) yield encode(await hydrateBatch(service.ports.blobs, batch));
}

export const EVENT_ROUTES: readonly Route[] = [send, list, stream];
