// Writes a whole file, exactly the text given, and makes the directories above it.

import { z } from 'zod';
import { isPathError, WORKSPACE_HOME } from '../core/workspace-path.ts';
import type { Workspace } from '../ports/sandbox.ts';
import type { Limits } from '../types/limits.ts';
import type { ToolFace } from '../types/session.ts';
import type { Tool, ToolOutcome } from '../types/tool.ts';
import { defineTool, type ToolContext, text } from './define-tool.ts';
import { resolveFile } from './paths.ts';

/** `write` of the agent toolset. */
export function writeTool(limits: Limits): Tool<Workspace> {
  const schema = z.object({
    file_path: z
      .string()
      .min(1)
      .describe(`The file, absolute or relative to the shell directory (${WORKSPACE_HOME} at first)`),
    content: z.string(),
  });
  return defineTool(
    {
      name: 'write',
      wireName: 'write',
      face: 'agent_toolset',
      description: 'Write a UTF-8 text file, creating parent directories as needed; an existing file is replaced.',
      schema,
      replay: 'unsafe',
      readOnly: false,
      run: (input, context) => writeFile(input, 'agent_toolset', context),
    },
    limits,
  );
}

/** `Write` of Claude Code. */
export function claudeCodeWrite(limits: Limits): Tool<Workspace> {
  const schema = z.object({
    file_path: z.string().min(1).describe('The absolute path to the file to write'),
    content: z.string().describe('The content to write to the file'),
  });
  return defineTool(
    {
      name: 'Write',
      wireName: 'write',
      face: 'claude_code',
      description:
        'Writes a file by absolute path, creating parent directories; an existing file is replaced. Prefer Edit for changes.',
      schema,
      replay: 'unsafe',
      readOnly: false,
      run: (input, context) => writeFile(input, 'claude_code', context),
    },
    limits,
  );
}

async function writeFile(
  input: { readonly file_path: string; readonly content: string },
  face: ToolFace,
  context: ToolContext,
): Promise<ToolOutcome> {
  const path = resolveFile(input.file_path, face, context.workspace);
  if (isPathError(path)) return context.fail(`${path.error}`);
  const bytes = new TextEncoder().encode(input.content);
  const written = await context.workspace.write(path, bytes);
  if (!written.ok) return context.fail(`${input.file_path}: ${written.reason}`);
  if (face === 'agent_toolset') return text(`wrote ${bytes.length} bytes to ${input.file_path}`);
  return text(written.created ? `File created successfully at: ${path}` : `The file ${path} has been updated.`);
}
