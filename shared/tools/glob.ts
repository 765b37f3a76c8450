// Finds files by name pattern, newest first. The pattern runs in the sandbox.

import { z } from 'zod';
import { isPathError } from '../core/workspace-path.ts';
import type { Workspace } from '../ports/sandbox.ts';
import type { WorkspacePath } from '../types/ids.ts';
import type { Limits } from '../types/limits.ts';
import type { Tool, ToolOutcome } from '../types/tool.ts';
import { defineTool, type ToolContext, text } from './define-tool.ts';
import { resolveSearch } from './paths.ts';

const RESULTS_MAX = { agent_toolset: 200, claude_code: 100 } as const;

/** `glob` of the agent toolset. */
export function globTool(limits: Limits): Tool<Workspace> {
  const schema = z.object({
    pattern: z.string().min(1),
    path: z.string().optional().describe('Directory to search in. Defaults to the shell directory.'),
  });
  return defineTool(
    {
      name: 'glob',
      wireName: 'glob',
      face: 'agent_toolset',
      description:
        'Match files against a glob pattern such as **/*.ts or src/*.{js,css}. Results are sorted newest first.',
      schema,
      replay: 'safe',
      readOnly: true,
      run: (input, context) => glob(input, 'agent_toolset', context),
    },
    limits,
  );
}

/** `Glob` of Claude Code. */
export function claudeCodeGlob(limits: Limits): Tool<Workspace> {
  const schema = z.object({
    pattern: z.string().min(1).describe('The glob pattern to match files against'),
    path: z.string().optional().describe('The directory to search in. Omit it to use the shell directory.'),
  });
  return defineTool(
    {
      name: 'Glob',
      wireName: 'glob',
      face: 'claude_code',
      description: 'Finds files by glob pattern such as "**/*.js" or "src/**/*.ts"; returns paths, newest first.',
      schema,
      replay: 'safe',
      readOnly: true,
      run: (input, context) => glob(input, 'claude_code', context),
    },
    limits,
  );
}

/** Why this glob is not searched for; null where it may be. */
export function refuseGlob(pattern: string, charsMax: number): string | null {
  if (pattern.length > charsMax) return `the pattern has more than ${charsMax} characters (searchPatternCharsMax)`;
  if (pattern.startsWith('/')) return 'absolute pattern not permitted; pass a relative pattern (and optionally path)';
  if (pattern.split(/[\\/{},]/).includes('..')) return '".." is not permitted in the pattern';
  return null;
}

async function glob(
  input: { readonly pattern: string; readonly path?: string | undefined },
  face: keyof typeof RESULTS_MAX,
  context: ToolContext,
): Promise<ToolOutcome> {
  const { workspace, call, limits, signal } = context;
  const refused = refuseGlob(input.pattern, limits.searchPatternCharsMax);
  if (refused !== null) return context.fail(`${refused}`);
  const root = resolveSearch(input.path, workspace);
  if (isPathError(root)) return context.fail(`${root.error}`);
  if (workspace.stat(root)) return context.fail(`${root} is a file; path must be a directory`);
  const found = await workspace.search({ kind: 'files', root, pattern: input.pattern }, call.timeoutMs, signal);
  if (!found.ok) return context.fail(`${found.reason}`);
  if (found.lines.length === 0) return text(face === 'agent_toolset' ? 'no matches' : 'No files found');
  const max = RESULTS_MAX[face];
  const shown = newestFirst(found.lines, workspace).slice(0, max);
  const cut = found.lines.length > max ? [`(${found.lines.length - max} more; use a narrower pattern or path)`] : [];
  return text([...shown, ...cut].join('\n'));
}

/** Paths by time of change, newest first, then by name. */
export function newestFirst(paths: readonly string[], workspace: Workspace): readonly string[] {
  const timed = paths.map((path) => ({ path, mtimeMs: workspace.stat(path as WorkspacePath)?.mtimeMs ?? 0 }));
  timed.sort((a, b) => b.mtimeMs - a.mtimeMs || (a.path < b.path ? -1 : 1));
  return timed.map((file) => file.path);
}
