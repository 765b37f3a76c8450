// Whether a call may run, and who says so. Deny wins, then the session's mode, then the wire's policy (design 7).
// Rules, hooks and shell analysis join here; a call that nobody knows or that is switched off is denied.

import type { CallKind } from '../types/log.ts';
import type { PermissionDecision, PermissionMode } from '../types/permission.ts';
import type { AgentSnapshot } from '../types/session.ts';
import { BUILTIN_TOOLS, type BuiltinTool, configOf, nameUnderFace, toolsetOf } from './builtin-tools.ts';

export interface Verdict extends PermissionDecision {
  readonly kind: CallKind;
}

/** The verdict on a call of `name` by an agent in `mode` (null: the session sets none). */
export function evaluatePermission(agent: AgentSnapshot, mode: PermissionMode | null, name: string): Verdict {
  const toolset = toolsetOf(agent);
  const builtin = toolset && BUILTIN_TOOLS.find((t) => !t.server && nameUnderFace(t, toolset.face) === name);
  if (toolset && builtin) {
    const config = configOf(toolset, builtin.wireName);
    if (!config.enabled) return { kind: 'builtin', decision: 'deny', reason: `the tool ${name} is switched off` };
    return { kind: 'builtin', ...(byMode(mode, builtin) ?? byPolicy(config.permission_policy, builtin)) };
  }
  if (agent.tools.some((t) => t.kind === 'custom' && t.name === name)) {
    return { kind: 'custom', decision: 'allow', reason: 'custom tools have no policy' };
  }
  return { kind: 'unknown', decision: 'deny', reason: `there is no tool named ${name}` };
}

function byMode(mode: PermissionMode | null, tool: BuiltinTool): PermissionDecision | null {
  switch (mode) {
    case null:
    case 'default':
      return null;
    case 'bypassPermissions':
      return { decision: 'allow', reason: 'mode bypassPermissions' };
    case 'acceptEdits':
      return tool.edits ? { decision: 'allow', reason: 'mode acceptEdits' } : null;
    case 'plan':
      return tool.readOnly ? null : { decision: 'deny', reason: 'mode plan allows reading only' };
    default:
      return mode satisfies never;
  }
}

function byPolicy(policy: 'always_allow' | 'always_ask' | 'auto', tool: BuiltinTool): PermissionDecision {
  switch (policy) {
    case 'always_allow':
      return { decision: 'allow', reason: 'policy always_allow' };
    case 'always_ask':
      return { decision: 'ask', reason: 'policy always_ask' };
    case 'auto':
      return tool.readOnly
        ? { decision: 'allow', reason: 'policy auto: only reads' }
        : { decision: 'ask', reason: 'policy auto: in doubt, ask' };
    default:
      return policy satisfies never;
  }
}
