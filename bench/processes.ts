// Child processes that print where they listen: started on a CPU of their own where that can be, watched through /proc
// (Linux), and stopped for certain.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';

const START_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 5000;

/** CPU 0 runs what is measured, CPU 1 the mock model and the client. */
export const SERVICE_CPU = 0;
export const CLIENT_CPU = 1;

export interface Started {
  readonly pid: number;
  readonly url: string;
  /** From the start of the process to its first answer on `/healthz`. */
  readonly readyMs: number;
  stop(): Promise<void>;
}

export interface Launch {
  /** Arguments for this Node. */
  readonly args: readonly string[];
  readonly cpu: number;
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd: string;
}

/** None outlives the bench. */
const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

/** Whether processes can be bound to CPUs here; at least two are needed. */
export const canPin: boolean =
  availableParallelism() >= 2 && spawnSync('taskset', ['-cp', String(process.pid)]).status === 0;

/** Binds this process, all threads, to the client's CPU. */
export function pinSelf(): void {
  if (canPin) spawnSync('taskset', ['-acp', String(CLIENT_CPU), String(process.pid)]);
}

/** Starts a process and waits until it answers. Throws with all it printed where it does not come up. */
export async function start(launch: Launch): Promise<Started> {
  const [command = '', ...args] = canPin
    ? ['taskset', '-c', String(launch.cpu), process.execPath, ...launch.args]
    : [process.execPath, ...launch.args];
  const startedAt = performance.now();
  const child = spawn(command, args, {
    cwd: launch.cwd,
    env: { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', ...launch.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.add(child);
  child.once('exit', () => running.delete(child));
  const url = await listeningOn(child);
  const health = await fetch(`${url}/healthz`);
  await health.arrayBuffer();
  const readyMs = performance.now() - startedAt;
  return { pid: child.pid ?? 0, url, readyMs, stop: () => stop(child) };
}

function listeningOn(child: ChildProcess): Promise<string> {
  let text = '';
  return new Promise((resolve, reject) => {
    const fail = (why: string): void => {
      child.kill('SIGKILL');
      reject(new Error(`${child.spawnargs.join(' ')} ${why}; it printed:\n${text}`));
    };
    const timer = setTimeout(() => fail(`was not ready after ${START_TIMEOUT_MS} ms`), START_TIMEOUT_MS);
    const read = (chunk: Buffer): void => {
      text += chunk.toString();
      const url = /listening on (http:\/\/\S+?:\d+)/i.exec(text)?.[1];
      if (url === undefined) return;
      clearTimeout(timer);
      resolve(url);
    };
    child.stdout?.on('data', read);
    child.stderr?.on('data', read);
    child.once('error', (error) => fail(error.message));
    child.once('exit', (code) => fail(`ended with ${code}`));
  });
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
  await exited;
  clearTimeout(timer);
}

/** CPU time of all threads so far in milliseconds, or undefined where the system does not tell. */
export function cpuMs(pid: number): number | undefined {
  try {
    const threads = readdirSync(`/proc/${pid}/task`);
    const nanoseconds = threads.map((id) =>
      Number(readFileSync(`/proc/${pid}/task/${id}/schedstat`, 'utf8').split(' ')[0]),
    );
    return nanoseconds.reduce((sum, ns) => sum + ns, 0) / 1e6;
  } catch {
    return undefined;
  }
}

/** Most memory the process ever held, in MB (10^6 bytes), or undefined where the system does not tell. */
export function peakMemoryMb(pid: number): number | undefined {
  try {
    const kilobytes = /^VmHWM:\s*(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return kilobytes === undefined ? undefined : (Number(kilobytes) * 1024) / 1e6;
  } catch {
    return undefined;
  }
}
