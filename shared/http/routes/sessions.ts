// Sessions: created from an agent and an environment, changed through the log, listed both ways, archived, deleted.

import { initialState } from '../../core/fold.ts';
import { files } from '../../log/resources.ts';
import { deleteSession, listSessions, waitForRest } from '../../log/sessions.ts';
import type { SessionSnapshot } from '../../turn/engine-types.ts';
import { ServiceError } from '../../types/errors.ts';
import { ID_PREFIX, type SessionId } from '../../types/ids.ts';
import { isInRange } from '../../wire/common.ts';
import {
  CreateSession,
  ListSessionsQuery,
  SessionDeleted,
  SessionPage,
  SessionView,
  sessionView,
  UpdateSession,
} from '../../wire/sessions.ts';
import { type Asker, findSession } from '../find.ts';
import { readPage } from '../paging.ts';
import { defineRoute, IDEMPOTENCY_HEADER, json, type Route } from '../route.ts';
import { logDeps } from '../service.ts';
import { changeSession, viewOf, waitUntil } from '../session/change-session.ts';
import { makeSession } from '../session/create-session.ts';
import { answerOnce } from '../session/idempotent.ts';
import { updateOf } from '../session/update-session.ts';

const tag = 'Sessions';
const answers = { 200: { description: 'The session', schema: SessionView } } as const;
const STOP_WAIT_MS = 10_000;

const create = defineRoute(
  {
    method: 'post',
    path: '/v1/sessions',
    operationId: 'createSession',
    summary: 'Create a session',
    description: 'Everything is checked before anything is stored. With `initial_events` the work starts at once.',
    tag,
    body: CreateSession,
    headers: [IDEMPOTENCY_HEADER],
    answers,
  },
  async (request) => {
    return answerOnce(request, 'POST /v1/sessions', async () => {
      const session = await makeSession(request, request.body);
      const status = (request.body.initial_events ?? []).length > 0 ? 'running' : 'idle';
      return sessionView(initialState(session), status, request.service.ports.clock.now());
    });
  },
);

const retrieve = defineRoute(
  {
    method: 'get',
    path: '/v1/sessions/{session_id}',
    operationId: 'getSession',
    summary: 'Get a session',
    tag,
    answers,
  },
  async (request) => {
    const { snapshot } = await findSession(request, request.param('session_id'));
    return json(request, viewOf(request.service, snapshot));
  },
);

const list = defineRoute(
  {
    method: 'get',
    path: '/v1/sessions',
    operationId: 'listSessions',
    summary: 'List sessions',
    description: 'Newest first by default. Archived ones are left out unless `include_archived` is true.',
    tag,
    query: ListSessionsQuery,
    answers: { 200: { description: 'A page of sessions', schema: SessionPage } },
  },
  async (request) => {
    const { service, caller, query } = request;
    const { store, limits } = logDeps(service, caller.tenant);
    const nothing = query.deployment_id !== undefined || query.memory_store_id !== undefined;
    const statuses = query['statuses[]'] ?? [];
    const page = await readPage({
      list: 'sessions',
      order: query.order ?? 'desc',
      limit: query.limit ?? limits.pageSizeDefault,
      page: query.page,
      fetch: (options) => listSessions(store, options),
      idOf: ({ session }) => session.id,
      show: async ({ session }) => {
        if (nothing || !isInRange(session.createdAt, query)) return undefined;
        if (query.agent_id !== undefined && session.agent.id !== query.agent_id) return undefined;
        if (query.agent_version !== undefined && session.agent.version !== query.agent_version) return undefined;
        const snapshot = await service.engine.load(caller.tenant, session.id);
        if (snapshot === undefined || snapshot === 'deleted') return undefined;
        const view = viewOf(service, snapshot);
        if (view.archived_at !== null && !query.include_archived) return undefined;
        return statuses.length === 0 || statuses.includes(view.status) ? view : undefined;
      },
    });
    return json(request, page);
  },
);

const update = defineRoute(
  {
    method: 'post',
    path: '/v1/sessions/{session_id}',
    operationId: 'updateSession',
    summary: 'Update a session',
    description: 'Title and metadata at any time, the agent of this session only while it is idle.',
    tag,
    body: UpdateSession,
    answers,
  },
  async (request) => {
    const found = await findSession(request, request.param('session_id'));
    const update = updateOf(found.snapshot, request.body);
    if (update === null) return json(request, viewOf(request.service, found.snapshot));
    const after = await changeSession(request, found, update);
    return json(request, viewOf(request.service, after));
  },
);

