// Agents and environments through the official SDK: versions, updates, metadata rules, archive and delete.

import Anthropic, { BadRequestError, ConflictError, NotFoundError } from '@anthropic-ai/sdk';
import { describe, expect, test } from 'vitest';
import { useHarness } from '../support/harness.ts';
import { customTool, TOOLSET } from '../support/sessions.ts';

const harness = useHarness();
const agents = () => harness.client().beta.agents;
const environments = () => harness.client().beta.environments;
const model = 'claude-opus-5-5';

describe('agents', () => {
  test('a new one is version 1 with everything filled in', async () => {
    const agent = await agents().create({
      name: 'Analyst',
      model: { id: model, effort: 'high' },
      system: 'Be brief.',
      tools: [
        { ...TOOLSET, configs: [{ name: 'bash', permission_policy: { type: 'always_ask' } }] },
        customTool('weather'),
      ],
      metadata: { team: 'data' },
    });
    expect(agent).toMatchObject({
      type: 'agent',
      version: 1,
      name: 'Analyst',
      description: null,
      system: 'Be brief.',
      model: { id: model, effort: { type: 'high' }, speed: 'standard' },
      skills: [],
      mcp_servers: [],
      multiagent: null,
      metadata: { team: 'data' },
      execution_identity: { type: 'service_account' },
      archived_at: null,
    });
    expect(agent.id).toMatch(/^agent_/);
    const [toolset, custom] = agent.tools;
    expect(toolset).toMatchObject({
      type: 'agent_toolset_20260401',
      default_config: { enabled: true, permission_policy: { type: 'always_allow' } },
    });
    if (toolset?.type !== 'agent_toolset_20260401') throw new Error('no toolset');
    expect(toolset.configs.find((c) => c.name === 'bash')).toEqual({
      type: 'bash',
      name: 'bash',
      enabled: true,
      permission_policy: { type: 'always_ask' },
    });
    expect(custom).toMatchObject({ type: 'custom', name: 'weather' });
    expect(await agents().retrieve(agent.id)).toEqual(agent);
  });

  test('an update makes a version, keeps what is omitted and merges metadata; old versions stay', async () => {
    const first = await agents().create({ name: 'A', model, system: 'one', metadata: { keep: '1', drop: '2' } });
    const second = await agents().update(first.id, {
      version: 1,
      system: 'two',
      metadata: { drop: null, add: '3' },
    });
    expect(second).toMatchObject({ version: 2, name: 'A', system: 'two', metadata: { keep: '1', add: '3' } });
    expect(second.metadata).not.toHaveProperty('drop');
    expect(await agents().retrieve(first.id, { version: 1 })).toMatchObject({ version: 1, system: 'one' });
    expect(await agents().retrieve(first.id)).toMatchObject({ version: 2 });
    const versions = await agents().versions.list(first.id);
    expect(versions.data.map((v) => v.version)).toEqual([2, 1]);
  });

  test('an update that changes nothing makes no version; null and "" clear', async () => {
    const agent = await agents().create({ name: 'A', model, system: 'one', description: 'd', tools: [TOOLSET] });
    expect((await agents().update(agent.id, { system: 'one', name: 'A' })).version).toBe(1);
    const cleared = await agents().update(agent.id, { system: null, description: '', tools: [] });
    expect(cleared).toMatchObject({ version: 2, system: null, description: null, tools: [] });
  });

  test('a stale version is a 409, also where nothing would change', async () => {
    const agent = await agents().create({ name: 'A', model });
    await agents().update(agent.id, { name: 'B' });
    await expect(agents().update(agent.id, { version: 1, name: 'B' })).rejects.toThrow(ConflictError);
  });

  test('two updates at once on one version: one wins, one is told', async () => {
    const agent = await agents().create({ name: 'A', model });
    const both = await Promise.allSettled([
      agents().update(agent.id, { version: 1, name: 'B' }),
      agents().update(agent.id, { version: 1, name: 'C' }),
    ]);
    expect(both.map((r) => r.status).sort()).toEqual(['fulfilled', 'rejected']);
    expect((await agents().retrieve(agent.id)).version).toBe(2);
  });

  test('an archived agent is read-only, hidden from lists, and gets no new sessions', async () => {
    const agent = await agents().create({ name: 'Old', model });
    const environment = await environments().create({ name: 'e' });
    const sessions = harness.client().beta.sessions;
    const running = await sessions.create({ agent: agent.id, environment_id: environment.id });
    const archived = await agents().archive(agent.id);
    expect(archived.archived_at).not.toBeNull();
    await expect(agents().update(agent.id, { name: 'New' })).rejects.toThrow(BadRequestError);
    await expect(sessions.create({ agent: agent.id, environment_id: environment.id })).rejects.toThrow(BadRequestError);
    expect((await sessions.retrieve(running.id)).status).toBe('idle');
    const ids = async (hidden: boolean) =>
      (await agents().list({ include_archived: hidden, limit: 1000 })).data.map((a) => a.id);
    expect(await ids(false)).not.toContain(agent.id);
    expect(await ids(true)).toContain(agent.id);
  });

  test('a list walks its pages newest first and meets each agent once', async () => {
    const made: string[] = [];
    for (let n = 0; n < 7; n += 1) made.push((await agents().create({ name: `page ${n}`, model })).id);
    const seen: string[] = [];
    for await (const agent of agents().list({ limit: 3 })) seen.push(agent.id);
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen.filter((id) => made.includes(id))).toEqual(made.toReversed());
  });

  test.each([
    ['17 metadata pairs', { metadata: Object.fromEntries(Array.from({ length: 17 }, (_, n) => [`k${n}`, 'v'])) }],
    ['a metadata key of 65 characters', { metadata: { ['k'.repeat(65)]: 'v' } }],
    ['a metadata value of 513 characters', { metadata: { k: 'v'.repeat(513) } }],
    ['a metadata value that is no string', { metadata: { k: 1 as unknown as string } }],
    ['an empty name', { name: '' }],
    ['a name of 257 characters', { name: 'n'.repeat(257) }],
    ['a description of 2,049 characters', { description: 'd'.repeat(2049) }],
    ['a system of 100,001 characters', { system: 's'.repeat(100_001) }],
    ['a model that is no string', { model: 7 as unknown as string }],
    ['a custom tool with a built-in name', { tools: [TOOLSET, customTool('bash')] }],
    ['two custom tools of one name', { tools: [customTool('a'), customTool('a')] }],
    ['a custom tool with a bad name', { tools: [customTool('no spaces')] }],
    ['an unknown tool type', { tools: [{ type: 'robot' } as unknown as typeof TOOLSET] }],
    ['an unknown built-in tool', { tools: [{ ...TOOLSET, configs: [{ name: 'fly' as 'bash' }] }] }],
    ['an MCP toolset without its server', { tools: [{ type: 'mcp_toolset' as const, mcp_server_name: 'x' }] }],
  ])('%s is a 400 that names the field', async (_what, wrong) => {
    const error = await agents()
      .create({ name: 'A', model, ...wrong })
      .then(
        () => undefined,
        (e: unknown) => e,
      );
    expect(error).toBeInstanceOf(BadRequestError);
    const [field] = Object.keys(wrong);
    expect((error as BadRequestError).message).toContain(field);
    expect((error as BadRequestError).type).toBe('invalid_request_error');
  });

  test('unknown fields are ignored', async () => {
    const params = { name: 'A', model, colour: 'red' } as Parameters<ReturnType<typeof agents>['create']>[0];
    expect(await agents().create(params)).not.toHaveProperty('colour');
  });
});

