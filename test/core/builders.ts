// Tiny constructors for tests of the core: a session, an agent, and a log that is folded as it is written.

import { foldAll, initialState, placeEntries } from '../../shared/core/fold.ts';
import { nextStep } from '../../shared/core/next-step.ts';
import {
  type EpochMs,
  type EventId,
  sessionId,
  type TenantId,
  type ToolUseId,
  type TurnId,
} from '../../shared/types/ids.ts';
import { LIMITS, type Limits } from '../../shared/types/limits.ts';
import type { ClientEvent, ControlEvent, EntryBody, InboxEvent } from '../../shared/types/log.ts';
import { type ContentBlock, NO_USAGE } from '../../shared/types/message.ts';
import type { AgentSnapshot, AgentTool, Session } from '../../shared/types/session.ts';
import type { NextStep, SessionState } from '../../shared/types/turn.ts';

export const ULID = '01k00000000000000000000000';
export const T0 = 1_700_000_000_000 as EpochMs;
export const TURN = `turn_${ULID}` as TurnId;

export const toolset = (policy: 'always_allow' | 'always_ask' = 'always_allow'): AgentTool => ({
  kind: 'toolset',
  defaultEnabled: true,
  defaultPolicy: policy,
  configs: [],
  face: 'agent_toolset',
});

export const custom = (name: string): AgentTool => ({
  kind: 'custom',
  name,
  description: `${name} of the app`,
  input_schema: { type: 'object' },
});

export const agent = (tools: readonly AgentTool[] = [toolset()]): AgentSnapshot => ({
  id: `agent_${ULID}` as AgentSnapshot['id'],
  version: 1,
  name: 'tester',
  description: null,
  model: { id: 'claude-opus-5-5', effort: null, speed: 'standard' },
  system: null,
  tools,
  mcpServers: [],
  reprise: {},
});

export const session = (over: Partial<Session> = {}): Session => ({
  id: sessionId(`sesn_${ULID}`),
  tenant: 'default' as TenantId,
  agent: agent(),
  environmentId: `env_${ULID}` as Session['environmentId'],
  environmentType: 'cloud',
  title: null,
  metadata: {},
  resources: [],
  budget: null,
  reprise: {},
  createdAt: T0,
  ...over,
});

let events = 0;
export const event = (e: ClientEvent | ControlEvent): InboxEvent => ({
  ...e,
  id: `sevt_${ULID.slice(0, 20)}${String(++events).padStart(6, '0')}` as EventId,
  acceptedAt: T0,
});

export const text = (t: string): ContentBlock => ({ type: 'text', text: t });
export const toolUse = (id: string, name = 'bash', input: Record<string, unknown> = {}): ContentBlock => ({
  type: 'tool_use',
  id,
  name,
  input,
});
export const says = (t: string): InboxEvent => event({ type: 'user.message', content: [text(t)] });

export const message = (modelSeq: number, content: ContentBlock[], stopReason = 'end_turn'): EntryBody => ({
  kind: 'message',
  modelSeq,
  content,
  model: 'claude-opus-5-5',
  usage: NO_USAGE,
  stopReason,
});

export const result = (id: string, modelSeq: number, block: number, t = 'ok'): EntryBody => ({
  kind: 'tool_result',
  toolUseId: id as ToolUseId,
  modelSeq,
  block,
  callKind: 'builtin',
  content: [text(t)],
  isError: false,
});

export const started: EntryBody = { kind: 'model_started', model: 'claude-opus-5-5', attempt: 1, fingerprint: 'f' };

export interface Bench {
  readonly state: () => SessionState;
  readonly log: (...bodies: EntryBody[]) => void;
  readonly step: (inbox?: readonly InboxEvent[], now?: number, limits?: Limits) => NextStep;
  /** Appends what the step says, and gives the step. */
  readonly take: (inbox?: readonly InboxEvent[]) => NextStep;
}

/** A session whose log is folded as it grows. */
export function bench(s: Session = session()): Bench {
  let state = initialState(s);
  const log = (...bodies: EntryBody[]) => {
    state = foldAll(state, placeEntries(state, bodies, 1, T0));
  };
  const step = (inbox: readonly InboxEvent[] = [], now: number = T0, limits: Limits = LIMITS) =>
    nextStep({ state, inbox, now: now as EpochMs, limits, newTurnId: TURN });
  const take = (inbox: readonly InboxEvent[] = []) => {
    const taken = step(inbox);
    if (taken.kind === 'append' || taken.kind === 'end') log(...taken.entries);
    return taken;
  };
  return { state: () => state, log, step, take };
}
