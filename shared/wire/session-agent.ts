// The agent within a session: the snapshot that the session runs with.

import { z } from 'zod';
import type { AgentSnapshot, ModelConfig } from '../types/session.ts';
import { ToolView, toolsView } from './agent-tools.ts';

export const EFFORTS = ['low', 'medium', 'high', 'xhigh', 'max'] as const;

export const ModelView = z
  .object({
    id: z.string(),
    effort: z.object({ type: z.enum(EFFORTS) }),
    speed: z.enum(['standard', 'fast']),
    inference_geo: z.string().optional(),
  })
  .meta({ id: 'ModelConfig' });

/** What an agent and a session's agent have in common. */
export const AGENT_FIELDS = {
  id: z.string(),
  type: z.literal('agent'),
  version: z.number().int(),
  name: z.string(),
  model: ModelView,
  description: z.union([z.string(), z.null()]),
  system: z.union([z.string(), z.null()]),
  tools: z.array(ToolView),
  skills: z.array(z.unknown()).max(0).describe('Skills are not yet supported'),
  mcp_servers: z.array(z.unknown()).max(0).describe('MCP servers are not yet supported'),
  multiagent: z.null(),
  execution_identity: z.object({ type: z.literal('service_account') }),
  reprise: z.looseObject({}).optional(),
} as const;

export const SessionAgentView = z.object(AGENT_FIELDS).meta({ id: 'SessionAgent' });
export type SessionAgentView = z.infer<typeof SessionAgentView>;

/** The default effort of the Messages API stands where none was given. */
const modelView = (model: ModelConfig): z.infer<typeof ModelView> => ({
  id: model.id,
  effort: { type: EFFORTS.find((e) => e === model.effort) ?? 'high' },
  speed: model.speed,
  ...(model.inference_geo === undefined ? {} : { inference_geo: model.inference_geo }),
});

export function sessionAgentView(agent: AgentSnapshot): SessionAgentView {
  return {
    type: 'agent',
    id: agent.id,
    version: agent.version,
    name: agent.name,
    description: agent.description,
    model: modelView(agent.model),
    system: agent.system,
    tools: toolsView(agent.tools),
    skills: [],
    mcp_servers: [],
    multiagent: null,
    execution_identity: { type: 'service_account' },
    ...(Object.keys(agent.reprise).length > 0 ? { reprise: { ...agent.reprise } } : {}),
  };
}
