// The built-in tools by both faces: what a call's name means, and whether it changes anything.

import type { AgentSnapshot, AgentTool, ToolConfig, ToolFace } from '../types/session.ts';

export interface BuiltinTool {
  /** The wire's name, by which configurations name it. */
  readonly wireName: string;
  readonly claudeCodeName: string | null;
  readonly readOnly: boolean;
  /** Changes files of the workspace only: mode `acceptEdits` allows it. */
  readonly edits: boolean;
  /** Run by the Messages API itself, not in the sandbox. */
  readonly server: boolean;
}

export const BUILTIN_TOOLS: readonly BuiltinTool[] = [
  { wireName: 'bash', claudeCodeName: 'Bash', readOnly: false, edits: false, server: false },
  { wireName: 'read', claudeCodeName: 'Read', readOnly: true, edits: false, server: false },
  { wireName: 'write', claudeCodeName: 'Write', readOnly: false, edits: true, server: false },
  { wireName: 'edit', claudeCodeName: 'Edit', readOnly: false, edits: true, server: false },
  { wireName: 'glob', claudeCodeName: 'Glob', readOnly: true, edits: false, server: false },
  { wireName: 'grep', claudeCodeName: 'Grep', readOnly: true, edits: false, server: false },
  { wireName: 'web_search', claudeCodeName: null, readOnly: true, edits: false, server: true },
  { wireName: 'web_fetch', claudeCodeName: null, readOnly: true, edits: false, server: true },
];

/** The name by which the model calls this tool under `face`. */
export const nameUnderFace = (tool: BuiltinTool, face: ToolFace): string =>
  face === 'claude_code' && tool.claudeCodeName !== null ? tool.claudeCodeName : tool.wireName;

export type Toolset = Extract<AgentTool, { kind: 'toolset' }>;

export const toolsetOf = (agent: AgentSnapshot): Toolset | undefined =>
  agent.tools.find((t): t is Toolset => t.kind === 'toolset');

/** A tool's settings within a toolset: its own entry where there is one, else the defaults. */
export function configOf(toolset: Toolset, wireName: string): Omit<ToolConfig, 'name'> {
  const own = toolset.configs.find((c) => c.name === wireName);
  return own ?? { enabled: toolset.defaultEnabled, permission_policy: toolset.defaultPolicy };
}
