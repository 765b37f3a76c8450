// Agents: every change makes a version, versions stay for good, and an archived agent is read-only.

import { mergeMetadata } from '../../core/merge-metadata.ts';
import {
  createAgent,
  listAgents,
  listAgentVersions,
  readAgentVersion,
  replaceAgent,
  type Stored,
} from '../../log/resources.ts';
import { ServiceError } from '../../types/errors.ts';
import { agentId, ID_PREFIX } from '../../types/ids.ts';
import type { Agent, AgentVersion } from '../../types/session.ts';
import { resolveTools } from '../../wire/agent-tools.ts';
import {
  AgentPage,
  AgentQuery,
  AgentView,
  agentView,
  CreateAgent,
  ListAgentsQuery,
  ListVersionsQuery,
  resolveModel,
  resolveReprise,
  UpdateAgent,
} from '../../wire/agents.ts';
import { isInRange, sameJson } from '../../wire/common.ts';
import { tooMany } from '../../wire/limits.ts';
import { decodeCursor, encodeCursor } from '../../wire/pages.ts';
import { findAgent, notFound } from '../find.ts';
import { readPage } from '../paging.ts';
import { defineRoute, IDEMPOTENCY_HEADER, json, type Route } from '../route.ts';
import { logDeps } from '../service.ts';
import { answerOnce } from '../session/idempotent.ts';

const tag = 'Agents';
const answers = { 200: { description: 'The agent', schema: AgentView } } as const;

const create = defineRoute(
  {
    method: 'post',
    path: '/v1/agents',
    operationId: 'createAgent',
    summary: 'Create an agent',
    tag,
    body: CreateAgent,
    headers: [IDEMPOTENCY_HEADER],
    answers,
  },
  (request) =>
    answerOnce(request, 'POST /v1/agents', async () => {
      const { service, caller, body } = request;
      const deps = logDeps(service, caller.tenant);
      const now = deps.clock.now();
      const latest: AgentVersion = {
        id: agentId(ID_PREFIX.agent + deps.ids.ulid()),
        version: 1,
        name: body.name,
        description: body.description || null,
        model: resolveModel(body.model),
        system: body.system || null,
        tools: resolveTools(body.tools ?? []),
        mcpServers: [],
        reprise: resolveReprise(body.reprise),
        metadata: body.metadata ?? {},
        createdAt: now,
        updatedAt: now,
      };
      await createAgent(deps, { latest, archivedAt: null });
      return agentView(latest, null);
    }),
);

const retrieve = defineRoute(
  {
    method: 'get',
    path: '/v1/agents/{agent_id}',
    operationId: 'getAgent',
    summary: 'Get an agent',
    description: 'The latest version, or the one that `version` names.',
    tag,
    query: AgentQuery,
    answers,
  },
  async (request) => {
    const { service, caller, query } = request;
    const { value } = await findAgent(request, request.param('agent_id'));
    if (query.version === undefined || query.version === value.latest.version) {
      return json(request, agentView(value.latest, value.archivedAt));
    }
    const version = await readAgentVersion(logDeps(service, caller.tenant).store, value.latest.id, query.version);
    if (!version) throw notFound(`version ${query.version} of agent`, value.latest.id);
    return json(request, agentView(version, value.archivedAt));
  },
);

const list = defineRoute(
  {
    method: 'get',
    path: '/v1/agents',
    operationId: 'listAgents',
    summary: 'List agents',
    description: 'Newest first. Archived ones are left out unless `include_archived` is true.',
    tag,
    query: ListAgentsQuery,
    answers: { 200: { description: 'A page of agents', schema: AgentPage } },
  },
  async (request) => {
    const { service, caller, query } = request;
    const { store, limits } = logDeps(service, caller.tenant);
    const page = await readPage<Stored<Agent>, unknown>({
      list: 'agents',
      order: 'desc',
      limit: query.limit ?? limits.pageSizeDefault,
      page: query.page,
      fetch: (options) => listAgents(store, options),
      idOf: ({ value }) => value.latest.id,
      show: ({ value: { latest, archivedAt } }) => {
        const shown = (archivedAt === null || query.include_archived) && isInRange(latest.createdAt, query);
        return shown ? agentView(latest, archivedAt) : undefined;
      },
    });
    return json(request, { data: page.data, next_page: page.next_page });
  },
);

