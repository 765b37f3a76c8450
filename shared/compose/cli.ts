// What the command line needs of the service without starting it: the configuration, the tools, and whether the virtual
// sandbox works and is closed on this machine.

import { probeIsolation } from '../adapters/virtual-sandbox/launch.ts';
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
export async function probeNetworkNamespace(): Promise<boolean> {
  return (await probeIsolation()) === 'network-namespace';
}
