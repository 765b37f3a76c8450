// Resources by the id in a request, in the caller's tenant only: a foreign id is a 404 like an unknown one.

import { environments, files, readAgent, type Stored } from '../log/resources.ts';
import type { SessionSnapshot } from '../turn/engine-types.ts';
import { ServiceError } from '../types/errors.ts';
import { type AgentId, type EnvironmentId, type FileId, hasIdShape, ID_PREFIX, type SessionId } from '../types/ids.ts';
import type { Agent, Environment, StoredFile } from '../types/session.ts';
import { type Caller, logDeps, type Service } from './service.ts';

export interface Asker {
  readonly service: Service;
  readonly caller: Caller;
}

const shown = (id: string): string => id.slice(0, 80).replace(/[^\x20-\x7e]/g, '?');
const missing = (what: string, id: string, details?: { error_code: string }): ServiceError =>
  new ServiceError('not_found', `there is no ${what} ${shown(id)}`, details);

export async function findAgent({ service, caller }: Asker, id: string): Promise<Stored<Agent>> {
  const known = hasIdShape(id, ID_PREFIX.agent);
  const found = known ? await readAgent(logDeps(service, caller.tenant).store, id as AgentId) : undefined;
  if (!found) throw missing('agent', id);
  return found;
}

export async function findEnvironment({ service, caller }: Asker, id: string): Promise<Stored<Environment>> {
  const known = hasIdShape(id, ID_PREFIX.environment);
  const { store } = logDeps(service, caller.tenant);
  const found = known ? await environments.read(store, id as EnvironmentId) : undefined;
  if (!found) throw missing('environment', id, { error_code: 'environment_not_found' });
  return found;
}

export async function findSession(
  { service, caller }: Asker,
  id: string,
): Promise<{ readonly id: SessionId; readonly snapshot: SessionSnapshot }> {
  const known = hasIdShape(id, ID_PREFIX.session);
  const snapshot = known ? await service.engine.load(caller.tenant, id as SessionId) : undefined;
  if (snapshot === undefined || snapshot === 'deleted') throw missing('session', id);
  return { id: id as SessionId, snapshot };
}

/** An upload or a session's copy of one; outputs of sessions are no stored files. */
export async function findFile({ service, caller }: Asker, id: string): Promise<StoredFile> {
  const known = hasIdShape(id, ID_PREFIX.file);
  const { store, clock } = logDeps(service, caller.tenant);
  const found = known ? await files.read(store, id as FileId) : undefined;
  if (!found || isExpired(found.value, clock.now())) throw missing('file', id);
  return found.value;
}

export const isExpired = (file: StoredFile, now: number): boolean => file.expiresAt !== null && file.expiresAt <= now;

/** A 404 for something that is not stored under `id`. */
export const notFound = (what: string, id: string): ServiceError => missing(what, id);
