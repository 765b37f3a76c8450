// Starts the real service as a child process on a free loopback port, the way `npm start` does, and can kill and restart it.

import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openLocalDynamo } from '../../shared/adapters/local-dynamo.ts';

/** The store under every service of a run: `REPRISE_STORE=dynamodb npx vitest run test/e2e`. */
const STORE = process.env.REPRISE_STORE ?? 'embedded';
const PROJECT = fileURLToPath(new URL('../..', import.meta.url));
const START_TIMEOUT_MS = 30_000;
const STOP_TIMEOUT_MS = 10_000;

export interface ServiceOptions {
  /** Default: a fresh directory, removed by `stop`. */
  readonly dataDir?: string;
  /** The bootstrap key. */
  readonly apiKey?: string;
  /** Base URL of a Messages endpoint; absent = the service's own demo model. */
  readonly modelUrl?: string;
  /** Further environment. */
  readonly env?: Readonly<Record<string, string>>;
}

export interface Service {
  /** `http://127.0.0.1:<port>`; another one after `restart`. */
  readonly url: string;
  readonly apiKey: string;
  readonly dataDir: string;
  readonly pid: number;
  /** How the process ended, or null while it runs. */
  ended(): string | null;
  /** All that the service printed since it was last started. */
  output(): string;
  /** SIGKILL: no handler runs. */
  kill9(): Promise<void>;
  /** SIGTERM and, where the data directory is ours, its removal. */
  stop(): Promise<void>;
  /** Starts again on the same data directory (after `kill9`, or after a SIGTERM that this sends first). */
  restart(): Promise<void>;
}

interface Running {
  readonly child: ChildProcess;
  readonly url: string;
  readonly output: () => string;
  readonly exited: Promise<void>;
}

function launch(environment: Record<string, string>): Promise<Running> {
  // No variable of the caller leaks in but the store's: a key in the shell must not change what is tested.
  const child = spawn(process.execPath, [join(PROJECT, 'bin', 'reprise.mjs'), 'dev'], {
    cwd: PROJECT,
    env: { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? tmpdir(), ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  return new Promise((resolve, reject) => {
    const fail = (why: string) => {
      clearTimeout(timer);
      child.kill('SIGKILL');
      reject(new Error(`the service ${why}; it printed:\n${text}`));
    };
    const timer = setTimeout(() => fail(`was not ready after ${START_TIMEOUT_MS} ms`), START_TIMEOUT_MS);
    const read = (chunk: Buffer) => {
      text += chunk.toString();
      const url = /listening on (http:\/\/\S+?:\d+)/i.exec(text)?.[1];
      if (!url) return;
      clearTimeout(timer);
      resolve({ child, url, output: () => text, exited });
    };
    child.stdout?.on('data', read);
    child.stderr?.on('data', read);
    child.once('error', (error) => fail(`could not be started: ${error.message}`));
    child.once('exit', (code) => fail(`ended with ${code}`));
  });
}

async function end(running: Running, signal: NodeJS.Signals): Promise<void> {
  if (running.child.exitCode !== null || running.child.signalCode !== null) return;
  running.child.kill(signal);
  const timer = setTimeout(() => running.child.kill('SIGKILL'), STOP_TIMEOUT_MS);
  await running.exited;
  clearTimeout(timer);
}

async function endServer(directory: string): Promise<void> {
  await (await openLocalDynamo({ directory })).close();
}

export async function startService(options: ServiceOptions = {}): Promise<Service> {
  const dataDir = options.dataDir ?? (await mkdtemp(join(tmpdir(), 'reprise-e2e-')));
  const apiKey = options.apiKey ?? 'rk_test_bootstrap_key_0123456789';
  const environment = {
    PORT: '0',
    HOST: '127.0.0.1',
    REPRISE_API_KEY: apiKey,
    REPRISE_DATA_DIR: dataDir,
    REPRISE_STORE: STORE,
    ...(options.modelUrl ? { ANTHROPIC_BASE_URL: options.modelUrl, ANTHROPIC_API_KEY: 'sk-ant-test' } : {}),
    ...options.env,
  };
  let running = await launch(environment);
  return {
    get url() {
      return running.url;
    },
    get pid() {
      return running.child.pid ?? 0;
    },
    apiKey,
    dataDir,
    output: () => running.output(),
    ended() {
      const { exitCode, signalCode } = running.child;
      return exitCode === null && signalCode === null ? null : `ended with ${exitCode ?? signalCode}`;
    },
    kill9: () => end(running, 'SIGKILL'),
    async stop() {
      await end(running, 'SIGTERM');
      // A killed service leaves its server to the next one; here none comes.
      if (environment.REPRISE_STORE === 'dynamodb') await endServer(join(dataDir, 'dynamodb'));
      if (!options.dataDir) await rm(dataDir, { recursive: true, force: true });
    },
    async restart() {
      await end(running, 'SIGTERM');
      running = await launch(environment);
    },
  };
}
