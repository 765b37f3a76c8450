// What of a shell is carried to the next call: its directory and exported variables, never what could change how the next command is
// read or what it runs. What is left behind is said.

import { isInWorkspace, normalizePath, WORKSPACE_HOME, workspacePath } from '../../core/workspace-path.ts';
import { LIMITS } from '../../types/limits.ts';
import type { ShellState } from '../../types/log.ts';

export const FRESH_SHELL: ShellState = { cwd: WORKSPACE_HOME, exports: {} };

const EXPORTS_MAX = 200;
const EXPORTS_CHARS_MAX = 32_768;
/** Also held by the child, which says what is beyond it. */
export const EMPTY_DIRECTORIES_MAX = 500;

/** Set by each shell itself. */
const OWN: Readonly<Record<string, string | null>> = {
  HOME: WORKSPACE_HOME,
  USER: 'user',
  LANG: 'C.UTF-8',
  PATH: '/usr/bin:/bin',
  PWD: null,
  OLDPWD: null,
  _: null,
  SHLVL: null,
  OPTIND: null,
};
const NEVER =
  /^(?:PATH|IFS|ENV|BASH_ENV|PS[0-4]|SHELLOPTS|BASHOPTS|PROMPT_COMMAND|BASH_FUNC.*|LD_.*|GIT_.*|NODE_OPTIONS)$/;
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

interface Ended {
  readonly cwd: string;
  readonly exports: Readonly<Record<string, string>>;
}

/** The state after a command and notes on what it does not hold. */
export function carryShell(
  before: ShellState,
  ended: Ended | null,
  emptyDirectories: readonly string[],
): { readonly shell: ShellState; readonly notes: readonly string[] } {
  const kept = emptyDirectories.filter(isPlainDirectory).slice(0, EMPTY_DIRECTORIES_MAX);
  const directories = kept.length > 0 ? { emptyDirectories: kept } : {};
  const { cwd, exports } = before;
  if (!ended) return { shell: { cwd, exports, ...directories }, notes: [] };
  const carried: Record<string, string> = {};
  const left: string[] = [];
  let chars = 0;
  for (const [name, value] of Object.entries(ended.exports)) {
    if (Object.hasOwn(OWN, name) && (OWN[name] === null || OWN[name] === value)) continue;
    chars += name.length + value.length;
    const fits = chars <= EXPORTS_CHARS_MAX && Object.keys(carried).length < EXPORTS_MAX;
    if (NEVER.test(name) || !NAME.test(name) || !fits) left.push(name.slice(0, 100));
    else carried[name] = value;
  }
  const notes = left.length > 0 ? [`not carried to the next call: ${left.slice(0, 10).join(', ')}`] : [];
  const stays = isDirectoryPath(ended.cwd);
  if (!stays) notes.push(`the directory it ended in cannot be kept: the shell is in ${cwd} again`);
  return { shell: { cwd: stays ? ended.cwd : cwd, exports: carried, ...directories }, notes };
}

/** Whether two states are the same, so that an unchanged one is not stored again. */
export const isSameShell = (a: ShellState, b: ShellState): boolean =>
  a === b || JSON.stringify(a) === JSON.stringify(b);

const isPlainDirectory = (path: string): boolean => workspacePath(path, '/') === path;

const isDirectoryPath = (path: string): boolean =>
  isInWorkspace(path) ? isPlainDirectory(path) : isOutsideDirectory(path);

const isOutsideDirectory = (path: string): boolean =>
  path.startsWith('/') &&
  path.length <= LIMITS.workspacePathCharsMax &&
  path.isWellFormed() &&
  !/\p{Cc}/u.test(path) &&
  normalizePath(path, '/') === path;