const isRunning = ({ status }: SessionSnapshot): boolean => status === 'running' || status === 'rescheduling';

/** Waits a moment for a session that looks idle but is still held; a running one is refused. */
async function findAtRest(asker: Asker, id: string, what: string): Promise<Awaited<ReturnType<typeof findSession>>> {
  const found = await findSession(asker, id);
  const deps = logDeps(asker.service, asker.caller.tenant);
  if (isRunning(found.snapshot)) throw runningError(found.snapshot, what);
  if (found.snapshot.leaseLive) await waitForRest(deps, found.id, new AbortController().signal);
  const again = await findSession(asker, id);
  if (isRunning(again.snapshot)) throw runningError(again.snapshot, what);
  return again;
}

const runningError = ({ status }: SessionSnapshot, what: string): ServiceError =>
  new ServiceError('invalid_request', `the session is ${status} and cannot be ${what}; interrupt it first`);

const archive = defineRoute(
  {
    method: 'post',
    path: '/v1/sessions/{session_id}/archive',
    operationId: 'archiveSession',
    summary: 'Archive a session',
    description: 'For good: its history stays, it takes no more events. Refused while it runs.',
    tag,
    answers,
  },
  async (request) => {
    const found = await findAtRest(request, request.param('session_id'), 'archived');
    if (found.snapshot.state.archivedAt !== null) return json(request, viewOf(request.service, found.snapshot));
    const after = await changeSession(request, found, { type: 'control.archive' });
    return json(request, viewOf(request.service, after));
  },
);

const remove = defineRoute(
  {
    method: 'delete',
    path: '/v1/sessions/{session_id}',
    operationId: 'deleteSession',
    summary: 'Delete a session',
    description: 'At once and for good; open streams hear `session.deleted` and end. Refused while it runs.',
    tag,
    answers: { 200: { description: 'It is gone', schema: SessionDeleted } },
  },
  async (request) => {
    const { service, caller } = request;
    const deps = logDeps(service, caller.tenant);
    const { id, snapshot } = await findAtRest(request, request.param('session_id'), 'deleted');
    let outcome = await deleteSession(deps, id);
    if (outcome === 'busy' && (await waitForRest(deps, id, new AbortController().signal))) {
      outcome = await deleteSession(deps, id);
    }
    if (outcome === 'busy') throw new ServiceError('conflict', 'the session is just being worked on; try again', {}, 1);
    service.engine.announceDeleted(id);
    await removeRemains(request, id, snapshot);
    return json(request, { id, type: 'session_deleted' });
  },
);

const BLOBS_PER_PAGE = 500;

/** What lies beside the log: records of the session's own files, and every blob of the session. */
async function removeRemains({ service, caller }: Asker, id: SessionId, { state }: SessionSnapshot): Promise<void> {
  const { store } = logDeps(service, caller.tenant);
  for (const { fileId } of state.resources) await files.remove(store, fileId);
  const { blobs } = service.ports;
  const prefix = `t/${caller.tenant}/${id.slice(ID_PREFIX.session.length)}/`;
  for (;;) {
    const keys = await blobs.list(prefix, { limit: BLOBS_PER_PAGE });
    for (const key of keys) await blobs.delete(key);
    if (keys.length < BLOBS_PER_PAGE) return;
  }
}

const stop = defineRoute(
  {
    method: 'post',
    path: '/v1/sessions/{session_id}/stop',
    operationId: 'stopSession',
    summary: 'Stop a session at once',
    description: 'An extension. What runs is killed, queued inputs end as cancelled, the session is idle and usable.',
    tag,
    answers,
  },
  async (request) => {
    const found = await findSession(request, request.param('session_id'));
    if (found.snapshot.state.archivedAt !== null) return json(request, viewOf(request.service, found.snapshot));
    await changeSession(request, found, { type: 'control.stop' });
    const stopped = (s: SessionSnapshot) => !isRunning(s) && s.inbox.every((e) => e.type !== 'control.stop');
    const after = await waitUntil(request, found.id, STOP_WAIT_MS, stopped);
    return json(request, viewOf(request.service, after));
  },
);

export const SESSION_ROUTES: readonly Route[] = [create, list, retrieve, update, archive, remove, stop];
