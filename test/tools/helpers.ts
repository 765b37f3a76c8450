// Runs built-in tools on a real workspace.

import type { Workspace } from '../../shared/ports/sandbox.ts';
import { builtinTools } from '../../shared/tools/toolsets.ts';
import { toolUseId } from '../../shared/types/ids.ts';
import { LIMITS, type Limits } from '../../shared/types/limits.ts';
import type { ToolFace } from '../../shared/types/session.ts';
import type { ToolOutcome } from '../../shared/types/tool.ts';
import { never } from '../support/sandbox.ts';

export interface Ran {
  readonly outcome: ToolOutcome;
  readonly text: string;
  readonly isError: boolean;
}

export type Call = (
  name: string,
  input: Record<string, unknown>,
  more?: { id?: string; signal?: AbortSignal },
) => Promise<Ran>;

/** Calls tools of `face` by name. */
export function caller(face: ToolFace, workspace: Workspace, limits: Limits = LIMITS): Call {
  return async (name, input, more = {}) => {
    const tool = builtinTools(face, limits).find((one) => one.name === name);
    if (!tool) throw new Error(`no tool ${name}`);
    const call = { toolUseId: toolUseId(more.id ?? 'toolu_1'), input, timeoutMs: 20_000 };
    const outcome = await tool.run(call, workspace, more.signal ?? never());
    const text = outcome.content
      .map((block) => (typeof block.text === 'string' ? block.text : `<${block.type}>`))
      .join('\n');
    return { outcome, text, isError: outcome.isError };
  };
}
