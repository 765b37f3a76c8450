// An agent's tools: what a client may give, what is stored (resolved), and what is shown.

import { z } from 'zod';
import type { PermissionPolicy } from '../types/permission.ts';
import type { AgentTool, ToolConfig } from '../types/session.ts';
import { orNull } from './common.ts';
import { JsonObject } from './events/client-events.ts';
import { inputSchemaFault } from './json-schema.ts';
import { most } from './limits.ts';

export const TOOL_NAMES = ['bash', 'read', 'write', 'edit', 'glob', 'grep', 'web_search', 'web_fetch'] as const;

const Policy = z.object({ type: z.enum(['always_allow', 'always_ask', 'auto']) }).meta({ id: 'PermissionPolicy' });
const nullish = <T extends z.ZodType>(schema: T) => z.union([schema, z.null()]).optional();

const DefaultConfigInput = z.object({ enabled: nullish(z.boolean()), permission_policy: nullish(Policy) });
const Domains = z
  .array(
    z
      .string()
      .max(...most('hostCharsMax', 'characters'))
      .regex(/^[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*$/, 'must be a plain hostname'),
  )
  .min(1)
  .max(...most('toolDomainsMax', 'domains'));

const ToolConfigInput = z
  .object({
    name: z.enum(TOOL_NAMES, `must be one of ${TOOL_NAMES.join(', ')}`),
    type: z.string().optional(),
    enabled: nullish(z.boolean()),
    permission_policy: nullish(Policy),
    allowed_domains: nullish(Domains),
    blocked_domains: nullish(Domains),
    max_content_tokens: nullish(z.number().int().positive()),
    user_location: nullish(JsonObject),
    url_sources: nullish(JsonObject),
  })
  .refine((c) => !(c.allowed_domains && c.blocked_domains), {
    path: ['blocked_domains'],
    message: 'does not go with allowed_domains',
  })
  .refine((c) => c.type === undefined || c.type === c.name, { path: ['type'], message: 'must equal name' })
  .meta({ id: 'ToolConfigInput' });

const ToolsetInput = z
  .object({
    type: z.literal('agent_toolset_20260401'),
    default_config: nullish(DefaultConfigInput),
    configs: nullish(z.array(ToolConfigInput).max(TOOL_NAMES.length)),
    reprise: z
      .object({ face: z.enum(['agent_toolset', 'claude_code']).optional() })
      .optional()
      .describe("`claude_code`: the tools by Claude Code's names and schemas"),
  })
  .meta({ id: 'AgentToolsetInput' });

const CustomToolInput = z
  .object({
    type: z.literal('custom'),
    name: z
      .string()
      .min(1)
      .max(...most('toolNameCharsMax', 'characters'))
      .regex(/^[A-Za-z0-9_-]+$/, 'must be of A-Z, a-z, 0-9, _ and -'),
    description: z
      .string()
      .min(1)
      .max(...most('toolSchemaBytesMax', 'characters')),
    input_schema: JsonObject,
  })
  .meta({ id: 'CustomToolInput' });

const McpToolsetInput = z
  .object({ type: z.literal('mcp_toolset'), mcp_server_name: z.string() })
  .meta({ id: 'McpToolsetInput', description: 'Not yet supported' });

export const ToolsInput = z
  .array(z.discriminatedUnion('type', [ToolsetInput, CustomToolInput, McpToolsetInput]))
  .max(...most('agentToolEntriesMax', 'tools'))
  .superRefine(checkTools);
export type ToolsInput = z.infer<typeof ToolsInput>;

const BUILT_IN_NAMES: ReadonlySet<string> = new Set([
  ...TOOL_NAMES,
  ...['Bash', 'Read', 'Write', 'Edit', 'Glob', 'Grep'],
]);

function checkTools(
  tools: readonly { readonly type: string; readonly name?: string; readonly input_schema?: unknown }[],
  context: z.RefinementCtx,
): void {
  const seen = new Set<string>();
  let toolsets = 0;
  tools.forEach((tool, index) => {
    const complain = (field: string, message: string, within: readonly PropertyKey[] = []) =>
      context.addIssue({ code: 'custom', path: [index, field, ...within], message });
    if (tool.type === 'mcp_toolset') complain('type', 'mcp_toolset is not yet supported (there are no mcp_servers)');
    if (tool.type === 'agent_toolset_20260401' && ++toolsets > 1) complain('type', 'must occur only once');
    if (tool.type !== 'custom' || tool.name === undefined) return;
    if (BUILT_IN_NAMES.has(tool.name)) complain('name', `${tool.name} is the name of a built-in tool`);
    if (tool.name.startsWith('mcp__')) complain('name', 'must not start with mcp__');
    if (seen.has(tool.name)) complain('name', `${tool.name} occurs twice`);
    seen.add(tool.name);
    const fault = inputSchemaFault(tool.input_schema);
    if (fault) complain('input_schema', fault.message, fault.path);
  });
}

/** The stored form: every default filled in. */
export function resolveTools(tools: ToolsInput): readonly AgentTool[] {
  return tools.flatMap((tool): readonly AgentTool[] => {
    switch (tool.type) {
      case 'custom':
        return [{ kind: 'custom', name: tool.name, description: tool.description, input_schema: tool.input_schema }];
      case 'agent_toolset_20260401':
        return [resolveToolset(tool)];
      case 'mcp_toolset':
        return []; // refused by the schema
      default:
        return tool satisfies never;
    }
  });
}

function resolveToolset(tool: z.infer<typeof ToolsetInput>): AgentTool {
  const defaultEnabled = tool.default_config?.enabled ?? true;
  const defaultPolicy: PermissionPolicy = tool.default_config?.permission_policy?.type ?? 'always_allow';
  const configs = new Map<string, ToolConfig>();
  for (const config of tool.configs ?? []) {
    const { name, enabled, permission_policy, type: _type, ...rest } = config;
    const extra = Object.fromEntries(Object.entries(rest).filter(([, v]) => v !== null && v !== undefined));
    configs.set(name, {
      name,
      enabled: enabled ?? defaultEnabled,
      permission_policy: permission_policy?.type ?? defaultPolicy,
      ...(Object.keys(extra).length > 0 ? { extra } : {}),
    });
  }
  const face = tool.reprise?.face ?? 'agent_toolset';
  return { kind: 'toolset', defaultEnabled, defaultPolicy, configs: [...configs.values()], face };
}

const DefaultConfigView = z.object({ enabled: z.boolean(), permission_policy: Policy });
const ToolConfigView = z
  .looseObject({ type: z.string(), name: z.string(), enabled: z.boolean(), permission_policy: Policy })
  .meta({ id: 'ToolConfig' });

export const ToolView = z
  .discriminatedUnion('type', [
    z
      .object({
        type: z.literal('agent_toolset_20260401'),
        default_config: DefaultConfigView,
        configs: z.array(ToolConfigView),
        reprise: z.object({ face: z.string() }).optional(),
      })
      .meta({ id: 'AgentToolset' }),
    z
      .object({
        type: z.literal('custom'),
        name: z.string(),
        description: z.string(),
        input_schema: z.record(z.string(), z.unknown()),
      })
      .meta({ id: 'CustomTool' }),
    z
      .object({
        type: z.literal('mcp_toolset'),
        mcp_server_name: z.string(),
        default_config: DefaultConfigView,
        configs: z.array(orNull(ToolConfigView)),
      })
      .meta({ id: 'McpToolset' }),
  ])
  .meta({ id: 'AgentTool' });

/** The tools as the wire shows them. */
export const toolsView = (tools: readonly AgentTool[]): z.infer<typeof ToolView>[] => tools.map(toolView);

function toolView(tool: AgentTool): z.infer<typeof ToolView> {
  switch (tool.kind) {
    case 'custom': {
      const { name, description, input_schema } = tool;
      return { type: 'custom', name, description, input_schema };
    }
    case 'toolset':
      return {
        type: 'agent_toolset_20260401',
        default_config: { enabled: tool.defaultEnabled, permission_policy: { type: tool.defaultPolicy } },
        configs: tool.configs.map((c) => ({ type: c.name, ...configView(c) })),
        ...(tool.face === 'agent_toolset' ? {} : { reprise: { face: tool.face } }),
      };
    case 'mcp_toolset':
      return {
        type: 'mcp_toolset',
        mcp_server_name: tool.serverName,
        default_config: { enabled: tool.defaultEnabled, permission_policy: { type: tool.defaultPolicy } },
        configs: tool.configs.map((c) => ({ type: c.name, ...configView(c) })),
      };
    default:
      return tool satisfies never;
  }
}

const configView = ({ name, enabled, permission_policy, extra }: ToolConfig) => ({
  name,
  enabled,
  permission_policy: { type: permission_policy },
  ...(name === 'web_fetch' ? { url_sources: null } : {}),
  ...extra,
});
