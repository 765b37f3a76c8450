// The local DynamoDB server is one per data directory: found by whoever comes later, left by who is killed, ended by the last.

import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openLocalDynamo } from '../../shared/adapters/local-dynamo.ts';

let home: string;
let directory: string;
let script: string;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'reprise-local-dynamo-'));
  directory = join(home, 'dynamodb');
  script = join(home, 'user.mjs');
  const adapter = pathToFileURL(join(import.meta.dirname, '../../shared/adapters/local-dynamo.ts')).href;
  writeFileSync(
    script,
    `import { openLocalDynamo } from ${JSON.stringify(adapter)};
    const { endpoint, how, close } = await openLocalDynamo({ directory: process.argv[2] });
    process.stdout.write(JSON.stringify({ endpoint, how }));
    process.stdin.resume().once('end', () => close().then(() => process.exit(0)));`,
  );
});
afterEach(async () => {
  await (await openLocalDynamo({ directory })).close();
  rmSync(home, { recursive: true });
});

interface User {
  readonly endpoint: string;
  readonly how: string;
  end(how: 'close' | 'kill'): Promise<void>;
}

/** Another process that uses the server. */
function startUser(): Promise<User> {
  const child: ChildProcess = spawn(process.execPath, [script, directory], { stdio: ['pipe', 'pipe', 'inherit'] });
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  return new Promise((resolve, reject) => {
    child.once('exit', () => reject(new Error('the user ended')));
    child.stdout?.once('data', (chunk: Buffer) => {
      const end = (how: 'close' | 'kill') => {
        if (how === 'close') child.stdin?.end();
        else child.kill('SIGKILL');
        return exited;
      };
      resolve({ ...(JSON.parse(chunk.toString()) as { endpoint: string; how: string }), end });
    });
  });
}

const answers = (endpoint: string): Promise<boolean> =>
  fetch(endpoint).then(
    () => true,
    () => false,
  );

test('two that start at once share one; the first to close leaves it to the other, the last ends it', async () => {
  const [a, b] = await Promise.all([startUser(), startUser()]);
  expect([a.how, b.how].sort()).toEqual(['found', 'started']);
  expect(a.endpoint).toBe(b.endpoint);
  const [starter, finder] = a.how === 'started' ? [a, b] : [b, a];
  await starter.end('close');
  expect(await answers(a.endpoint)).toBe(true);
  await finder.end('close');
  expect(await answers(a.endpoint)).toBe(false);
});

test('a killed process leaves it running; the next one finds it and, as the last, ends it', async () => {
  const first = await startUser();
  await first.end('kill');
  expect(await answers(first.endpoint)).toBe(true);
  const next = await startUser();
  expect(next).toMatchObject({ how: 'found', endpoint: first.endpoint });
  await next.end('close');
  expect(await answers(first.endpoint)).toBe(false);
});

test('it listens on loopback only, and its files are for their own user', async () => {
  const { endpoint, how, close } = await openLocalDynamo({ directory });
  expect(how).toBe('started');
  expect(new URL(endpoint).hostname).toBe('127.0.0.1');
  expect(statSync(directory).mode & 0o077).toBe(0);
  for (const name of readdirSync(directory))
    expect([name, statSync(join(directory, name)).mode & 0o077]).toEqual([name, 0]);
  await close();
});
