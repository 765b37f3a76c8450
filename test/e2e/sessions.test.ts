// Sessions through the official SDK: creation in all its forms, overrides, initial events, updates, pages both ways, archive, delete.

import { BadRequestError, NotFoundError } from '@anthropic-ai/sdk';
import { beforeAll, describe, expect, test } from 'vitest';
import { useHarness } from '../support/harness.ts';
import {
  createSession,
  customTool,
  listAll,
  only,
  runTurn,
  TOOLSET,
  typesOf,
  userText,
  waitFor,
} from '../support/sessions.ts';

const harness = useHarness();
const sessions = () => harness.client().beta.sessions;
const model = 'claude-opus-5-5';
let agent = '';
let environment = '';

beforeAll(async () => {
  const { beta } = harness.client();
  agent = (await beta.agents.create({ name: 'A', model, system: 'base', tools: [TOOLSET] })).id;
  environment = (await beta.environments.create({ name: 'e' })).id;
});

const idle = (id: string) =>
  waitFor('the session to be idle', async () => {
    const session = await sessions().retrieve(id);
    return session.status === 'idle' ? session : undefined;
  });

describe('creating', () => {
  test('by agent id: idle, the latest version, everything present', async () => {
    const session = await sessions().create({ agent, environment_id: environment, title: 'T', metadata: { k: 'v' } });
    expect(session).toMatchObject({
      type: 'session',
      status: 'idle',
      title: 'T',
      metadata: { k: 'v' },
      environment_id: environment,
      vault_ids: [],
      resources: [],
      outcome_evaluations: [],
      budget: null,
      archived_at: null,
      agent: { type: 'agent', id: agent, version: 1, name: 'A', system: 'base', multiagent: null },
    });
    expect(session.id).toMatch(/^sesn_/);
    expect(await sessions().retrieve(session.id)).toMatchObject({ id: session.id, agent: session.agent });
  });

  test('a session keeps the snapshot it was made with; a version can be asked for', async () => {
    const { beta } = harness.client();
    const own = await beta.agents.create({ name: 'B', model, system: 'one' });
    const before = await sessions().create({ agent: own.id, environment_id: environment });
    await beta.agents.update(own.id, { system: 'two' });
    const after = await sessions().create({ agent: own.id, environment_id: environment });
    const pinned = await sessions().create({
      agent: { type: 'agent', id: own.id, version: 1 },
      environment_id: environment,
    });
    expect((await sessions().retrieve(before.id)).agent.system).toBe('one');
    expect(after.agent).toMatchObject({ version: 2, system: 'two' });
    expect(pinned.agent).toMatchObject({ version: 1, system: 'one' });
  });

  test('overrides replace whole fields for this session only', async () => {
    const session = await sessions().create({
      agent: { type: 'agent_with_overrides', id: agent, system: null, tools: [customTool('weather')] },
      environment_id: environment,
    });
    expect(session.agent).toMatchObject({ id: agent, version: 1, system: null, tools: [{ name: 'weather' }] });
    expect((await harness.client().beta.agents.retrieve(agent)).system).toBe('base');
    const noModel = { type: 'agent_with_overrides', id: agent, model: null } as unknown as typeof agent;
    await expect(sessions().create({ agent: noModel, environment_id: environment })).rejects.toThrow(BadRequestError);
  });

  test('initial events start the work at once and are listed with ids', async () => {
    const session = await sessions().create({
      agent,
      environment_id: environment,
      initial_events: [userText('hello') as never],
    });
    expect(session.status).toBe('running');
    await idle(session.id);
    const events = await listAll(harness.client(), session.id);
    expect(only(events, 'user.message')).toHaveLength(1);
    expect(typesOf(events).at(-1)).toBe('session.status_idle');
    expect(only(events, 'agent.message').length).toBeGreaterThan(0);
  });

  test('wrong initial events make no session at all', async () => {
    const before = (await sessions().list({ limit: 1000 })).data.length;
    const wrong = [userText('ok'), { type: 'user.message', content: [] }] as never[];
    await expect(sessions().create({ agent, environment_id: environment, initial_events: wrong })).rejects.toThrow(
      /initial_events\[1\]/,
    );
    expect((await sessions().list({ limit: 1000 })).data).toHaveLength(before);
  });

  test.each([
    ['an unknown agent', { agent: 'agent_00000000000000000000000000' }],
    ['an unknown version', { agent: { type: 'agent' as const, id: '', version: 99 } }],
    ['an unknown environment', { environment_id: 'env_00000000000000000000000000' }],
    ['a metadata value too long', { metadata: { k: 'v'.repeat(513) } }],
    ['an unknown file', { resources: [{ type: 'file' as const, file_id: 'file_00000000000000000000000000' }] }],
    ['vaults', { vault_ids: ['vlt_1'] }],
    ['a memory store', { resources: [{ type: 'memory_store' as const, memory_store_id: 'memstore_1' }] }],
  ])('%s is refused by a clear answer', async (_what, wrong) => {
    const params = { agent, environment_id: environment, ...wrong };
    const withAgent = typeof params.agent === 'object' ? { ...params, agent: { ...params.agent, id: agent } } : params;
    const error = await sessions()
      .create(withAgent)
      .then(
        () => undefined,
        (e: unknown) => e,
      );
    expect([400, 404]).toContain((error as BadRequestError).status);
    expect((error as BadRequestError).message.length).toBeGreaterThan(20);
  });
});