const update = defineRoute(
  {
    method: 'post',
    path: '/v1/agents/{agent_id}',
    operationId: 'updateAgent',
    summary: 'Update an agent',
    description: 'Omitted fields stay as they are. A change makes a new version; no change makes none.',
    tag,
    body: UpdateAgent,
    answers,
  },
  async (request) => {
    const { service, caller, body } = request;
    const deps = logDeps(service, caller.tenant);
    const stored = await findAgent(request, request.param('agent_id'));
    const { latest, archivedAt } = stored.value;
    if (archivedAt !== null) throw new ServiceError('invalid_request', `the agent ${latest.id} is archived`);
    if (body.version !== undefined && body.version !== latest.version) throw staleVersion(body.version, latest.version);
    const changed = changeAgent(latest, body);
    if (sameJson(changed, latest)) return json(request, agentView(latest, null));
    const next: AgentVersion = { ...changed, version: latest.version + 1, updatedAt: deps.clock.now() };
    const replaced = await replaceAgent(deps, { latest: next, archivedAt: null }, stored.rev);
    if (replaced.kind === 'conflict') throw staleVersion(latest.version, replaced.current?.value.latest.version ?? 0);
    return json(request, agentView(next, null));
  },
);

const staleVersion = (given: number, current: number): ServiceError =>
  new ServiceError('conflict', `version: the agent is at version ${current}, not ${given}`, { field: 'version' });

type Change = (typeof UpdateAgent)['_output'];

/** The version with the given fields in place of the old ones; null and "" clear. */
function changeAgent(before: AgentVersion, change: Change): AgentVersion {
  const metadata = mergeMetadata(before.metadata, change.metadata);
  if (metadata === null) throw tooMany('metadata', 'metadataPairsMax', 'pairs', 'invalid_metadata');
  return {
    ...before,
    name: change.name ?? before.name,
    model: change.model === undefined ? before.model : resolveModel(change.model, before.model),
    description: change.description === undefined ? before.description : change.description || null,
    system: change.system === undefined ? before.system : change.system || null,
    tools: change.tools === undefined ? before.tools : resolveTools(change.tools ?? []),
    reprise: change.reprise === undefined ? before.reprise : resolveReprise(change.reprise),
    metadata,
  };
}

const archive = defineRoute(
  {
    method: 'post',
    path: '/v1/agents/{agent_id}/archive',
    operationId: 'archiveAgent',
    summary: 'Archive an agent',
    description: 'For good: it becomes read-only and gets no new sessions; running ones go on.',
    tag,
    answers,
  },
  async (request) => {
    const { service, caller } = request;
    const deps = logDeps(service, caller.tenant);
    for (;;) {
      const stored = await findAgent(request, request.param('agent_id'));
      const { latest, archivedAt } = stored.value;
      if (archivedAt !== null) return json(request, agentView(latest, archivedAt));
      const agent: Agent = { latest, archivedAt: deps.clock.now() };
      const replaced = await replaceAgent(deps, agent, stored.rev);
      if (replaced.kind === 'ok') return json(request, agentView(latest, agent.archivedAt));
    }
  },
);

const versions = defineRoute(
  {
    method: 'get',
    path: '/v1/agents/{agent_id}/versions',
    operationId: 'listAgentVersions',
    summary: 'List the versions of an agent',
    description: 'Newest first.',
    tag,
    query: ListVersionsQuery,
    answers: { 200: { description: 'A page of versions', schema: AgentPage } },
  },
  async (request) => {
    const { service, caller, query } = request;
    const { store, limits } = logDeps(service, caller.tenant);
    const { value } = await findAgent(request, request.param('agent_id'));
    const { id } = value.latest;
    const name = `versions/${id}`;
    const limit = query.limit ?? limits.pageSizeDefault;
    const after = query.page === undefined ? undefined : Number(decodeCursor(query.page, name, 'desc').at);
    const options = { ...(after === undefined ? {} : { after }), reverse: true, limit: limit + 1 };
    const found = await listAgentVersions(store, id, options);
    const rows = found.slice(0, limit);
    const last = found.length > limit ? rows.at(-1) : undefined;
    return json(request, {
      data: rows.map((version) => agentView(version, value.archivedAt)),
      next_page: last ? encodeCursor({ list: name, order: 'desc', direction: 'next', at: String(last.version) }) : null,
    });
  },
);

export const AGENT_ROUTES: readonly Route[] = [create, list, retrieve, update, archive, versions];
