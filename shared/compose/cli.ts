// What the command line needs of the service without starting it: the configuration, the tools, and whether the virtual
// sandbox works and is closed on this machine.

import { spawnSync } from 'node:child_process';
import { type Config, readConfig } from '../config.ts';
import { builtinTools } from '../tools/toolsets.ts';
import type { ToolFace } from '../types/session.ts';
import type { ToolDefinition } from '../types/tool.ts';

/** The configuration that `reprise dev` would have; throws with a message that names what is wrong. */
export function readLocalConfig(environment: Readonly<Record<string, string | undefined>>): Config {
  return readConfig(environment);
}

/** The built-in tools of a face, as a model is offered them. */
export function listTools(face: ToolFace): readonly ToolDefinition[] {
  return builtinTools(face);
}

/** Whether commands of the model run in a network namespace of their own here, beside the other walls of the sandbox. */
export function probeNetworkNamespace(): boolean {
  return spawnSync('unshare', ['-rn', 'true'], { stdio: 'ignore', timeout: 5000 }).status === 0;
}
