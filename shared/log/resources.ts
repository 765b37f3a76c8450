// Agents with all their versions, environments, files and API keys as items. Every change names the rev it was made from:
// losing a race is a returned value. Listings are in order of creation, since ids sort by time.

import type { Item, Key, ListOptions, Store } from '../ports/store.ts';
import { type AgentId, ID_PREFIX } from '../types/ids.ts';
import type { Agent, AgentVersion, ApiKey, Environment, StoredFile } from '../types/session.ts';
import type { LogDeps } from './deps.ts';

type WriteDeps = Pick<LogDeps, 'store' | 'ids'>;

/** A resource and the rev that a change of it must name. */
export interface Stored<T> {
  readonly value: T;
  readonly rev: string;
}

export type Changed<T> =
  | { readonly kind: 'ok'; readonly rev: string }
  /** Someone changed it since; `current` is what stands, undefined where it is gone. */
  | { readonly kind: 'conflict'; readonly current: Stored<T> | undefined };

export type PageOptions = Omit<ListOptions, 'prefix'>;

/** The items of one kind. `create` throws where the id is taken, since ids are unique; `list` takes an id as `after`. */
export interface ResourceItems<T, Id extends string> {
  create(deps: WriteDeps, value: T): Promise<Stored<T>>;
  read(store: Store, id: Id): Promise<Stored<T> | undefined>;
  replace(deps: WriteDeps, value: T, rev: string): Promise<Changed<T>>;
  remove(store: Store, id: Id): Promise<void>;
  list(store: Store, options: PageOptions): Promise<readonly Stored<T>[]>;
}

export const environments: ResourceItems<Environment, Environment['id']> = itemsOf('environments', (e) => e.id);
export const files: ResourceItems<StoredFile, StoredFile['id']> = itemsOf('files', (f) => f.id);

function itemsOf<T, Id extends string>(partition: string, idOf: (value: T) => Id): ResourceItems<T, Id> {
  const keyOf = (id: Id): Key => ({ partition, sort: id });
  return {
    async create({ store, ids }, value) {
      const rev = ids.nonce();
      const put = await store.put(keyOf(idOf(value)), { rev, data: value }, 'absent');
      if (!put.ok && put.current?.rev !== rev) throw new Error('an id was used twice');
      return { value, rev };
    },
    async read(store, id) {
      const item = await store.get(keyOf(id));
      return item && storedOf<T>(item);
    },
    async replace({ store, ids }, value, rev) {
      const next = ids.nonce();
      const put = await store.put(keyOf(idOf(value)), { rev: next, data: value }, { rev });
      if (put.ok || put.current?.rev === next) return { kind: 'ok', rev: next };
      return { kind: 'conflict', current: put.current && storedOf<T>(put.current) };
    },
    async remove(store, id) {
      await store.delete(keyOf(id), 'any');
    },
    async list(store, options) {
      return (await store.list(partition, options)).map((row) => storedOf<T>(row));
    },
  };
}

/** We wrote it from a checked value; only what no version of ours could have written is refused here. */
function storedOf<T>(item: Item): Stored<T> {
  if (typeof item.data !== 'object' || item.data === null) throw new Error('a stored resource is damaged');
  return { value: item.data as T, rev: item.rev };
}

// ---- agents: the head holds the latest version, and every version stands beside it for good -------------------------------

const AGENTS = 'agents';
const VERSION_DIGITS = 8;

const agentKey = (id: AgentId): Key => ({ partition: AGENTS, sort: id });
const versionsOf = (id: AgentId): string => `agent/${id.slice(ID_PREFIX.agent.length)}`;
const versionSort = (version: number): string => String(version).padStart(VERSION_DIGITS, '0');
const versionKey = ({ id, version }: AgentVersion): Key => ({ partition: versionsOf(id), sort: versionSort(version) });

/** Stores a new agent with its first version. */
export async function createAgent({ store, ids }: WriteDeps, agent: Agent): Promise<Stored<Agent>> {
  const rev = ids.nonce();
  const put = await store.putAll([
    { key: agentKey(agent.latest.id), item: { rev, data: agent }, expect: 'absent' },
    { key: versionKey(agent.latest), item: { rev, data: agent.latest }, expect: 'absent' },
  ]);
  if (!put.ok && put.current?.rev !== rev) throw new Error('an id was used twice');
  return { value: agent, rev };
}

export async function readAgent(store: Store, id: AgentId): Promise<Stored<Agent> | undefined> {
  const item = await store.get(agentKey(id));
  return item && storedOf<Agent>(item);
}

/** One version, or undefined where there is no such version of this agent. */
export async function readAgentVersion(store: Store, id: AgentId, version: number): Promise<AgentVersion | undefined> {
  if (!Number.isInteger(version) || version < 1) return undefined;
  const item = await store.get({ partition: versionsOf(id), sort: versionSort(version) });
  return item && storedOf<AgentVersion>(item).value;
}

/** Replaces the agent as it stood at `rev`; where `agent.latest` is a new version, that is kept too. */
export async function replaceAgent({ store, ids }: WriteDeps, agent: Agent, rev: string): Promise<Changed<Agent>> {
  const next = ids.nonce();
  const put = await store.putAll([
    { key: agentKey(agent.latest.id), item: { rev: next, data: agent }, expect: { rev } },
    { key: versionKey(agent.latest), item: { rev: next, data: agent.latest }, expect: 'any' },
  ]);
  if (put.ok || put.current?.rev === next) return { kind: 'ok', rev: next };
  return { kind: 'conflict', current: put.current && storedOf<Agent>(put.current) };
}

/** Agents in order of creation (newest first when `reverse`), archived ones included; `after` is an agent id. */
export async function listAgents(store: Store, options: PageOptions): Promise<readonly Stored<Agent>[]> {
  return (await store.list(AGENTS, options)).map((row) => storedOf<Agent>(row));
}

/** Versions of one agent, oldest first (newest first when `reverse`); `after` is a version number, exclusive. */
export async function listAgentVersions(
  store: Store,
  id: AgentId,
  options: { readonly after?: number; readonly reverse?: boolean; readonly limit: number },
): Promise<readonly AgentVersion[]> {
  const { after, ...rest } = options;
  const page: PageOptions = after === undefined ? rest : { ...rest, after: versionSort(after) };
  return (await store.list(versionsOf(id), page)).map((row) => storedOf<AgentVersion>(row).value);
}

// ---- API keys: found by the hash of the key, in the installation's own store ----------------------------------------------

const KEYS = 'keys';

/** Stores a key's record under the hash of the key; the key itself is never stored. The same hash again replaces the record. */
export async function saveApiKey({ store, ids }: WriteDeps, hash: string, key: ApiKey): Promise<void> {
  await store.put({ partition: KEYS, sort: hash }, { rev: ids.nonce(), data: key }, 'any');
}

export async function readApiKey(store: Store, hash: string): Promise<ApiKey | undefined> {
  const item = await store.get({ partition: KEYS, sort: hash });
  return item && storedOf<ApiKey>(item).value;
}

/** Keys with the hash under which each lies, in the order of the hashes; `after` is a hash. */
export async function listApiKeys(
  store: Store,
  options: PageOptions,
): Promise<readonly { readonly hash: string; readonly key: ApiKey }[]> {
  const rows = await store.list(KEYS, options);
  return rows.map((row) => ({ hash: row.key.sort, key: storedOf<ApiKey>(row).value }));
}

export async function removeApiKey(store: Store, hash: string): Promise<void> {
  await store.delete({ partition: KEYS, sort: hash }, 'any');
}
