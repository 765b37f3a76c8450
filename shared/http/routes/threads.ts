// A session's threads: the primary one, whose events and stream are the session's own.

import { threadIdOf } from '../../types/ids.ts';
import { foreignCursor } from '../../wire/pages.ts';
import { ListThreadsQuery, ThreadPage, ThreadView, threadView } from '../../wire/threads.ts';
import { findSession, notFound } from '../find.ts';
import { defineRoute, json, type Route, type RouteRequest } from '../route.ts';
import { viewOf } from '../session/change-session.ts';
import { listRoute, streamRoute } from './events.ts';

const tag = 'Session threads';

async function findThread(request: RouteRequest): ReturnType<typeof findSession> {
  const found = await findSession(request, request.param('session_id'));
  const id = request.param('thread_id');
  if (id !== threadIdOf(found.id)) throw notFound('thread', id);
  return found;
}

const list = defineRoute(
  {
    method: 'get',
    path: '/v1/sessions/{session_id}/threads',
    operationId: 'listSessionThreads',
    summary: "List a session's threads",
    description: 'The primary thread: others are not yet supported.',
    tag,
    query: ListThreadsQuery,
    answers: { 200: { description: 'The threads', schema: ThreadPage } },
  },
  async (request) => {
    if (request.query.page !== undefined) throw foreignCursor(); // there is one page
    const { snapshot } = await findSession(request, request.param('session_id'));
    const thread = threadView(snapshot.state, viewOf(request.service, snapshot));
    const statuses = request.query['statuses[]'] ?? [];
    const wanted = statuses.length === 0 || statuses.includes(thread.status);
    return json(request, { data: wanted ? [thread] : [], next_page: null });
  },
);

const retrieve = defineRoute(
  {
    method: 'get',
    path: '/v1/sessions/{session_id}/threads/{thread_id}',
    operationId: 'getSessionThread',
    summary: 'Get a thread of a session',
    tag,
    answers: { 200: { description: 'The thread', schema: ThreadView } },
  },
  async (request) => {
    const { snapshot } = await findThread(request);
    return json(request, threadView(snapshot.state, viewOf(request.service, snapshot)));
  },
);

/** A route of the session under the path of its thread. */
const ofThread = ({ spec, handle }: Route, over: Pick<Route['spec'], 'path' | 'operationId' | 'summary'>): Route => ({
  spec: { ...spec, ...over, tag },
  handle: async (request) => {
    await findThread(request);
    return handle(request);
  },
});

const events = ofThread(listRoute, {
  path: '/v1/sessions/{session_id}/threads/{thread_id}/events',
  operationId: 'listSessionThreadEvents',
  summary: "List a thread's events",
});
const stream = ofThread(streamRoute, {
  path: '/v1/sessions/{session_id}/threads/{thread_id}/stream',
  operationId: 'streamSessionThreadEvents',
  summary: "Stream a thread's events",
});

export const THREAD_ROUTES: readonly Route[] = [list, retrieve, events, stream];
