// Junk at any place of any request body: the answer is a right one or a clear refusal, never a 500, never a crash.

import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { useHarness } from '../support/harness.ts';
import { createSession, customTool, TOOLSET, userText } from '../support/sessions.ts';

const harness = useHarness();
const RUNS = 120;
let session = '';
let agent = '';
let environment = '';

beforeAll(async () => {
  session = await createSession(harness.client());
  const made = await harness.client().beta.sessions.retrieve(session);
  agent = made.agent.id;
  environment = made.environment_id;
});

const junk = fc.oneof(
  fc.constantFrom(null, true, 0, -1, 1.5, 1e308, '', ' ', '\u0000', '\ud800', '__proto__', '../..', 'x'.repeat(70_000)),
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.constantFrom([], {}, [[]], [null], { type: 'text' }, { ['__proto__']: { polluted: true } }, { constructor: 1 }),
  fc.jsonValue({ maxDepth: 3 }),
);

type Path = readonly (string | number)[];

/** All places of a JSON value. */
function placesOf(value: unknown, at: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [at];
  return [
    at,
    ...Object.entries(value).flatMap(([key, inner]) =>
      placesOf(inner, [...at, Array.isArray(value) ? Number(key) : key]),
    ),
  ];
}

/** `value` with `replacement` at a place, or with that place gone. */
function replaceAt(value: unknown, [head, ...rest]: Path, replacement: { value: unknown } | null): unknown {
  if (head === undefined) return replacement?.value;
  if (Array.isArray(value)) {
    const copy = [...value];
    copy[Number(head)] = replaceAt(copy[Number(head)], rest, replacement);
    return copy.filter((item) => item !== undefined);
  }
  const copy = { ...(value as Record<string, unknown>) };
  copy[String(head)] = replaceAt(copy[String(head)], rest, replacement);
  return copy;
}

const bodies: Record<string, () => readonly [path: string, body: unknown]> = {
  agents: () => [
    '/v1/agents',
    {
      name: 'A',
      model: { id: 'claude-opus-5-5', effort: 'high', speed: 'standard' },
      description: 'd',
      system: 's',
      metadata: { a: 'b' },
      tools: [
        {
          ...TOOLSET,
          default_config: { enabled: true },
          configs: [{ name: 'bash', permission_policy: { type: 'auto' } }],
        },
        customTool('weather'),
      ],
      skills: [],
      mcp_servers: [],
      reprise: {
        permission_mode: 'default',
        rules: [{ effect: 'deny', rule: 'Bash(rm:*)' }],
        limits: { model_calls: 3 },
      },
    },
  ],
  'an agent': () => [`/v1/agents/${agent}`, { name: 'B', metadata: { a: null }, tools: [TOOLSET] }],
  environments: () => [
    '/v1/environments',
    {
      name: 'e',
      config: { type: 'cloud', networking: { type: 'limited', allowed_hosts: ['a.b'] }, packages: { npm: [] } },
      metadata: { a: 'b' },
    },
  ],
  sessions: () => [
    '/v1/sessions',
    {
      agent: { type: 'agent_with_overrides', id: agent, system: 's', tools: [customTool('a')] },
      environment_id: environment,
      title: 't',
      metadata: { a: 'b' },
      resources: [],
      budget: { type: 'limit', max_list_cost: { amount: '100', currency: 'USD' } },
    },
  ],
  'a session': () => [`/v1/sessions/${session}`, { title: 't', metadata: { a: 'b' } }],
  events: () => [
    `/v1/sessions/${session}/events`,
    {
      events: [
        { type: 'user.custom_tool_result', custom_tool_use_id: 'sevt_1', content: [{ type: 'text', text: 'a' }] },
        userText('hi'),
        { type: 'user.tool_confirmation', tool_use_id: 'sevt_1', result: 'deny', deny_message: 'no' },
      ],
      reprise: { on_busy: 'queue' },
    },
  ],
};

describe('junk in the body of', () => {
  test.each(Object.entries(bodies))('%s', async (_name, make) => {
    const [path, base] = make();
    const places = placesOf(base);
    const change = fc.record({ at: fc.constantFrom(...places), junk, gone: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 3 }), async (changes) => {
        let body: unknown = base;
        for (const { at, junk: value, gone } of changes) {
          if (typeof body === 'object' && body !== null)
            body = replaceAt(body, at, gone && at.length > 0 ? null : { value });
        }
        const response = await harness.request(path, { method: 'POST', body: JSON.stringify(body) ?? '' });
        const text = await response.text();
        expect(response.status, text).toBeLessThan(500);
        expect(text).not.toMatch(/\n\s+at |\.ts:\d/);
      }),
      { numRuns: RUNS, endOnFailure: true, seed: 20_261_201 },
    );
  });

  test('after all of it the service is well', async () => {
    expect((await harness.client().beta.sessions.retrieve(session)).id).toBe(session);
  });
});
