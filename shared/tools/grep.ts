// Searches file contents by regex. The pattern runs in the sandbox, on an engine of linear time.

import { z } from 'zod';
import { isPathError } from '../core/workspace-path.ts';
import type { Search, Workspace } from '../ports/sandbox.ts';
import type { Limits } from '../types/limits.ts';
import type { Tool, ToolOutcome } from '../types/tool.ts';
import { defineTool, type ToolContext, text } from './define-tool.ts';
import { newestFirst, refuseGlob } from './glob.ts';
import { resolveSearch } from './paths.ts';

type ContentSearch = Omit<Extract<Search, { kind: 'content' }>, 'kind' | 'root'>;

/** `grep` of the agent toolset. */
export function grepTool(limits: Limits): Tool<Workspace> {
  const schema = z.object({
    pattern: z.string().min(1).describe('A regular expression (RE2 syntax: no look-around, no back-references)'),
    path: z.string().optional().describe('File or directory to search in. Defaults to the shell directory.'),
  });
  return defineTool(
    {
      name: 'grep',
      wireName: 'grep',
      face: 'agent_toolset',
      description: 'Search file contents for a regex. Prints path:line:text; hidden and ignored files are left out.',
      schema,
      replay: 'safe',
      readOnly: true,
      run: async ({ pattern, path }, context) => {
        const found = await search({ ...PLAIN, pattern }, path, context);
        if (!found.ok) return context.fail(`${found.reason}`);
        return text(found.lines.length === 0 ? 'no matches' : listed(found.lines, found.more));
      },
    },
    limits,
  );
}

const PLAIN: Omit<ContentSearch, 'pattern'> = {
  output: 'lines',
  ignoreCase: false,
  multiline: false,
  before: 0,
  after: 0,
};
const OUTPUTS = { content: 'lines', files_with_matches: 'files', count: 'counts' } as const;
const contextLines = z.int().min(0).max(1000).optional();

const ClaudeCodeGrep = z.object({
  pattern: z.string().min(1).describe('The regular expression to search for (RE2 syntax)'),
  path: z.string().optional().describe('File or directory to search in. Defaults to the shell directory.'),
  glob: z.string().optional().describe('Glob pattern to filter files (e.g. "*.js", "*.{ts,tsx}")'),
  output_mode: z
    .enum(['content', 'files_with_matches', 'count'])
    .optional()
    .describe(
      '"content" shows matching lines, "files_with_matches" paths (default), "count" numbers of matching lines',
    ),
  '-i': z.boolean().optional().describe('Case insensitive search'),
  '-n': z.boolean().optional().describe('Show line numbers (content mode; default true)'),
  '-A': contextLines.describe('Lines to show after each match (content mode)'),
  '-B': contextLines.describe('Lines to show before each match (content mode)'),
  '-C': contextLines.describe('Lines to show before and after each match (content mode)'),
  head_limit: z.int().min(0).optional().describe('Show only the first N lines or entries'),
  multiline: z.boolean().optional().describe('Patterns may span lines and . matches newlines'),
});

/** `Grep` of Claude Code. */
export function claudeCodeGrep(limits: Limits): Tool<Workspace> {
  return defineTool(
    {
      name: 'Grep',
      wireName: 'grep',
      face: 'claude_code',
      description: 'Searches file contents with a regular expression. Hidden and ignored files are left out.',
      schema: ClaudeCodeGrep,
      replay: 'safe',
      readOnly: true,
      run: grepAsClaudeCode,
    },
    limits,
  );
}

async function grepAsClaudeCode(input: z.infer<typeof ClaudeCodeGrep>, context: ToolContext): Promise<ToolOutcome> {
  const refused = input.glob === undefined ? null : refuseGlob(input.glob, context.limits.searchPatternCharsMax);
  if (refused !== null) return context.fail(`glob: ${refused}`);
  const output = OUTPUTS[input.output_mode ?? 'files_with_matches'];
  const around = input['-C'] ?? 0;
  const what: ContentSearch = {
    pattern: input.pattern,
    output,
    ignoreCase: input['-i'] === true,
    multiline: input.multiline === true,
    before: output === 'lines' ? (input['-B'] ?? around) : 0,
    after: output === 'lines' ? (input['-A'] ?? around) : 0,
    ...(input.glob === undefined ? {} : { glob: input.glob }),
  };
  const found = await search(what, input.path, context);
  if (!found.ok) return context.fail(`${found.reason}`);
  if (found.lines.length === 0) return text(output === 'files' ? 'No files found' : 'No matches found');
  const sorted = output === 'files' ? newestFirst(found.lines, context.workspace) : found.lines;
  const numbered = output !== 'lines' || input['-n'] !== false ? sorted : sorted.map(withoutNumber);
  const limit = input.head_limit === undefined || input.head_limit === 0 ? numbered.length : input.head_limit;
  const shown = listed(numbered.slice(0, limit), found.more || limit < numbered.length);
  return text(
    output === 'files' ? `Found ${numbered.length} file${numbered.length === 1 ? '' : 's'}\n${shown}` : shown,
  );
}

async function search(what: ContentSearch, path: string | undefined, context: ToolContext) {
  const { workspace, call, limits, signal } = context;
  if (what.pattern.length > limits.searchPatternCharsMax) {
    const reason = `the pattern has more than ${limits.searchPatternCharsMax} characters (searchPatternCharsMax)`;
    return { ok: false as const, reason };
  }
  const root = resolveSearch(path, workspace);
  if (isPathError(root)) return { ok: false as const, reason: root.error };
  return workspace.search({ kind: 'content', root, ...what }, call.timeoutMs, signal);
}

const listed = (lines: readonly string[], more: boolean): string =>
  [...lines, ...(more ? ['(there are more; narrow the search)'] : [])].join('\n');

/** `path:12:text` without its number; context lines likewise. */
const withoutNumber = (line: string): string => line.replace(/^(.*?)([:-])\d+\2/, '$1$2');
