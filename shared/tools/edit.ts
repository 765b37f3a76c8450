// Replaces text in a file. The text must be there exactly once unless all are meant; encoding and line endings stay.

import { z } from 'zod';
import { isPathError } from '../core/workspace-path.ts';
import type { Workspace } from '../ports/sandbox.ts';
import type { Limits } from '../types/limits.ts';
import type { ToolFace } from '../types/session.ts';
import type { Tool, ToolOutcome } from '../types/tool.ts';
import { defineTool, type ToolContext, text } from './define-tool.ts';
import { decodeText, encodeText } from './media.ts';
import { missingFile, resolveFile } from './paths.ts';

/** `edit` of the agent toolset. */
export function editTool(limits: Limits): Tool<Workspace> {
  const schema = z.object({
    file_path: z.string().min(1),
    old_string: z.string(),
    new_string: z.string(),
    replace_all: z.boolean().optional(),
  });
  return defineTool(
    {
      name: 'edit',
      wireName: 'edit',
      face: 'agent_toolset',
      description: 'Replace old_string with new_string in a file. old_string must be unique unless replace_all.',
      schema,
      replay: 'unsafe',
      readOnly: false,
      run: (input, context) => editFile(input, 'agent_toolset', context),
    },
    limits,
  );
}

/** `Edit` of Claude Code; an empty `old_string` makes a new file. */
export function claudeCodeEdit(limits: Limits): Tool<Workspace> {
  const schema = z.object({
    file_path: z.string().min(1).describe('The absolute path to the file to modify'),
    old_string: z.string().describe('The text to replace'),
    new_string: z.string().describe('The text to replace it with (must be different from old_string)'),
    replace_all: z.boolean().optional().describe('Replace all occurrences of old_string (default false)'),
  });
  return defineTool(
    {
      name: 'Edit',
      wireName: 'edit',
      face: 'claude_code',
      description:
        'Performs exact string replacements in a file. old_string must occur exactly once unless replace_all is set.',
      schema,
      replay: 'unsafe',
      readOnly: false,
      run: (input, context) => editFile(input, 'claude_code', context),
    },
    limits,
  );
}

interface EditInput {
  readonly file_path: string;
  readonly old_string: string;
  readonly new_string: string;
  readonly replace_all?: boolean | undefined;
}

async function editFile(input: EditInput, face: ToolFace, context: ToolContext): Promise<ToolOutcome> {
  const { workspace } = context;
  const path = resolveFile(input.file_path, face, workspace);
  if (isPathError(path)) return context.fail(`${path.error}`);
  const stat = workspace.stat(path);
  const creates = face === 'claude_code' && input.old_string === '' && !stat && !workspace.isDirectory(path);
  if (!stat && !creates) return context.fail(`${missingFile(input.file_path, path, workspace)}`);
  if (input.old_string === '' && !creates) return context.fail('old_string is required');
  if (input.old_string === input.new_string) return context.fail('old_string and new_string are the same');
  const bytes = creates ? new Uint8Array() : await workspace.read(path);
  if (!bytes) return context.fail(`${input.file_path}: the stored content of the file is missing or damaged`);
  const decoded = decodeText(bytes);
  if (!decoded) return context.fail(`${input.file_path} is a binary file; the edit tool changes text only`);
  const edited = creates ? { text: input.new_string, count: 1 } : replaceIn(decoded.text, input);
  if ('error' in edited) return context.fail(`${edited.error}`);
  const written = await workspace.write(path, encodeText(edited.text, decoded));
  if (!written.ok) return context.fail(`${input.file_path}: ${written.reason}`);
  if (face === 'agent_toolset') return text(`edited ${input.file_path} (${edited.count} replacement(s))`);
  if (creates) return text(`File created successfully at: ${path}`);
  return text(`The file ${path} has been updated (${edited.count} replacement(s)).`);
}

/** The edited text, or why not. In a file of CRLF lines only, the model's bare newlines stand for CRLF. */
function replaceIn(whole: string, input: EditInput): { text: string; count: number } | { error: string } {
  const crlf = whole.includes('\r\n') && !/(?:^|[^\r])\n/.test(whole);
  const adapt = (value: string) => (crlf ? value.replace(/\r?\n/g, '\r\n') : value);
  const parts = whole.split(adapt(input.old_string));
  const count = parts.length - 1;
  if (count === 0)
    return { error: `old_string not found in ${input.file_path}; it must match exactly, white space included` };
  if (count > 1 && input.replace_all !== true) {
    const how = 'add lines around it until it is unique, or set replace_all';
    return { error: `old_string appears ${count} times in ${input.file_path} (must be unique); ${how}` };
  }
  return { text: parts.join(adapt(input.new_string)), count };
}
