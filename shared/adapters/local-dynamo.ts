// A DynamoDB-compatible server on this machine, with its file in the data directory: found where a process of that directory
// has started it, else started; it survives a killed service and ends with the last one that closes. Loopback only.

import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type AddressInfo, createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';

const BINARY = `@dynoxide/${process.platform}-${process.arch}/dynoxide`;
const LOCK_WAIT_MS = 30_000;
const ANSWER_MS = 10_000;
const STOP_MS = 5000;

export interface LocalDynamo {
  readonly endpoint: string;
  readonly how: 'started' | 'found';
  /** Ends the server where no other process uses it. */
  close(): Promise<void>;
}

interface Server {
  readonly pid: number;
  readonly port: number;
}

/** Throws, saying what to set instead, on platforms for which no server is packaged. */
export async function openLocalDynamo({ directory }: { readonly directory: string }): Promise<LocalDynamo> {
  const home = resolve(directory);
  mkdirSync(home, { recursive: true, mode: 0o700 });
  const binary = findBinary();
  const file = join(home, 'table.db');
  const registry = openRegistry(join(home, 'server.db'));
  try {
    const { server, how } = await registry.locked(async () => {
      const known = registry.readServer();
      const found = known && isOurs(known, file) && (await answers(known)) ? known : null;
      const server = found ?? (await start(binary, home, file));
      if (!found) registry.writeServer(server);
      registry.addUser(process.pid);
      return { server, how: found ? ('found' as const) : ('started' as const) };
    });
    return { endpoint: endpointOf(server), how, close: () => leave(registry, server, file) };
  } catch (error) {
    registry.close();
    throw error;
  }
}

async function leave(registry: Registry, server: Server, file: string): Promise<void> {
  await registry.locked(async () => {
    if (registry.removeUser(process.pid) > 0 || !isOurs(server, file)) return;
    process.kill(server.pid, 'SIGTERM');
    for (let waitedMs = 0; isOurs(server, file) && waitedMs < STOP_MS; waitedMs += 20) await delay(20);
  });
  registry.close();
}

function findBinary(): string {
  try {
    return createRequire(import.meta.url).resolve(BINARY);
  } catch {
    throw new Error(
      `REPRISE_STORE=dynamodb: no local server is installed for ${process.platform} ${process.arch}; ` +
        'set AWS_ENDPOINT_URL_DYNAMODB to the address of one.',
    );
  }
}

async function start(binary: string, home: string, file: string): Promise<Server> {
  closeSync(openSync(file, 'a', 0o600)); // conversations lie in it: for the service's own user only
  const output = openSync(join(home, 'server.log'), 'a', 0o600);
  try {
    const port = await freePort();
    // In a group of its own, so that a Ctrl-C for the service leaves it there until the service has drained.
    const args = ['serve', '--host', '127.0.0.1', '--port', String(port), '--db-path', file];
    const child = spawn(binary, args, { detached: true, stdio: ['ignore', output, output], cwd: home, env: {} });
    const failed = new Promise<never>((_, reject) => child.once('error', reject));
    failed.catch(() => {});
    child.unref();
    const server = { pid: child.pid ?? 0, port };
    for (const giveUpAt = performance.now() + ANSWER_MS; ; ) {
      if (await Promise.race([answers(server), failed])) return server;
      if (child.exitCode !== null || performance.now() > giveUpAt) break;
      await delay(20);
    }
    child.kill('SIGKILL');
    throw new Error(`the local DynamoDB server does not start; it printed to ${join(home, 'server.log')}`);
  } finally {
    closeSync(output);
  }
}

const endpointOf = ({ port }: Server): string => `http://127.0.0.1:${port}`;

/** Any answer at all: what it says about a bare request is not our business. */
const answers = (server: Server): Promise<boolean> =>
  fetch(endpointOf(server), { signal: AbortSignal.timeout(2000) })
    .then((response) => response.arrayBuffer())
    .then(
      () => true,
      () => false,
    );

/** Whether the process is still the one we mean: a number may have gone to another one since. */
function isOurs({ pid }: Server, file: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes(file);
  } catch {
    return false;
  }
}

function freePort(): Promise<number> {
  const probe = createServer();
  return new Promise((done, reject) => {
    probe.once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as AddressInfo;
      probe.close(() => done(port));
    });
  });
}

type Registry = ReturnType<typeof openRegistry>;

/** Who serves and who uses, shared by processes; its lock goes with a process that dies. */
function openRegistry(path: string) {
  closeSync(openSync(path, 'a', 0o600));
  const db = new DatabaseSync(path, { timeout: LOCK_WAIT_MS });
  db.exec('CREATE TABLE IF NOT EXISTS server (one INTEGER PRIMARY KEY, pid INTEGER, port INTEGER)');
  db.exec('CREATE TABLE IF NOT EXISTS users (pid INTEGER PRIMARY KEY)');
  const dropDead = () => {
    const pids = db.prepare('SELECT pid FROM users').all() as { pid: number }[];
    for (const { pid } of pids) if (!isAlive(pid)) db.prepare('DELETE FROM users WHERE pid = ?').run(pid);
  };
  return {
    async locked<T>(job: () => Promise<T>): Promise<T> {
      db.exec('BEGIN IMMEDIATE');
      try {
        return await job();
      } finally {
        db.exec('COMMIT');
      }
    },
    readServer: () => db.prepare('SELECT pid, port FROM server').get() as Server | undefined,
    writeServer: ({ pid, port }: Server) => void db.prepare('REPLACE INTO server VALUES (1, ?, ?)').run(pid, port),
    addUser(pid: number): void {
      dropDead();
      db.prepare('INSERT OR IGNORE INTO users VALUES (?)').run(pid);
    },
    /** How many are left. */
    removeUser(pid: number): number {
      dropDead();
      db.prepare('DELETE FROM users WHERE pid = ?').run(pid);
      return (db.prepare('SELECT count(*) AS n FROM users').get() as { n: number }).n;
    },
    close: () => db.close(),
  };
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