describe('changing', () => {
  test('title and metadata: merged, reported by session.updated with what changed', async () => {
    const { id } = await sessions().create({ agent, environment_id: environment, metadata: { a: '1', b: '2' } });
    const updated = await sessions().update(id, { title: 'New', metadata: { a: null, c: '3' } });
    expect(updated).toMatchObject({ title: 'New', metadata: { b: '2', c: '3' } });
    const [event] = only(await listAll(harness.client(), id), 'session.updated');
    expect(event).toMatchObject({ title: 'New', metadata: { b: '2', c: '3' } });
    expect(event).not.toHaveProperty('agent');
    await sessions().update(id, { title: 'New' });
    expect(only(await listAll(harness.client(), id), 'session.updated')).toHaveLength(1);
  });

  test('tools: while idle, for this session alone', async () => {
    const { id } = await sessions().create({ agent, environment_id: environment });
    const updated = await sessions().update(id, { agent: { tools: [customTool('weather')] } });
    expect(updated.agent.tools).toMatchObject([{ type: 'custom', name: 'weather' }]);
    expect(updated.agent.system).toBe('base');
    const [event] = only(await listAll(harness.client(), id), 'session.updated');
    expect(event?.agent).toMatchObject({ id: agent, tools: [{ name: 'weather' }] });
    await expect(sessions().update(id, { vault_ids: ['vlt_1'] })).rejects.toThrow(BadRequestError);
  });
});

describe('listing', () => {
  test('pages go forth and back over the same rows, newest first or oldest first', async () => {
    const own = (await harness.client().beta.agents.create({ name: 'L', model })).id;
    const made: string[] = [];
    for (let n = 0; n < 8; n += 1) {
      made.push((await sessions().create({ agent: own, environment_id: environment })).id);
    }
    for (const order of ['desc', 'asc'] as const) {
      const expected = order === 'asc' ? made : made.toReversed();
      const first = await sessions().list({ agent_id: own, limit: 3, order });
      expect(first.prev_page).toBeNull();
      const second = await sessions().list({ agent_id: own, limit: 3, order, page: first.next_page });
      const third = await sessions().list({ agent_id: own, limit: 3, order, page: second.next_page });
      expect([first, second, third].flatMap((p) => p.data.map((s) => s.id))).toEqual(expected);
      expect(third.next_page).toBeNull();
      const back = await sessions().list({ agent_id: own, limit: 3, order, page: third.prev_page });
      expect(back.data.map((s) => s.id)).toEqual(expected.slice(3, 6));
      const start = await sessions().list({ agent_id: own, limit: 3, order, page: back.prev_page });
      expect(start.data.map((s) => s.id)).toEqual(expected.slice(0, 3));
      expect(start.prev_page).toBeNull();
    }
  });

  test('a cursor of another order is a 400, and so is one that is none', async () => {
    const { next_page } = await sessions().list({ limit: 1, order: 'desc' });
    await expect(sessions().list({ limit: 1, order: 'asc', page: next_page })).rejects.toThrow(BadRequestError);
    await expect(sessions().list({ page: 'nonsense' })).rejects.toThrow(BadRequestError);
    await expect(sessions().list({ limit: 0 })).rejects.toThrow(/limit/);
    await expect(sessions().list({ statuses: ['asleep' as 'idle'] })).rejects.toThrow(/statuses/);
  });

  test('filters: status, agent version, creation time', async () => {
    const own = (await harness.client().beta.agents.create({ name: 'F', model })).id;
    const { id, created_at } = await sessions().create({ agent: own, environment_id: environment });
    const ids = async (filter: Parameters<ReturnType<typeof sessions>['list']>[0]) =>
      (await sessions().list({ agent_id: own, ...filter })).data.map((s) => s.id);
    expect(await ids({ statuses: ['idle', 'running'] })).toEqual([id]);
    expect(await ids({ statuses: ['terminated'] })).toEqual([]);
    expect(await ids({ agent_version: 1 })).toEqual([id]);
    expect(await ids({ agent_version: 2 })).toEqual([]);
    expect(await ids({ 'created_at[gte]': created_at })).toEqual([id]);
    expect(await ids({ 'created_at[gt]': created_at })).toEqual([]);
    expect(await ids({ 'created_at[lt]': created_at })).toEqual([]);
  });
});

describe('ending', () => {
  test('archive: terminated for good, history kept, no new events', async () => {
    const id = await createSession(harness.client());
    await runTurn(harness.client(), id, userText('hello'));
    const archived = await sessions().archive(id);
    expect(archived.status).toBe('terminated');
    expect(archived.archived_at).not.toBeNull();
    const events = await listAll(harness.client(), id);
    expect(typesOf(events).at(-1)).toBe('session.status_terminated');
    expect(only(events, 'agent.message').length).toBeGreaterThan(0);
    await expect(sessions().events.send(id, { events: [userText('more')] })).rejects.toThrow(BadRequestError);
    const listed = async (hidden: boolean) =>
      (await sessions().list({ limit: 1000, include_archived: hidden })).data.some((s) => s.id === id);
    expect(await listed(false)).toBe(false);
    expect(await listed(true)).toBe(true);
  });

  test('delete: announced on open streams, which end; then 404 everywhere', async () => {
    const id = await createSession(harness.client());
    const stream = await sessions().events.stream(id);
    const reading = Array.fromAsync(stream);
    expect(await sessions().delete(id)).toEqual({ id, type: 'session_deleted' });
    expect(typesOf(await reading).at(-1)).toBe('session.deleted');
    await expect(sessions().retrieve(id)).rejects.toThrow(NotFoundError);
    await expect(sessions().events.list(id)).rejects.toThrow(NotFoundError);
    await expect(sessions().events.stream(id)).rejects.toThrow(NotFoundError);
    await expect(sessions().events.send(id, { events: [userText('hi')] })).rejects.toThrow(NotFoundError);
    await expect(sessions().delete(id)).rejects.toThrow(NotFoundError);
  });
});
