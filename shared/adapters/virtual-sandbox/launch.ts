// Starts the child with nothing: no environment, no permission, no network where the system can take it away, a heap cap.

import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';

export interface LaunchOptions {
  readonly childPath: string;
  readonly heapMb: number;
  /** Arguments of the child's own, for tests that probe it. */
  readonly args?: readonly string[];
}

/** What stands between the child and the network besides its own flags. */
export type Isolation = 'network-namespace' | 'flags';

const UNSHARE = ['/usr/bin/unshare', '/bin/unshare'].find((path) => process.platform === 'linux' && existsSync(path));
/** A user namespace of its own, with an empty network namespace. */
const UNSHARE_FLAGS = ['--map-root-user', '--net', '--'];

let probed: Promise<Isolation> | undefined;

/** Whether a child gets its own network namespace here; looked at once. */
export function probeIsolation(): Promise<Isolation> {
  probed ??= new Promise((resolve) => {
    if (UNSHARE === undefined) return resolve('flags');
    execFile(UNSHARE, [...UNSHARE_FLAGS, '/bin/true'], { env: {}, timeout: 5000 }, (error) =>
      resolve(error ? 'flags' : 'network-namespace'),
    );
  });
  return probed;
}

/** Node's flags for the child: every grant of the permission model is missing, and what it does not cover is off. */
export const childFlags = (heapMb: number): readonly string[] => [
  '--permission',
  '--no-addons',
  '--no-experimental-sqlite',
  '--no-experimental-websocket',
  '--no-experimental-global-navigator',
  '--disallow-code-generation-from-strings',
  '--disable-sigusr1',
  '--disable-proto=delete',
  '--no-warnings',
  `--max-old-space-size=${heapMb}`,
];

/** The running child; stdin and stdout are its frames, stderr what it says when it dies. */
export async function launchChild(options: LaunchOptions): Promise<ChildProcess> {
  const isolation = await probeIsolation();
  const node = [process.execPath, ...childFlags(options.heapMb), options.childPath, ...(options.args ?? [])];
  const [command, ...args] =
    isolation === 'network-namespace' && UNSHARE !== undefined ? [UNSHARE, ...UNSHARE_FLAGS, ...node] : node;
  return spawn(command as string, args, { env: {}, cwd: '/', stdio: ['pipe', 'pipe', 'pipe'] });
}
