// The built-in tools of each face, in the stable order in which they are offered.

import type { Workspace } from '../ports/sandbox.ts';
import { LIMITS, type Limits } from '../types/limits.ts';
import type { ToolFace } from '../types/session.ts';
import type { Tool } from '../types/tool.ts';
import { bashTool, claudeCodeBash } from './bash.ts';
import { claudeCodeEdit, editTool } from './edit.ts';
import { claudeCodeGlob, globTool } from './glob.ts';
import { claudeCodeGrep, grepTool } from './grep.ts';
import { claudeCodeRead, readTool } from './read.ts';
import { claudeCodeWrite, writeTool } from './write.ts';

const MAKERS: Readonly<Record<ToolFace, readonly ((limits: Limits) => Tool<Workspace>)[]>> = {
  agent_toolset: [bashTool, readTool, writeTool, editTool, globTool, grepTool],
  claude_code: [claudeCodeBash, claudeCodeRead, claudeCodeWrite, claudeCodeEdit, claudeCodeGlob, claudeCodeGrep],
};

const made = new WeakMap<Limits, Map<ToolFace, readonly Tool<Workspace>[]>>();

/** The tools of `face`; the same value each time for the same table of limits. */
export function builtinTools(face: ToolFace, limits: Limits = LIMITS): readonly Tool<Workspace>[] {
  const byFace = made.get(limits) ?? new Map<ToolFace, readonly Tool<Workspace>[]>();
  const tools = byFace.get(face) ?? MAKERS[face].map((make) => make(limits));
  byFace.set(face, tools);
  made.set(limits, byFace);
  return tools;
}
