// How a tool's path argument is understood under each face.

import { isPathError, type PathError, workspacePath } from '../core/workspace-path.ts';
import type { Workspace } from '../ports/sandbox.ts';
import type { WorkspacePath } from '../types/ids.ts';
import type { ToolFace } from '../types/session.ts';

/** Claude Code's tools take absolute paths only; the toolset's are relative to the shell's directory. */
export function resolveFile(path: string, face: ToolFace, workspace: Workspace): WorkspacePath | PathError {
  if (face === 'claude_code' && !path.startsWith('/')) {
    return {
      error: `${path.slice(0, 200)}: file_path must be an absolute path, not a relative one (the workspace is /workspace)`,
    };
  }
  return workspacePath(path, workspace.shell.cwd);
}

/** The directory or file to search: `path`, or the shell's directory. */
export function resolveSearch(path: string | undefined, workspace: Workspace): WorkspacePath | PathError {
  const from = path === undefined || path === '' ? '.' : path;
  const found = workspacePath(from, workspace.shell.cwd);
  if (isPathError(found) || workspace.stat(found) || workspace.isDirectory(found)) return found;
  return { error: `${from.slice(0, 200)}: no such file or directory` };
}

/** The reason for a path that holds no file: a directory, or nothing, with a file of the same name elsewhere as a hint. */
export function missingFile(shown: string, path: WorkspacePath, workspace: Workspace): string {
  if (workspace.isDirectory(path)) return `${shown}: is a directory; list it with the shell or glob`;
  const name = path.slice(path.lastIndexOf('/') + 1).toLowerCase();
  const near = workspace.list().find((file) => file.path.slice(file.path.lastIndexOf('/') + 1).toLowerCase() === name);
  return `${shown}: no such file or directory${near ? `; did you mean ${near.path}?` : ''}`;
}
