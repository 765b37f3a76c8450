// Files in a session's workspace: listed, added (the session gets its own copy), removed.

import { ServiceError } from '../../types/errors.ts';
import {
  ListResourcesQuery,
  ResourceDeleted,
  ResourceInput,
  ResourcePage,
  ResourceView,
  resourceView,
  UpdateResource,
} from '../../wire/resources.ts';
import { type Asker, findSession, notFound } from '../find.ts';
import { readPage } from '../paging.ts';
import { defineRoute, json, type Route } from '../route.ts';
import { changeSession, pendingState } from '../session/change-session.ts';
import { checkAdded, checkMounts, checkRoom, copyMounts, removeCopies } from '../session/mount-files.ts';

const tag = 'Session resources';
const answers = { 200: { description: 'The resource', schema: ResourceView } } as const;

async function findResource(asker: Asker, session: string, id: string) {
  const found = await findSession(asker, session);
  const resource = pendingState(found.snapshot).resources.find((r) => r.id === id);
  if (!resource) throw notFound('resource', id);
  return { ...found, resource };
}

const list = defineRoute(
  {
    method: 'get',
    path: '/v1/sessions/{session_id}/resources',
    operationId: 'listSessionResources',
    summary: 'List the resources of a session',
    description: 'Oldest first.',
    tag,
    query: ListResourcesQuery,
    answers: { 200: { description: 'A page of resources', schema: ResourcePage } },
  },
  async (request) => {
    const { query, service } = request;
    const { id, snapshot } = await findSession(request, request.param('session_id'));
    const all = pendingState(snapshot).resources.toSorted((a, b) => (a.id < b.id ? -1 : 1));
    const page = await readPage({
      list: `resources/${id}`,
      order: 'asc',
      limit: query.limit ?? service.ports.limits.pageSizeDefault,
      page: query.page,
      fetch: async ({ after, limit }) => all.filter((r) => after === undefined || r.id > after).slice(0, limit),
      idOf: (r) => r.id,
      show: resourceView,
    });
    return json(request, { data: page.data, next_page: page.next_page });
  },
);

const add = defineRoute(
  {
    method: 'post',
    path: '/v1/sessions/{session_id}/resources',
    operationId: 'addSessionResource',
    summary: 'Add a file to a session',
    description: 'The session gets its own copy under a new `file_id`, below `/mnt/session/uploads`.',
    tag,
    body: ResourceInput,
    answers,
  },
  async (request) => {
    const { body } = request;
    const found = await findSession(request, request.param('session_id'));
    const { archivedAt, resources } = pendingState(found.snapshot);
    if (archivedAt !== null) throw new ServiceError('invalid_request', 'the session is archived and read-only');
    if (body.type !== 'file') throw new ServiceError('unsupported', `type: not yet supported: ${body.type}`);
    checkRoom(resources);
    const taken = resources.map((r) => r.mountPath);
    const mounts = await checkMounts(request, [{ input: body, field: '' }], taken);
    const copies = await copyMounts(request, found.id, mounts);
    const [resource] = copies;
    if (!resource) throw new Error('a file was not copied');
    try {
      const control = { type: 'control.update', change: { resourcesAdded: copies } } as const;
      const after = await changeSession(request, found, control);
      checkAdded(pendingState(after).resources, resource); // of what was accepted at one time, the log has the order
    } catch (error) {
      await removeCopies(request, copies);
      throw error;
    }
    return json(request, resourceView(resource));
  },
);

const retrieve = defineRoute(
  {
    method: 'get',
    path: '/v1/sessions/{session_id}/resources/{resource_id}',
    operationId: 'getSessionResource',
    summary: 'Get a resource of a session',
    tag,
    answers,
  },
  async (request) => {
    const { resource } = await findResource(request, request.param('session_id'), request.param('resource_id'));
    return json(request, resourceView(resource));
  },
);

const update = defineRoute(
  {
    method: 'post',
    path: '/v1/sessions/{session_id}/resources/{resource_id}',
    operationId: 'updateSessionResource',
    summary: 'Rotate the token of a repository',
    description: 'Files have none, and repositories are not yet supported: always refused.',
    tag,
    body: UpdateResource,
    answers,
  },
  async (request) => {
    const { resource } = await findResource(request, request.param('session_id'), request.param('resource_id'));
    throw new ServiceError('invalid_request', `the resource ${resource.id} is a file and has no authorization_token`);
  },
);

const remove = defineRoute(
  {
    method: 'delete',
    path: '/v1/sessions/{session_id}/resources/{resource_id}',
    operationId: 'deleteSessionResource',
    summary: 'Remove a file from a session',
    tag,
    answers: { 200: { description: 'It is gone', schema: ResourceDeleted } },
  },
  async (request) => {
    const { resource, ...found } = await findResource(
      request,
      request.param('session_id'),
      request.param('resource_id'),
    );
    if (found.snapshot.state.archivedAt !== null) {
      throw new ServiceError('invalid_request', 'the session is archived and read-only');
    }
    await changeSession(request, found, { type: 'control.update', change: { resourcesRemoved: [resource.id] } });
    return json(request, { id: resource.id, type: 'session_resource_deleted' });
  },
);

export const RESOURCE_ROUTES: readonly Route[] = [list, add, retrieve, update, remove];
