// Searches inside the child: names by our own glob, contents by the shell's ripgrep with every part as an argument of its own.

import type { InMemoryFs } from 'just-bash';
import { isUnder } from '../../core/workspace-path.ts';
import type { Search } from '../../ports/sandbox.ts';
import { createBash } from './child-shell.ts';
import { compileGlob } from './glob-match.ts';
import type { FileRow, SearchReply } from './protocol.ts';

type ContentSearch = Extract<Search, { kind: 'content' }>;

/** The reply to one search. `files` are all files of the workspace. */
export async function runSearch(
  search: Search,
  files: readonly FileRow[],
  fs: InMemoryFs,
  limits: { readonly linesMax: number; readonly timeoutMs: number },
): Promise<SearchReply> {
  const { linesMax, timeoutMs } = limits;
  const glob = search.kind === 'files' ? search.pattern : search.glob;
  const matches = glob === undefined ? null : compileGlob(glob);
  if (matches !== null && typeof matches !== 'function') return reply([], linesMax, matches.error);
  const chosen = matches === null ? null : matching(files, search.root, matches);
  if (search.kind === 'files') return reply(chosen ?? [], linesMax, null);
  if (chosen?.length === 0) return reply([], linesMax, null);
  const bash = createBash({ fs, cwd: search.root, exports: {}, timeoutMs }, []);
  const result = await bash.exec('rg', { args: [...ripgrepArguments(search), ...(chosen ?? [search.root])] });
  const error = result.exitCode > 1 || result.stderr !== '' ? result.stderr.trim().replace(/^rg: /, '') : null;
  if (error !== null && result.stdout === '') return reply([], linesMax, error);
  return reply(result.stdout.split('\n').slice(0, -1), linesMax, null);
}

function matching(files: readonly FileRow[], root: string, matches: (path: string) => boolean): string[] {
  const prefix = root === '/' ? 1 : root.length + 1;
  return files
    .map((row) => row[0])
    .filter(
      (path) => isUnder(path, root) && path !== root && !isNoise(path.slice(prefix)) && matches(path.slice(prefix)),
    );
}

/** Directories that searches leave out, as the reference toolset does. */
const isNoise = (path: string): boolean => /(?:^|\/)(?:\.git|node_modules)\//.test(path);

const OUTPUT_FLAG = { lines: '-n', files: '-l', counts: '-c' } as const;

function ripgrepArguments(search: ContentSearch): string[] {
  const { pattern, flags } = plainPattern(search.pattern, search.multiline);
  return [
    OUTPUT_FLAG[search.output],
    '-H',
    ...(search.ignoreCase || flags.includes('i') ? ['-i'] : []),
    ...(search.multiline ? ['-U'] : []),
    ...(search.before > 0 ? ['-B', String(search.before)] : []),
    ...(search.after > 0 ? ['-A', String(search.after)] : []),
    '-e',
    pattern,
  ];
}

/** This ripgrep does not know inline flags at the start, nor a dot that matches newlines: both are written out. */
function plainPattern(pattern: string, multiline: boolean): { pattern: string; flags: string } {
  const inline = /^\(\?([imsU]+)\)/.exec(pattern);
  const flags = inline?.[1] ?? '';
  const rest = pattern.slice(inline?.[0].length ?? 0);
  if (!multiline && !flags.includes('s')) return { pattern: rest, flags };
  let out = '';
  let inClass = false;
  for (let i = 0; i < rest.length; i++) {
    const char = rest[i] as string;
    if (char === '\\') out += char + (rest[++i] ?? '');
    else if (char === '.' && !inClass) out += '[\\s\\S]';
    else {
      if (char === '[') inClass = true;
      if (char === ']') inClass = false;
      out += char;
    }
  }
  return { pattern: out, flags };
}

const LINE_CHARS_MAX = 2000;

function reply(lines: readonly string[], linesMax: number, error: string | null): SearchReply {
  const shown = lines
    .slice(0, linesMax)
    .map((line) => (line.length > LINE_CHARS_MAX ? `${line.slice(0, LINE_CHARS_MAX)}…` : line));
  return { kind: 'found', error, lines: shown, more: lines.length > linesMax };
}
