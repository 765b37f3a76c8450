// Short ways to what most end-to-end tests need: an agent with a session, a turn and all of its events.

import type Anthropic from '@anthropic-ai/sdk';

type Beta = Anthropic.Beta;
export type AgentParams = Parameters<Beta['agents']['create']>[0];
export type SessionParams = Parameters<Beta['sessions']['create']>[0];
export type StreamedEvent =
  Awaited<ReturnType<Beta['sessions']['events']['stream']>> extends AsyncIterable<infer E> ? E : never;
export type SentEvent = Parameters<Beta['sessions']['events']['send']>[1]['events'][number];

export const TOOLSET = { type: 'agent_toolset_20260401' } as const;

/** A toolset in which every call must be confirmed. */
export const ASKING_TOOLSET = {
  type: 'agent_toolset_20260401',
  default_config: { permission_policy: { type: 'always_ask' } },
} as const satisfies NonNullable<AgentParams['tools']>[number];

type CustomTool = Extract<NonNullable<AgentParams['tools']>[number], { type: 'custom' }>;

export const customTool = (name: string): CustomTool => ({
  type: 'custom',
  name,
  description: `Answers what ${name} is asked.`,
  input_schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
});

export const userText = (text: string): SentEvent => ({ type: 'user.message', content: [{ type: 'text', text }] });

/** An environment, an agent and a session of them. */
export async function createSession(
  client: Anthropic,
  agent: Partial<AgentParams> = {},
  session: Partial<SessionParams> = {},
): Promise<string> {
  const environment = await client.beta.environments.create({ name: 'test' });
  const { id } = await client.beta.agents.create({ name: 'tester', model: 'claude-opus-5-5', ...agent });
  const created = await client.beta.sessions.create({ agent: id, environment_id: environment.id, ...session });
  return created.id;
}

export interface ReadOptions {
  /** Ends the reading after the event for which it says so; default: the first `session.status_idle`. */
  readonly until?: (event: StreamedEvent) => boolean;
}

const isIdle = (event: StreamedEvent): boolean => event.type === 'session.status_idle';

/** Reads a stream to the event named by `until`, included, and closes it. */
export async function readUntil(
  stream: AsyncIterable<StreamedEvent>,
  { until = isIdle }: ReadOptions = {},
): Promise<StreamedEvent[]> {
  const events: StreamedEvent[] = [];
  for await (const event of stream) {
    events.push(event);
    if (until(event)) break;
  }
  return events;
}

interface TurnOptions extends ReadOptions {
  readonly eventDeltas?: ('agent.message' | 'agent.thinking')[];
}

/** Opens a stream, sends `events`, and reads until the session is idle. */
export async function runTurn(
  client: Anthropic,
  session: string,
  events: SentEvent | readonly SentEvent[],
  options: TurnOptions = {},
): Promise<StreamedEvent[]> {
  const stream = await client.beta.sessions.events.stream(session, { event_deltas: options.eventDeltas ?? [] });
  const reading = readUntil(stream, options);
  await client.beta.sessions.events.send(session, { events: [events].flat() as SentEvent[] });
  return reading;
}

/** Everything that is listed for a session, over all pages. */
export async function listAll(client: Anthropic, session: string): Promise<StreamedEvent[]> {
  const events: StreamedEvent[] = [];
  for await (const event of client.beta.sessions.events.list(session, { limit: 1000 })) events.push(event);
  return events;
}

export const typesOf = (events: readonly { readonly type: string }[]): string[] => events.map((event) => event.type);

/** Events of one type, narrowed. */
export const only = <T extends StreamedEvent['type']>(
  events: readonly StreamedEvent[],
  type: T,
): Extract<StreamedEvent, { type: T }>[] =>
  events.filter((event): event is Extract<StreamedEvent, { type: T }> => event.type === type);

/** The text of all agent messages, joined. */
export const agentText = (events: readonly StreamedEvent[]): string =>
  only(events, 'agent.message')
    .flatMap((event) => event.content)
    .map((block) => (block.type === 'text' ? block.text : ''))
    .join('\n');

/** Waits until `probe` gives something other than undefined, at most `timeoutMs`. */
export async function waitFor<T>(
  what: string,
  probe: () => Promise<T | undefined> | T | undefined,
  timeoutMs = 10_000,
): Promise<T> {
  const end = Date.now() + timeoutMs;
  for (;;) {
    const value = await probe();
    if (value !== undefined) return value;
    if (Date.now() > end) throw new Error(`waited ${timeoutMs} ms in vain for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}