describe('environments', () => {
  test('a cloud one is the default, fully resolved', async () => {
    const environment = await environments().create({ name: 'plain' });
    expect(environment).toMatchObject({
      type: 'environment',
      name: 'plain',
      description: null,
      metadata: {},
      archived_at: null,
      config: {
        type: 'cloud',
        networking: { type: 'unrestricted' },
        packages: { apt: [], cargo: [], gem: [], go: [], npm: [], pip: [] },
      },
    });
    expect(environment.id).toMatch(/^env_/);
    expect(await environments().retrieve(environment.id)).toEqual(environment);
  });

  test('an update merges; the type of its config is fixed', async () => {
    const environment = await environments().create({
      name: 'e',
      metadata: { a: '1', b: '2' },
      config: { type: 'cloud', networking: { type: 'limited', allowed_hosts: ['example.com'] } },
    });
    expect(environment.config).toMatchObject({
      networking: { allowed_hosts: ['example.com'], allow_package_managers: false, allow_mcp_servers: false },
    });
    const updated = await environments().update(environment.id, { description: 'd', metadata: { a: null, c: '3' } });
    expect(updated).toMatchObject({ name: 'e', description: 'd', metadata: { b: '2', c: '3' } });
    expect(updated.config).toEqual(environment.config);
    const wrong = environments().update(environment.id, { config: { type: 'self_hosted' } });
    await expect(wrong).rejects.toMatchObject({
      status: 400,
      error: { error: { details: { error_code: 'invalid_config_type_change' } } },
    });
  });

  test('an archived one is read-only and takes no sessions', async () => {
    const environment = await environments().create({ name: 'e' });
    const agent = await agents().create({ name: 'A', model });
    expect((await environments().archive(environment.id)).archived_at).not.toBeNull();
    await expect(environments().update(environment.id, { name: 'f' })).rejects.toThrow(BadRequestError);
    const create = harness.client().beta.sessions.create({ agent: agent.id, environment_id: environment.id });
    await expect(create).rejects.toThrow(Anthropic.BadRequestError);
  });

  test('one that a session uses cannot be deleted; after the session it can', async () => {
    const environment = await environments().create({ name: 'e' });
    const agent = await agents().create({ name: 'A', model });
    const sessions = harness.client().beta.sessions;
    const session = await sessions.create({ agent: agent.id, environment_id: environment.id });
    await expect(environments().delete(environment.id)).rejects.toThrow(BadRequestError);
    await sessions.delete(session.id);
    expect(await environments().delete(environment.id)).toEqual({ id: environment.id, type: 'environment_deleted' });
    await expect(environments().retrieve(environment.id)).rejects.toThrow(NotFoundError);
  });
});
