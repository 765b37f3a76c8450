// Agents with versions, environments, files, API keys: revisions decide, listings are in order of creation.

import { describe, expect, test } from 'vitest';
import {
  createAgent,
  environments,
  listAgents,
  listAgentVersions,
  listApiKeys,
  readAgent,
  readAgentVersion,
  readApiKey,
  removeApiKey,
  replaceAgent,
  saveApiKey,
} from '../../shared/log/resources.ts';
import type { AgentId } from '../../shared/types/ids.ts';
import type { Agent, AgentVersion, ApiKey, Environment } from '../../shared/types/session.ts';
import { agent as snapshot } from '../core/builders.ts';
import { loseReplies, makeWorld, TENANT } from './world.ts';

const AT = makeWorld().deps.clock.now();

const agentOf = (id: AgentId, version = 1, name = 'n'): Agent => {
  const latest: AgentVersion = { ...snapshot(), id, version, name, metadata: {}, createdAt: AT, updatedAt: AT };
  return { latest, archivedAt: null };
};

describe('agents', () => {
  test('keep every version; a change needs the rev it was made from', async () => {
    const { deps, store } = makeWorld();
    const id = `agent_${deps.ids.ulid()}` as AgentId;
    const { rev } = await createAgent(deps, agentOf(id));
    const changed = await replaceAgent(deps, agentOf(id, 2, 'second'), rev);
    if (changed.kind !== 'ok') throw new Error('conflict');
    expect(await replaceAgent(deps, agentOf(id, 2, 'other'), rev)).toEqual({
      kind: 'conflict',
      current: { value: agentOf(id, 2, 'second'), rev: changed.rev },
    });
    expect(await readAgent(store, id)).toEqual({ value: agentOf(id, 2, 'second'), rev: changed.rev });
    expect((await readAgentVersion(store, id, 1))?.name).toBe('n');
    expect((await readAgentVersion(store, id, 2))?.name).toBe('second');
    for (const none of [0, 3, -1, 1.5, Number.NaN]) expect(await readAgentVersion(store, id, none)).toBeUndefined();
    for (let version = 3; version <= 12; version++) {
      const stored = await readAgent(store, id);
      await replaceAgent(deps, agentOf(id, version), stored?.rev ?? '');
    }
    const versions = async (options: Parameters<typeof listAgentVersions>[2]) =>
      (await listAgentVersions(store, id, options)).map((v) => v.version);
    expect(await versions({ limit: 3 })).toEqual([1, 2, 3]);
    expect(await versions({ limit: 3, after: 9 })).toEqual([10, 11, 12]);
    expect(await versions({ limit: 3, reverse: true, after: 11 })).toEqual([10, 9, 8]);
  });

  test('are listed in order of creation, for their tenant only', async () => {
    const { deps, store, storage } = makeWorld();
    const ids = Array.from({ length: 5 }, () => `agent_${deps.ids.ulid()}` as AgentId);
    for (const id of ids) await createAgent({ ...deps, store: loseReplies(store) }, agentOf(id));
    const list = async (options: Parameters<typeof listAgents>[1]) =>
      (await listAgents(store, options)).map((a) => a.value.latest.id);
    expect(await list({ limit: 3 })).toEqual(ids.slice(0, 3));
    expect(await list({ limit: 3, reverse: true, after: ids[2] as string })).toEqual([ids[1], ids[0]]);
    const other = storage.forTenant('other' as typeof TENANT);
    expect(await listAgents(other, { limit: 9 })).toEqual([]);
    expect(await readAgent(other, ids[0] as AgentId)).toBeUndefined();
    await expect(createAgent(deps, agentOf(ids[0] as AgentId))).rejects.toThrow('twice');
  });
});

describe('environments', () => {
  const environment = (id: Environment['id'], name: string): Environment => ({
    id,
    name,
    description: null,
    config: { type: 'self_hosted' },
    metadata: {},
    createdAt: AT,
    updatedAt: AT,
    archivedAt: null,
  });

  test('are created, read, replaced at their rev, listed and removed', async () => {
    const { deps, store } = makeWorld();
    const ids = [1, 2, 3].map(() => `env_${deps.ids.ulid()}` as Environment['id']);
    const [id] = ids as [Environment['id']];
    for (const each of ids) await environments.create(deps, environment(each, 'a'));
    const stored = await environments.read(store, id);
    expect(stored?.value).toEqual(environment(id, 'a'));
    const changed = await environments.replace(deps, environment(id, 'b'), stored?.rev ?? '');
    expect(changed.kind).toBe('ok');
    expect(await environments.replace(deps, environment(id, 'c'), stored?.rev ?? '')).toMatchObject({
      kind: 'conflict',
      current: { value: { name: 'b' } },
    });
    expect((await environments.list(store, { limit: 2 })).map((e) => e.value.id)).toEqual(ids.slice(0, 2));
    await environments.remove(store, id);
    expect(await environments.read(store, id)).toBeUndefined();
    expect(await environments.replace(deps, environment(id, 'd'), 'x')).toEqual({
      kind: 'conflict',
      current: undefined,
    });
  });
});

describe('API keys', () => {
  test('lie in the installation under their hash', async () => {
    const { deps, storage } = makeWorld();
    const system = { ...deps, store: storage.system };
    const key: ApiKey = { id: 'key_1', name: 'first', tenant: TENANT, scopes: ['api'], createdAt: AT };
    await saveApiKey(system, 'hash', key);
    expect(await readApiKey(storage.system, 'hash')).toEqual(key);
    expect(await readApiKey(deps.store, 'hash')).toBeUndefined();
    expect(await listApiKeys(storage.system, { limit: 5 })).toEqual([{ hash: 'hash', key }]);
    await removeApiKey(storage.system, 'hash');
    expect(await readApiKey(storage.system, 'hash')).toBeUndefined();
  });
});
