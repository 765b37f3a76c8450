// From folded state to the request of one model call: tools offered, history sanitised and hydrated, cache marks set.

import { buildRequest, fingerprintRequest } from '../core/build-request.ts';
import { configOf, toolsetOf } from '../core/builtin-tools.ts';
import { sanitizeMessages } from '../core/sanitize-messages.ts';
import type { ModelRequest } from '../ports/model.ts';
import type { Ports } from '../ports/ports.ts';
import type { Repair } from '../types/log.ts';
import type { AgentSnapshot } from '../types/session.ts';
import type { SessionState } from '../types/turn.ts';
import { hydrateMessages } from './hydrate.ts';

export interface OfferedTool {
  readonly name: string;
  readonly description: string;
  readonly input_schema: Readonly<Record<string, unknown>>;
}

export interface PreparedRequest {
  readonly request: ModelRequest;
  readonly fingerprint: string;
  readonly repairs: readonly Repair[];
}

const WORKSPACE_NOTE = `Your tools work in a workspace that belongs to this conversation alone and lasts as long as it does.
Files that the user attached are under /mnt/session/uploads/. Your working directory is /workspace.
Write files that the user is to receive to /mnt/session/outputs/.`;

/** The tools that the model is given, in a stable order: built-ins as listed, then custom ones as configured. */
export function offeredTools(ports: Ports, agent: AgentSnapshot): readonly OfferedTool[] {
  const toolset = toolsetOf(agent);
  const builtin = toolset ? ports.tools(toolset.face).filter((tool) => configOf(toolset, tool.wireName).enabled) : [];
  const custom = agent.tools.flatMap((t) => (t.kind === 'custom' ? [t] : []));
  return [
    ...builtin.map((t) => ({ name: t.name, description: t.description, input_schema: t.inputSchema })),
    ...custom.map((t) => ({ name: t.name, description: t.description, input_schema: t.input_schema })),
  ];
}

/** The request for the next model call of `state`; rebuilding it later from the log gives the same bytes. */
export async function prepareRequest(
  ports: Ports,
  state: SessionState,
  tools: readonly OfferedTool[],
): Promise<PreparedRequest> {
  const options = { model: state.agent.model.id, tools };
  const { messages: sound, repairs, system: leading } = sanitizeMessages(state.messages, options);
  const messages = await hydrateMessages(ports.blobs, sound);
  const system = [state.agent.system, toolsetOf(state.agent) ? WORKSPACE_NOTE : null, leading].filter(
    (s) => s !== null && s !== undefined && s !== '',
  );
  const agent: AgentSnapshot = { ...state.agent, system: system.length > 0 ? system.join('\n\n') : null };
  const request = buildRequest({ agent, messages, tools, maxTokens: ports.limits.modelOutputTokensMax });
  return { request, fingerprint: fingerprintRequest(request), repairs };
}
