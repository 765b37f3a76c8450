// Agents: what creates and changes one, and how one is shown. Parts that this version does not have are refused by name.

import { z } from 'zod';
import type { Agent, AgentVersion, ModelConfig, RepriseSettings } from '../types/session.ts';
import { ToolsInput } from './agent-tools.ts';
import {
  CREATED_RANGE,
  INCLUDE_ARCHIVED,
  MetadataInput,
  MetadataOutput,
  MetadataPatch,
  NullableTimestamp,
  PAGE_QUERY,
  pageOf,
  Timestamp,
  timestampOf,
} from './common.ts';
import { most } from './limits.ts';
import { AGENT_FIELDS, EFFORTS, sessionAgentView } from './session-agent.ts';

const nullish = <T extends z.ZodType>(schema: T) => z.union([schema, z.null()]).optional();
/** Present only to be refused: null and an empty list mean "none". */
const notYet = (what: string) =>
  z
    .unknown()
    .refine((v) => v === undefined || v === null || (Array.isArray(v) && v.length === 0), `not yet supported: ${what}`)
    .optional()
    .describe('Not yet supported');

const Effort = z.enum(EFFORTS);
const modelId = z
  .string()
  .min(1)
  .max(...most('modelIdCharsMax', 'characters'));
export const ModelInput = z
  .union([
    modelId,
    z.object({
      id: modelId,
      effort: nullish(z.union([Effort, z.object({ type: Effort })])),
      speed: nullish(z.enum(['standard', 'fast'])),
      inference_geo: nullish(z.string().max(...most('inferenceGeoCharsMax', 'characters'))),
    }),
  ])
  .meta({ id: 'ModelInput' });
export type ModelInput = z.infer<typeof ModelInput>;

/** The stored form. `before`: an omitted effort is kept where the model stays the same. */
export function resolveModel(input: ModelInput, before?: ModelConfig): ModelConfig {
  if (typeof input === 'string') return resolveModel({ id: input }, before);
  const { id, effort, speed, inference_geo } = input;
  const given = typeof effort === 'object' && effort !== null ? effort.type : effort;
  const kept = before?.id === id ? before.effort : null;
  return {
    id,
    effort: given === undefined ? kept : given,
    speed: speed ?? 'standard',
    ...(inference_geo ? { inference_geo } : {}),
  };
}

export const RepriseInput = z
  .object({
    permission_mode: z.enum(['default', 'acceptEdits', 'plan', 'bypassPermissions']).optional(),
    limits: z
      .object({
        model_calls: z.number().int().min(1).optional(),
        tokens: z.number().int().min(1).optional(),
        wall_clock_seconds: z.number().min(1).optional(),
      })
      .optional()
      .describe('Of one turn; never above the limits of the service'),
    rules: notYet('reprise.rules'),
    hooks: notYet('reprise.hooks'),
    hard_cap: z
      .unknown()
      .refine((v) => v === undefined || v === false, 'not yet supported: reprise.hard_cap')
      .optional()
      .describe('Not yet supported'),
  })
  .meta({ id: 'RepriseSettings', description: 'Extensions of this service; ignored by other ones' });

/** The settings without what is unset. */
export function resolveReprise(input: z.infer<typeof RepriseInput> | null | undefined): RepriseSettings {
  const mode = input?.permission_mode;
  const limits = input?.limits;
  return {
    ...(mode === undefined ? {} : { permission_mode: mode }),
    ...(limits === undefined ? {} : { limits }),
  };
}

const name = z
  .string()
  .min(1)
  .max(...most('nameCharsMax', 'characters'));
const description = nullish(z.string().max(...most('descriptionCharsMax', 'characters')));
const system = nullish(z.string().max(...most('systemCharsMax', 'characters')));

export const UNSUPPORTED_AGENT_PARTS = {
  skills: notYet('skills'),
  mcp_servers: notYet('mcp_servers'),
  multiagent: notYet('multiagent'),
} as const;

const ExecutionIdentity = nullish(
  z.object({ type: z.literal('service_account', 'must be service_account: other identities are not yet supported') }),
);

export const CreateAgent = z
  .object({
    name,
    model: ModelInput,
    description,
    system,
    tools: nullish(ToolsInput),
    metadata: nullish(MetadataInput),
    execution_identity: ExecutionIdentity,
    reprise: nullish(RepriseInput),
    ...UNSUPPORTED_AGENT_PARTS,
  })
  .meta({ id: 'CreateAgent' });

export const UpdateAgent = z
  .object({
    version: z.number().int().min(1).optional().describe('A stale one is a 409'),
    name: name.optional(),
    model: ModelInput.optional(),
    description,
    system,
    tools: nullish(ToolsInput),
    metadata: nullish(MetadataPatch),
    execution_identity: ExecutionIdentity,
    reprise: nullish(RepriseInput),
    ...UNSUPPORTED_AGENT_PARTS,
  })
  .meta({ id: 'UpdateAgent' });

export const AgentQuery = z.object({ version: z.coerce.number().int().min(1).optional() });
export const ListAgentsQuery = z.object({ ...PAGE_QUERY, ...INCLUDE_ARCHIVED, ...CREATED_RANGE });
export const ListVersionsQuery = z.object(PAGE_QUERY);

export const AgentView = z
  .object({
    ...AGENT_FIELDS,
    metadata: MetadataOutput,
    created_at: Timestamp,
    updated_at: Timestamp,
    archived_at: NullableTimestamp,
  })
  .meta({ id: 'Agent' });
export const AgentPage = pageOf(AgentView, 'AgentPage');

/** One version of an agent. */
export const agentView = (version: AgentVersion, archivedAt: Agent['archivedAt']): z.infer<typeof AgentView> => ({
  ...sessionAgentView(version),
  metadata: { ...version.metadata },
  created_at: timestampOf(version.createdAt),
  updated_at: timestampOf(version.updatedAt),
  archived_at: archivedAt === null ? null : timestampOf(archivedAt),
});
