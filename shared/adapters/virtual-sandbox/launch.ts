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

const program = (name: string): string | undefined =>
  process.platform === 'linux' ? ['/usr/bin', '/bin'].map((at) => `${at}/${name}`).find(existsSync) : undefined;
const UNSHARE = program('unshare');
const SETPRIV = program('setpriv');

/** A user namespace of its own, with an empty network namespace. */
const WITHOUT_NETWORK = UNSHARE === undefined ? [] : [UNSHARE, '--map-root-user', '--net', '--'];
/** Ends with the service, even where that is killed while the child is busy. */
const TIED_TO_PARENT = SETPRIV === undefined ? [] : [SETPRIV, '--pdeathsig', 'KILL', '--'];

let probed: Promise<readonly string[]> | undefined;

/** The command before the child's own: the most that works here; looked at once. */
function probeWrapper(): Promise<readonly string[]> {
  probed ??= (async () => {
    for (const wrapper of [[...WITHOUT_NETWORK, ...TIED_TO_PARENT], WITHOUT_NETWORK, TIED_TO_PARENT]) {
      if (await works(wrapper)) return wrapper;
    }
    return [];
  })();
  return probed;
}

function works([command, ...args]: readonly string[]): Promise<boolean> {
  if (command === undefined) return Promise.resolve(false);
  const options = { env: {}, cwd: '/', timeout: 5000 };
  return new Promise((resolve) => execFile(command, [...args, '/bin/true'], options, (error) => resolve(!error)));
}

/** Whether a child gets its own, empty network namespace here. */
export async function probeIsolation(): Promise<Isolation> {
  return UNSHARE !== undefined && (await probeWrapper()).includes(UNSHARE) ? 'network-namespace' : 'flags';
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
  const wrapper = await probeWrapper();
  const node = [process.execPath, ...childFlags(options.heapMb), options.childPath, ...(options.args ?? [])];
  const [command, ...args] = [...wrapper, ...node];
  return spawn(command as string, args, { env: {}, cwd: '/', stdio: ['pipe', 'pipe', 'pipe'] });
}
