// A new session: everything is checked before anything is stored, so a refused request leaves nothing behind.

import { readAgentVersion } from '../../log/resources.ts';
import { createSession } from '../../log/sessions.ts';
import { ServiceError } from '../../types/errors.ts';
import { ID_PREFIX, type SessionId, sessionId } from '../../types/ids.ts';
import type { AgentSnapshot, AgentVersion, Environment, Session } from '../../types/session.ts';
import { resolveTools } from '../../wire/agent-tools.ts';
import { resolveModel, resolveReprise } from '../../wire/agents.ts';
import type { AgentChoice, CreateSession } from '../../wire/sessions.ts';
import { budgetOf } from '../../wire/usage.ts';
import { type Asker, findAgent, findEnvironment } from '../find.ts';
import { logDeps } from '../service.ts';
import { stampOf } from './change-session.ts';
import { checkMounts, copyMounts } from './mount-files.ts';
import { prepareBlocks, type Target } from './prepare-content.ts';

const wrong = (field: string, message: string, code?: string): ServiceError =>
  new ServiceError('invalid_request', `${field}: ${message}`, { field, ...(code ? { error_code: code } : {}) });

/** Stores the session and wakes whoever works on its first events. */
export async function makeSession(asker: Asker, body: CreateSession): Promise<Session> {
  const { service, caller } = asker;
  const deps = logDeps(service, caller.tenant);
  const agent = await chooseAgent(asker, body.agent);
  const environment = await chooseEnvironment(asker, body.environment_id);
  const inputs = (body.resources ?? []).map((input, i) => {
    if (input.type !== 'file') throw wrong(`resources[${i}].type`, 'not yet supported');
    return { input, field: `resources[${i}]` };
  });
  const mounts = await checkMounts(asker, inputs, []);
  const id = sessionId(ID_PREFIX.session + deps.ids.ulid());
  const initial = await prepareInitial({ ...asker, session: id }, body);
  const session: Session = {
    id,
    tenant: caller.tenant,
    agent,
    environmentId: environment.id,
    environmentType: environment.config.type,
    title: body.title ?? null,
    metadata: body.metadata ?? {},
    resources: await copyMounts(asker, id, mounts),
    budget: body.budget ? budgetOf(body.budget) : null,
    reprise: resolveReprise(body.reprise),
    createdAt: deps.clock.now(),
  };
  await createSession(deps, session, initial);
  if (initial.length > 0) await service.ports.wake.wake(caller.tenant, id, 0);
  return session;
}

async function prepareInitial(target: Target & { readonly session: SessionId }, body: CreateSession) {
  return Promise.all(
    (body.initial_events ?? []).map(async (event, i) => {
      if (event.type !== 'user.message') throw wrong(`initial_events[${i}].type`, 'not yet supported');
      const content = await prepareBlocks(target, event.content, `initial_events[${i}].content`);
      return { type: event.type, content: content.stored, ...stampOf(target.service) };
    }),
  );
}

async function chooseAgent(asker: Asker, choice: AgentChoice): Promise<AgentSnapshot> {
  const { id, version } = typeof choice === 'string' ? { id: choice, version: undefined } : choice;
  const { value } = await findAgent(asker, id).catch((error: unknown) => {
    if (error instanceof ServiceError)
      throw new ServiceError(error.code, `agent: ${error.message}`, { field: 'agent' });
    throw error;
  });
  const { latest, archivedAt } = value;
  if (archivedAt !== null) throw wrong('agent', `the agent ${latest.id} is archived and gets no new sessions`);
  const { store } = logDeps(asker.service, asker.caller.tenant);
  const chosen =
    version === undefined || version === latest.version ? latest : await readAgentVersion(store, latest.id, version);
  if (!chosen) {
    const message = `agent.version: there is no version ${version} of agent ${latest.id}`;
    throw new ServiceError('not_found', message, { field: 'agent.version' });
  }
  return overrideAgent(chosen, choice);
}

/** Overrides replace whole fields; null and empty lists clear. */
function overrideAgent(agent: AgentVersion, choice: AgentChoice): AgentSnapshot {
  const { metadata: _m, createdAt: _c, updatedAt: _u, ...snapshot } = agent;
  if (typeof choice === 'string' || choice.type === 'agent') return snapshot;
  return {
    ...snapshot,
    model: choice.model === undefined ? snapshot.model : resolveModel(choice.model),
    system: choice.system === undefined ? snapshot.system : choice.system || null,
    tools: choice.tools === undefined ? snapshot.tools : resolveTools(choice.tools ?? []),
  };
}

async function chooseEnvironment(asker: Asker, id: string): Promise<Environment> {
  const { value } = await findEnvironment(asker, id).catch((error: unknown) => {
    if (!(error instanceof ServiceError)) throw error;
    const details = { ...error.details, field: 'environment_id' };
    throw new ServiceError(error.code, `environment_id: ${error.message}`, details);
  });
  if (value.archivedAt !== null) {
    throw wrong('environment_id', `the environment ${value.id} is archived`, 'environment_archived');
  }
  const { driver } = asker.service.ports.sandbox;
  const { config } = value;
  if (config.type === 'self_hosted') {
    const message = 'environment_id: not yet supported: sessions in self_hosted environments';
    throw new ServiceError('unsupported', message, { field: 'environment_id' });
  }
  if (driver !== 'virtual') return value;
  const manager = Object.entries(config.packages).find(([, list]) => list.length > 0)?.[0];
  if (manager !== undefined) {
    const message = `the environment asks for config.packages.${manager}, and the sandbox driver ${driver} cannot install packages`;
    throw wrong('environment_id', message);
  }
  if (config.networking.type === 'limited') {
    const message = `the environment asks for config.networking of type limited, and the sandbox driver ${driver} cannot enforce it`;
    throw wrong('environment_id', message);
  }
  return value;
}
