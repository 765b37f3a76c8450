// Reads one file: text (numbered for Claude Code's face), images and PDFs as blocks by their bytes, anything else refused with a hint.

import { z } from 'zod';
import { isPathError } from '../core/workspace-path.ts';
import type { Workspace } from '../ports/sandbox.ts';
import type { Limits } from '../types/limits.ts';
import type { Tool, ToolOutcome } from '../types/tool.ts';
import { defineTool, type ToolContext, text } from './define-tool.ts';
import { DOCUMENT_BYTES_MAX, decodeText, IMAGE_BYTES_MAX, mediaBlock, mediaTypeOf } from './media.ts';
import { missingFile, resolveFile } from './paths.ts';

const LINES_DEFAULT = 2000;
const LINE_CHARS_MAX = 2000;
const EMPTY = '(the file is empty)';

/** `read` of the agent toolset. */
export function readTool(limits: Limits): Tool<Workspace> {
  const schema = z.object({
    file_path: z.string().min(1).describe('The file, absolute or relative to the shell directory'),
    view_range: z
      .array(z.int())
      .length(2, 'must be [start_line, end_line]')
      .optional()
      .describe('[start_line, end_line] 1-indexed inclusive; an end of -1 reads to the end'),
  });
  return defineTool(
    {
      name: 'read',
      wireName: 'read',
      face: 'agent_toolset',
      description: 'Read a file: UTF-8 text, an image (PNG, JPEG, GIF, WebP) or a PDF.',
      schema,
      whenLong: 'read the rest by view_range',
      replay: 'safe',
      readOnly: true,
      run: async ({ file_path, view_range }, context) => {
        const [first = 1, last = -1] = view_range ?? [];
        const range = view_range
          ? { first: Math.max(1, first), last: last > 0 ? last : Number.MAX_SAFE_INTEGER }
          : null;
        const hint = 'Use view_range to read a part, for example [1, 500].';
        return readFile({ shown: file_path, face: 'agent_toolset', range, hint }, context);
      },
    },
    limits,
  );
}

/** `Read` of Claude Code. */
export function claudeCodeRead(limits: Limits): Tool<Workspace> {
  const schema = z.object({
    file_path: z.string().min(1).describe('The absolute path to the file to read'),
    offset: z.int().min(0).optional().describe('The line number to start reading from'),
    limit: z.int().min(1).optional().describe('The number of lines to read'),
    pages: z.string().optional().describe('Page range for PDF files'),
  });
  return defineTool(
    {
      name: 'Read',
      wireName: 'read',
      face: 'claude_code',
      description: `Reads a file by absolute path. Returns up to ${LINES_DEFAULT} lines with line numbers, as cat -n does; offset and limit read other parts. Images and PDFs are shown.`,
      schema,
      whenLong: 'read the rest by offset and limit',
      replay: 'safe',
      readOnly: true,
      run: async ({ file_path, offset, limit, pages }, context) => {
        const first = Math.max(1, offset ?? 1);
        const asked = offset !== undefined || limit !== undefined;
        const range = asked ? { first, last: first + (limit ?? LINES_DEFAULT) - 1 } : null;
        const hint = 'Use offset and limit to read a part, or Grep to find the lines you need.';
        return readFile({ shown: file_path, face: 'claude_code', range, hint, pages }, context);
      },
    },
    limits,
  );
}

interface ReadRequest {
  readonly shown: string;
  readonly face: 'agent_toolset' | 'claude_code';
  /** Lines from 1, inclusive; null reads the whole file. */
  readonly range: { readonly first: number; readonly last: number } | null;
  readonly hint: string;
  readonly pages?: string | undefined;
}

async function readFile(request: ReadRequest, context: ToolContext): Promise<ToolOutcome> {
  const { workspace, limits } = context;
  const path = resolveFile(request.shown, request.face, workspace);
  if (isPathError(path)) return context.fail(`${path.error}`);
  const stat = workspace.stat(path);
  if (!stat) return context.fail(`${missingFile(request.shown, path, workspace)}`);
  const bytes = await workspace.read(path);
  if (!bytes) return context.fail(`${request.shown}: the stored content of the file is missing or damaged`);
  const media = mediaTypeOf(bytes);
  if (media) return readMedia(request, { media, bytes }, context);
  if (bytes.length > limits.fileReadBytesMax && !request.range) {
    return context.fail(
      `${request.shown} is ${bytes.length} bytes, more than ${limits.fileReadBytesMax} (fileReadBytesMax). ${request.hint}`,
    );
  }
  const decoded = decodeText(bytes);
  if (!decoded) {
    return context.fail(
      `${request.shown} is a binary file of ${bytes.length} bytes; look at it with the shell (file, od, strings)`,
    );
  }
  if (decoded.text === '') return text(EMPTY);
  return showLines(request, decoded.text, context);
}

function readMedia(
  request: ReadRequest,
  { media, bytes }: { readonly media: NonNullable<ReturnType<typeof mediaTypeOf>>; readonly bytes: Uint8Array },
  context: ToolContext,
): ToolOutcome {
  const max = media === 'application/pdf' ? DOCUMENT_BYTES_MAX : IMAGE_BYTES_MAX;
  if (bytes.length > max) {
    return context.fail(`${request.shown} (${media}) is ${bytes.length} bytes; at most ${max} can be shown`);
  }
  const block = mediaBlock(media, bytes);
  if (request.pages === undefined || media !== 'application/pdf') return { content: [block], isError: false };
  const note = {
    type: 'text',
    text: `The whole document follows; look for pages ${request.pages.slice(0, 50)} in it.`,
  };
  return { content: [note, block], isError: false };
}

function showLines(request: ReadRequest, whole: string, context: ToolContext): ToolOutcome {
  const charsMax = context.limits.fileReadBytesMax;
  if (request.face === 'agent_toolset' && !request.range) return text(whole);
  const lines = whole.split('\n');
  if (lines.at(-1) === '' && request.face === 'claude_code') lines.pop();
  const { first, last } = request.range ?? { first: 1, last: LINES_DEFAULT };
  if (first > lines.length) {
    return text(`(the file has ${lines.length} lines; line ${first} is beyond its end)`);
  }
  const chosen = lines.slice(first - 1, last);
  const shown = request.face === 'agent_toolset' ? chosen.join('\n') : numbered(chosen, first);
  if (shown.length > charsMax) {
    return context.fail(
      `the chosen lines of ${request.shown} have ${shown.length} characters, more than ${charsMax}; choose fewer`,
    );
  }
  const left = lines.length - (first - 1) - chosen.length;
  const more = request.range === null && left > 0 ? `\n\n[${left} more lines; ${request.hint}]` : '';
  return text(shown + more);
}

/** As `cat -n`: a number of width six, a tab, the line; very long lines are cut. */
function numbered(lines: readonly string[], first: number): string {
  const cut = (line: string) => (line.length > LINE_CHARS_MAX ? `${line.slice(0, LINE_CHARS_MAX)}… [line cut]` : line);
  return lines.map((line, i) => `${String(first + i).padStart(6)}\t${cut(line.replace(/\r$/, ''))}`).join('\n');
}
