// Environments: where sessions run. Archived ones are read-only; one that a session uses is not deleted.

import { mergeMetadata } from '../../core/merge-metadata.ts';
import { environments } from '../../log/resources.ts';
import { listSessions } from '../../log/sessions.ts';
import { ServiceError } from '../../types/errors.ts';
import { environmentId, ID_PREFIX } from '../../types/ids.ts';
import type { Environment } from '../../types/session.ts';
import {
  CreateEnvironment,
  EnvironmentDeleted,
  EnvironmentPage,
  EnvironmentView,
  environmentView,
  ListEnvironmentsQuery,
  resolveConfig,
  UpdateEnvironment,
} from '../../wire/environments.ts';
import { tooMany } from '../../wire/limits.ts';
import { findEnvironment } from '../find.ts';
import { readPage } from '../paging.ts';
import { defineRoute, IDEMPOTENCY_HEADER, json, type Route } from '../route.ts';
import { logDeps } from '../service.ts';
import { answerOnce } from '../session/idempotent.ts';

const tag = 'Environments';
const answers = { 200: { description: 'The environment', schema: EnvironmentView } } as const;
const SESSIONS_PER_PAGE = 500;

const create = defineRoute(
  {
    method: 'post',
    path: '/v1/environments',
    operationId: 'createEnvironment',
    summary: 'Create an environment',
    tag,
    body: CreateEnvironment,
    headers: [IDEMPOTENCY_HEADER],
    answers,
  },
  (request) =>
    answerOnce(request, 'POST /v1/environments', async () => {
      const { service, caller, body } = request;
      const deps = logDeps(service, caller.tenant);
      const now = deps.clock.now();
      const environment: Environment = {
        id: environmentId(ID_PREFIX.environment + deps.ids.ulid()),
        name: body.name,
        description: body.description || null,
        config: resolveConfig(body.config),
        metadata: body.metadata ?? {},
        ...(body.scope ? { scope: body.scope } : {}),
        createdAt: now,
        updatedAt: now,
        archivedAt: null,
      };
      await environments.create(deps, environment);
      return environmentView(environment);
    }),
);

const retrieve = defineRoute(
  {
    method: 'get',
    path: '/v1/environments/{environment_id}',
    operationId: 'getEnvironment',
    summary: 'Get an environment',
    tag,
    answers,
  },
  async (request) => {
    const { value } = await findEnvironment(request, request.param('environment_id'));
    return json(request, environmentView(value));
  },
);

const list = defineRoute(
  {
    method: 'get',
    path: '/v1/environments',
    operationId: 'listEnvironments',
    summary: 'List environments',
    description: 'Newest first. Archived ones are left out unless `include_archived` is true.',
    tag,
    query: ListEnvironmentsQuery,
    answers: { 200: { description: 'A page of environments', schema: EnvironmentPage } },
  },
  async (request) => {
    const { service, caller, query } = request;
    const { store, limits } = logDeps(service, caller.tenant);
    const page = await readPage({
      list: 'environments',
      order: 'desc',
      limit: query.limit ?? limits.pageSizeDefault,
      page: query.page,
      fetch: (options) => environments.list(store, options),
      idOf: ({ value }) => value.id,
      show: ({ value }) => (value.archivedAt === null || query.include_archived ? environmentView(value) : undefined),
    });
    return json(request, { data: page.data, next_page: page.next_page });
  },
);

const update = defineRoute(
  {
    method: 'post',
    path: '/v1/environments/{environment_id}',
    operationId: 'updateEnvironment',
    summary: 'Update an environment',
    description: 'Omitted fields stay as they are; packages are merged per manager. The type of `config` is fixed.',
    tag,
    body: UpdateEnvironment,
    answers,
  },
  async (request) => {
    const { service, caller, body } = request;
    const deps = logDeps(service, caller.tenant);
    const { value, rev } = await findEnvironment(request, request.param('environment_id'));
    if (value.archivedAt !== null) throw archivedError(value.id);
    if (body.config && body.config.type !== value.config.type) {
      throw new ServiceError('invalid_request', `config.type: cannot be changed from ${value.config.type}`, {
        field: 'config.type',
        error_code: 'invalid_config_type_change',
      });
    }
    const metadata = mergeMetadata(value.metadata, body.metadata);
    if (metadata === null) throw tooMany('metadata', 'metadataPairsMax', 'pairs', 'invalid_metadata');
    const changed: Environment = {
      ...value,
      name: body.name ?? value.name,
      description: body.description === undefined ? value.description : body.description || null,
      config: resolveConfig(body.config, value.config),
      metadata,
      ...(body.scope ? { scope: body.scope } : {}),
      updatedAt: deps.clock.now(),
    };
    const replaced = await environments.replace(deps, changed, rev);
    if (replaced.kind === 'conflict') {
      throw new ServiceError('conflict', 'the environment was changed by another request at the same time', {}, 1);
    }
    return json(request, environmentView(changed));
  },
);

/** For whatever an archived environment is not to be used. */
export const archivedError = (id: string): ServiceError =>
  new ServiceError('invalid_request', `the environment ${id} is archived`, { error_code: 'environment_archived' });

const archive = defineRoute(
  {
    method: 'post',
    path: '/v1/environments/{environment_id}/archive',
    operationId: 'archiveEnvironment',
    summary: 'Archive an environment',
    description: 'It becomes read-only and gets no new sessions.',
    tag,
    answers,
  },
  async (request) => {
    const { service, caller } = request;
    const deps = logDeps(service, caller.tenant);
    for (;;) {
      const { value, rev } = await findEnvironment(request, request.param('environment_id'));
      if (value.archivedAt !== null) return json(request, environmentView(value));
      const archived: Environment = { ...value, archivedAt: deps.clock.now() };
      const replaced = await environments.replace(deps, archived, rev);
      if (replaced.kind === 'ok') return json(request, environmentView(archived));
    }
  },
);

const remove = defineRoute(
  {
    method: 'delete',
    path: '/v1/environments/{environment_id}',
    operationId: 'deleteEnvironment',
    summary: 'Delete an environment',
    description: 'Refused while any session uses it.',
    tag,
    answers: { 200: { description: 'It is gone', schema: EnvironmentDeleted } },
  },
  async (request) => {
    const { service, caller } = request;
    const { store } = logDeps(service, caller.tenant);
    const { value } = await findEnvironment(request, request.param('environment_id'));
    for (let after: string | undefined; ; ) {
      const rows = await listSessions(store, { ...(after === undefined ? {} : { after }), limit: SESSIONS_PER_PAGE });
      const user = rows.find(({ session }) => session.environmentId === value.id);
      if (user) {
        const message = `the environment ${value.id} is used by a session (${user.session.id}); delete that first`;
        throw new ServiceError('invalid_request', message);
      }
      if (rows.length < SESSIONS_PER_PAGE) break;
      after = rows.at(-1)?.session.id;
    }
    await environments.remove(store, value.id);
    return json(request, { id: value.id, type: 'environment_deleted' });
  },
);

export const ENVIRONMENT_ROUTES: readonly Route[] = [create, list, retrieve, update, archive, remove];
