// The shell. Directory and exported variables stay from call to call; a command that is stopped leaves the files as they were.

import { z } from 'zod';
import { OUTPUTS_DIRECTORY, UPLOADS_DIRECTORY, WORKSPACE_HOME } from '../core/workspace-path.ts';
import type { ExecResult, Workspace } from '../ports/sandbox.ts';
import type { Limits } from '../types/limits.ts';
import type { Tool, ToolOutcome } from '../types/tool.ts';
import { defineTool, failed, type ToolContext, text } from './define-tool.ts';

const PLACES = `The shell starts in ${WORKSPACE_HOME}; uploaded files are under ${UPLOADS_DIRECTORY}; what is written to ${OUTPUTS_DIRECTORY} is offered to the user for download.`;
const STATE =
  'The directory and exported variables persist across calls; functions, aliases and other variables do not.';

/** `bash` of the agent toolset. */
export function bashTool(limits: Limits): Tool<Workspace> {
  const schema = z.object({
    command: z.string().optional().describe('The command to run'),
    restart: z.boolean().optional().describe('Restart the persistent shell before running'),
    timeout_ms: z.int().min(1).optional().describe('Per-call timeout in milliseconds'),
  });
  return defineTool(
    {
      name: 'bash',
      wireName: 'bash',
      face: 'agent_toolset',
      description: `Run a bash command in a persistent shell. ${STATE} ${PLACES}`,
      schema,
      replay: 'unsafe',
      readOnly: false,
      run: async ({ command, restart, timeout_ms }, context) => {
        if (restart === true) context.workspace.restartShell();
        if (command !== undefined && command !== '') return runCommand(command, timeout_ms, context);
        return restart === true ? text('bash session restarted') : context.fail('command is required');
      },
    },
    limits,
  );
}

/** `Bash` of Claude Code. */
export function claudeCodeBash(limits: Limits): Tool<Workspace> {
  const schema = z.object({
    command: z.string().min(1).describe('The command to execute'),
    timeout: z.int().min(1).optional().describe(`Optional timeout in milliseconds (at most ${limits.toolTimeoutMs})`),
    description: z.string().optional().describe('What this command does, in 5 to 10 words'),
  });
  return defineTool(
    {
      name: 'Bash',
      wireName: 'bash',
      face: 'claude_code',
      description: `Executes a bash command. ${STATE} ${PLACES} Use Read, Edit, Write, Glob and Grep for files rather than cat, sed, find or grep.`,
      schema,
      replay: 'unsafe',
      readOnly: false,
      run: async ({ command, timeout }, context) => runCommand(command, timeout, context),
    },
    limits,
  );
}

async function runCommand(command: string, askedMs: number | undefined, context: ToolContext): Promise<ToolOutcome> {
  const timeoutMs = Math.min(askedMs ?? context.call.timeoutMs, context.call.timeoutMs);
  const result = await context.workspace.exec(command, { timeoutMs, stateful: true }, context.signal);
  const stopped = stoppedBecause(result.killed, timeoutMs);
  const parts = [output(result), stopped ?? '', ...result.notes.map((note) => `[${note}]`)];
  if (stopped === null && result.exitCode !== 0) parts.unshift(`Exit code ${result.exitCode}`);
  const shown = parts.filter((part) => part !== '').join('\n');
  return stopped !== null || result.exitCode !== 0 ? failed(shown) : text(shown);
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: colour codes start with ESC
const ANSI = /\u001b\[[0-9;?]*[ -/]*[@-~]/g;

function output(result: ExecResult): string {
  const trimmed = [result.stdout, result.stderr].map((part) => part.replace(ANSI, '').replace(/\n+$/, ''));
  return trimmed.filter((part) => part !== '').join('\n');
}

/** Why a command was ended from outside, in words; null where it ended by itself. */
export function stoppedBecause(killed: ExecResult['killed'], timeoutMs: number): string | null {
  const unchanged = 'Files, directory and variables are as they were before it.';
  switch (killed) {
    case null:
      return null;
    case 'timeout':
      return `The command timed out after ${timeoutMs} ms and was killed. ${unchanged}`;
    case 'aborted':
      return `The command was interrupted and killed. ${unchanged}`;
    case 'memory':
      return `The command used more memory than it may and was killed. ${unchanged}`;
    case 'crashed':
      return `The sandbox stopped while the command ran. ${unchanged}`;
    default:
      return killed satisfies never;
  }
}
