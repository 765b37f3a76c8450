// Sessions: what creates and changes one, and the resource as it is folded from the log.

import { z } from 'zod';
import type { SessionState } from '../types/turn.ts';
import { ToolsInput } from './agent-tools.ts';
import { ModelInput, RepriseInput, UNSUPPORTED_AGENT_PARTS } from './agents.ts';
import {
  CREATED_RANGE_ALL,
  INCLUDE_ARCHIVED,
  MetadataInput,
  MetadataOutput,
  MetadataPatch,
  NullableTimestamp,
  ORDER,
  PAGE_QUERY,
  Timestamp,
  timestampOf,
} from './common.ts';
import { InitialEvents } from './events/client-events.ts';
import { most } from './limits.ts';
import { ResourcesInput, ResourceView, resourceView } from './resources.ts';
import { SessionAgentView, sessionAgentView } from './session-agent.ts';
import { BudgetInput, budgetView, NullableBudget, UsageView, usageView } from './usage.ts';

const nullish = <T extends z.ZodType>(schema: T) => z.union([schema, z.null()]).optional();
const idText = z.string().max(...most('idCharsMax', 'characters'));
const AgentRef = idText.min(1);
const version = z.number().int().min(1).optional();
const noVaults = z
  .array(z.string())
  .refine((ids) => ids.length === 0, 'not yet supported: vaults')
  .describe('Vaults are not yet supported');

export const AgentChoice = z
  .union([
    AgentRef,
    z.discriminatedUnion('type', [
      z.object({ type: z.literal('agent'), id: AgentRef, version }).meta({ id: 'AgentReferenceInput' }),
      z
        .object({
          type: z.literal('agent_with_overrides'),
          id: AgentRef,
          version,
          model: ModelInput.optional(),
          system: nullish(z.string().max(...most('systemCharsMax', 'characters'))),
          tools: nullish(ToolsInput),
          ...UNSUPPORTED_AGENT_PARTS,
        })
        .meta({ id: 'AgentWithOverridesInput', description: 'Replaces whole fields for this session only' }),
    ]),
  ])
  .meta({ id: 'AgentChoice' });
export type AgentChoice = z.infer<typeof AgentChoice>;

const title = nullish(z.string().max(...most('titleCharsMax', 'characters')));

export const CreateSession = z
  .object({
    agent: AgentChoice,
    environment_id: idText.min(1),
    title,
    metadata: nullish(MetadataInput),
    resources: nullish(ResourcesInput),
    vault_ids: nullish(noVaults),
    initial_events: nullish(InitialEvents),
    budget: nullish(BudgetInput),
    reprise: nullish(RepriseInput),
  })
  .meta({ id: 'CreateSession' });
export type CreateSession = z.infer<typeof CreateSession>;

export const UpdateSession = z
  .object({
    title,
    metadata: nullish(MetadataPatch),
    agent: z
      .object({ tools: nullish(ToolsInput), mcp_servers: UNSUPPORTED_AGENT_PARTS.mcp_servers })
      .optional()
      .describe('Only while the session is idle'),
    budget: nullish(BudgetInput),
    vault_ids: z
      .unknown()
      .refine((v) => v === undefined, 'cannot be changed')
      .optional()
      .describe('Refused'),
  })
  .meta({ id: 'UpdateSession' });
export type UpdateSession = z.infer<typeof UpdateSession>;

export const STATUSES = ['rescheduling', 'running', 'idle', 'terminated'] as const;
export type Status = (typeof STATUSES)[number];

export const ListSessionsQuery = z.object({
  ...PAGE_QUERY,
  ...ORDER,
  ...INCLUDE_ARCHIVED,
  ...CREATED_RANGE_ALL,
  agent_id: idText.optional(),
  agent_version: z.coerce.number().int().min(1).optional(),
  deployment_id: idText.optional(),
  memory_store_id: idText.optional(),
  'statuses[]': z
    .array(z.enum(STATUSES))
    .max(...most('filterValuesMax', 'values'))
    .optional(),
});

export const SessionView = z
  .object({
    id: z.string(),
    type: z.literal('session'),
    status: z.enum(STATUSES),
    title: z.union([z.string(), z.null()]),
    agent: SessionAgentView,
    environment_id: z.string(),
    vault_ids: z.array(z.string()),
    resources: z.array(ResourceView),
    metadata: MetadataOutput,
    outcome_evaluations: z.array(z.unknown()).max(0),
    budget: NullableBudget,
    usage: UsageView,
    stats: z.object({ active_seconds: z.number(), duration_seconds: z.number() }),
    created_at: Timestamp,
    updated_at: Timestamp,
    archived_at: NullableTimestamp,
  })
  .meta({ id: 'Session' });
export const SessionPage = z
  .object({
    data: z.array(SessionView),
    next_page: z.union([z.string(), z.null()]),
    prev_page: z.union([z.string(), z.null()]).describe('Pass as `page` to go back; null on the first page'),
  })
  .meta({ id: 'SessionPage' });
export const SessionDeleted = z
  .object({ id: z.string(), type: z.literal('session_deleted') })
  .meta({ id: 'SessionDeleted' });

/** The session as it stands; `now` (ms) is where its duration ends while it is not archived. */
export function sessionView(state: SessionState, status: Status, now: number): z.infer<typeof SessionView> {
  const { session, archivedAt } = state;
  return {
    id: session.id,
    type: 'session',
    status,
    title: state.title,
    agent: sessionAgentView(state.agent),
    environment_id: session.environmentId,
    vault_ids: [],
    resources: state.resources.map(resourceView),
    metadata: { ...state.metadata },
    outcome_evaluations: [],
    budget: budgetView(state.budget),
    usage: usageView(state.totals),
    stats: {
      active_seconds: state.totals.activeMs / 1000,
      duration_seconds: Math.max(0, (archivedAt ?? now) - session.createdAt) / 1000,
    },
    created_at: timestampOf(session.createdAt),
    updated_at: timestampOf(state.updatedAt),
    archived_at: archivedAt === null ? null : timestampOf(archivedAt),
  };
}
