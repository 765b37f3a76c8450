// Paths of a workspace: absolute, normalised, inside one of its roots. What cannot be such a path is a value with a reason;
// the reason names the path as it was given and nothing else. The file index has no symbolic links, so `..` is lexical.

import type { WorkspacePath } from '../types/ids.ts';
import { LIMITS } from '../types/limits.ts';

export interface PathError {
  readonly error: string;
}

/** Where the shell starts and relative paths begin. */
export const WORKSPACE_HOME = '/workspace';
/** Where resources are mounted. */
export const UPLOADS_DIRECTORY = '/mnt/session/uploads';
/** What is written here is offered for download. */
export const OUTPUTS_DIRECTORY = '/mnt/session/outputs';
/** Where the full text of cut tool output goes. */
export const TOOL_OUTPUTS_DIRECTORY = '/mnt/session/tool_outputs';
/** The directories that are kept; everything else belongs to the sandbox's own system. */
export const WORKSPACE_ROOTS: readonly string[] = [WORKSPACE_HOME, '/mnt/session', '/tmp'];
/** There from the start, with or without files in them. */
export const STANDING_DIRECTORIES: readonly string[] = [...WORKSPACE_ROOTS, UPLOADS_DIRECTORY, OUTPUTS_DIRECTORY];

const SEGMENT_BYTES_MAX = 255;
const CONTROL = /\p{Cc}/u;

/** Whether `path` (normalised) is `directory` or lies under it. */
export const isUnder = (path: string, directory: string): boolean =>
  directory === '/' || path === directory || path.startsWith(`${directory}/`);

/** Whether `path` (normalised) is one of the workspace's roots or lies under one. */
export const isInWorkspace = (path: string): boolean => WORKSPACE_ROOTS.some((root) => isUnder(path, root));

/** Of `taken`, the path that leaves no room for a file at `path`: the same, one above it or one below it. */
export function pathInTheWay(taken: Iterable<WorkspacePath>, path: WorkspacePath): WorkspacePath | undefined {
  for (const other of taken) if (isUnder(path, other) || isUnder(other, path)) return other;
  return undefined;
}

/** `input` as an absolute path without `.`, `..` and doubled slashes, against `cwd` where it is relative. No check. */
export function normalizePath(input: string, cwd: string): string {
  const parts: string[] = [];
  for (const part of `${input.startsWith('/') ? '' : cwd}/${input}`.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part);
  }
  return `/${parts.join('/')}`;
}

/** The path that `input` names from `cwd` (absolute), or why there is none. */
export function workspacePath(input: string, cwd: string): WorkspacePath | PathError {
  const shown = showPath(input);
  if (input === '') return { error: 'the path is empty' };
  if (input.length > LIMITS.workspacePathCharsMax) return tooLong(shown);
  if (CONTROL.test(input)) return { error: `${shown}: a path cannot hold control characters` };
  if (!input.isWellFormed()) return { error: `${shown}: the path is not valid Unicode` };
  const path = normalizePath(input, cwd);
  if (path.length > LIMITS.workspacePathCharsMax) return tooLong(shown);
  if (path.split('/').some((part) => utf8Bytes(part) > SEGMENT_BYTES_MAX)) {
    return { error: `${shown}: a name in the path has more than ${SEGMENT_BYTES_MAX} bytes` };
  }
  if (!isInWorkspace(path)) return { error: `${shown}: is outside the workspace (${WORKSPACE_ROOTS.join(', ')})` };
  return path as WorkspacePath;
}

/** Whether a result of `workspacePath` is the reason instead of a path. */
export const isPathError = (value: WorkspacePath | PathError): value is PathError => typeof value !== 'string';

const tooLong = (shown: string): PathError => ({
  error: `${shown}: the path has more than ${LIMITS.workspacePathCharsMax} characters (workspacePathCharsMax)`,
});

/** A given path as it may stand in a message: one line, not long. */
export function showPath(input: string): string {
  const plain = input.replace(/\p{C}/gu, '\uFFFD');
  return plain.length > 200 ? `${plain.slice(0, 200)}…` : plain;
}

function utf8Bytes(text: string): number {
  let bytes = 0;
  for (const char of text) {
    const code = char.codePointAt(0) ?? 0;
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  }
  return bytes;
}
