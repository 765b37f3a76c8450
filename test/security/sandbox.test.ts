// The child of the virtual sandbox from inside: what it could reach, what it can use up, and that the service stays awake meanwhile.

import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bundleSandboxChild } from '../../scripts/bundle-sandbox-child.ts';
import { childFlags, launchChild, probeIsolation } from '../../shared/adapters/virtual-sandbox/launch.ts';
import { LIMITS } from '../../shared/types/limits.ts';
import { bytes, createSandboxWorld, never, path, type SandboxWorld, sh } from '../support/sandbox.ts';

const PROBE = fileURLToPath(new URL('./probe-child.ts', import.meta.url));

describe('the child, probed from inside', () => {
  let directory: string;
  let results: Record<string, string>;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'reprise-probe-'));
    const hostFile = join(directory, 'host.mjs');
    await writeFile(hostFile, 'export const secret = "canary";');
    const childPath = join(directory, 'probe.mjs');
    await bundleSandboxChild(childPath, PROBE);
    process.env.REPRISE_CANARY = 'canary';
    const child = await launchChild({ childPath, heapMb: LIMITS.sandboxHeapMb, args: [hostFile, String(process.pid)] });
    let out = '';
    let err = '';
    child.stdout?.on('data', (chunk) => {
      out += chunk;
    });
    child.stderr?.on('data', (chunk) => {
      err += chunk;
    });
    await new Promise((resolve) => child.on('close', resolve));
    if (out === '') throw new Error(err);
    results = JSON.parse(out);
  });
  afterAll(() => rm(directory, { recursive: true, force: true }));

  it('gets nothing', () => {
    const got = Object.entries(results).filter(([, result]) => !result.startsWith('refused'));
    expect(got).toEqual([]);
    expect(Object.keys(results).length).toBeGreaterThan(60);
    expect(JSON.stringify(results)).not.toContain('canary');
  });

  it('has a bundle that names no module through which it could reach outside', async () => {
    const world = await createSandboxWorld();
    const bundle = await readFile(new URL('../../dist/sandbox-child.mjs', import.meta.url), 'utf8');
    const imported = new Set([...bundle.matchAll(/from"(node:[^"]+)"/g)].map((match) => match[1]));
    const harmless = [
      'assert',
      'async_hooks',
      'events',
      'module',
      'os',
      'path',
      'stream',
      'stream/promises',
      'url',
      'zlib',
    ];
    expect([...imported].filter((module) => !harmless.includes((module ?? '').slice('node:'.length)))).toEqual([]);
    await world.close();
  });

  it('is started without any grant, and without a network where the system allows it', async () => {
    expect(childFlags(192)).toContain('--permission');
    expect(childFlags(192).join(' ')).not.toContain('--allow');
    expect(['network-namespace', 'flags']).toContain(await probeIsolation());
  });
});

describe('commands, probed through the shell', () => {
  let world: SandboxWorld;
  beforeAll(async () => {
    world = await createSandboxWorld();
  });
  afterAll(() => world.close());

  it.each([
    ['env'],
    ['cat /proc/self/environ /proc/1/environ'],
    ['cat /etc/passwd /etc/shadow /etc/hostname'],
    ['ls -la / /root /home /work /proc/1/root 2>&1'],
    ['curl -s http://127.0.0.1:PORT/ http://169.254.169.254/latest/meta-data/'],
    ['cat < /dev/tcp/127.0.0.1/PORT'],
    ['exec 3<>/dev/tcp/127.0.0.1/PORT; echo hi >&3'],
    ['nslookup canary.example; wget http://127.0.0.1:PORT'],
    ['ln -s / up; ls up; cat up/etc/passwd; echo x > up/outside.txt'],
    ['node -e "1"; python3 -c 1; js-exec -e 1; sqlite3 :memory: "select 1"'],
    ['cd ../../../..; ls; cat etc/passwd; . /etc/profile'],
    ['printenv REPRISE_CANARY; echo $REPRISE_CANARY; set'],
    ['kill -9 1; kill $PPID; killall node'],
  ])('%s finds nothing of the host', async (command) => {
    process.env.REPRISE_CANARY = 'canary-value';
    let connections = 0;
    const server = createServer(() => connections++).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const address = server.address();
    const port = typeof address === 'object' && address ? address.port : 0;
    const result = await sh(world.open(), command.replaceAll('PORT', String(port)));
    server.close();
    expect(connections).toBe(0);
    const shown = result.stdout + result.stderr;
    expect(shown).not.toMatch(/canary-value|root:x:|nobody|node_modules|PATH=.*node/);
    expect(shown).not.toContain(process.cwd());
    expect((await sh(world.open(), 'echo alive')).stdout).toBe('alive\n');
  });

  it('shows one session nothing of another, and no child serves two tenants', async () => {
    const first = world.open();
    await first.write(path('/workspace/mine'), bytes('private'));
    await sh(first, 'export SECRET=private; cp mine /tmp/left; echo private > /etc/left; f() { echo private; }');
    for (const tenant of ['default', 'other']) {
      const second = world.open(undefined, undefined, tenant);
      const seen = await sh(
        second,
        'cat mine /tmp/left /etc/left; echo $SECRET; f; find / -name "*left*" -o -name mine',
      );
      expect(seen.stdout).not.toMatch(/private|left|mine/);
    }
  });
});

describe('what a command may use up', () => {
  let world: SandboxWorld;
  beforeAll(async () => {
    world = await createSandboxWorld({ virtualWorkspaceBytesMax: 4 * 1024 * 1024, workspaceFilesMax: 100 });
  });
  afterAll(() => world.close());

  /** The longest gap between ticks of the service's event loop while `work` runs, in ms. */
  const longestGap = async (work: Promise<unknown>): Promise<number> => {
    let last = performance.now();
    let gap = 0;
    const timer = setInterval(() => {
      gap = Math.max(gap, performance.now() - last);
      last = performance.now();
    }, 5);
    await work.finally(() => clearInterval(timer));
    return Math.max(gap, performance.now() - last);
  };

  it.each([
    ['an endless loop', 'while true; do :; done'],
    ['endless recursion', 'f() { f; }; f'],
    ['a fork bomb', ':(){ :|:& };:'],
    ['endless output', 'while true; do echo yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy; done'],
    ['a doubling string', 'x=aaaaaaaaaaaaaaaa; while true; do x=$x$x; done'],
    ['a growing array', 'a=(); while true; do a+=("$(printf %01000d 1)"); done'],
    ['an endless awk', 'awk "BEGIN { while (1) x = x \\"aaaaaaaaaaaaaaaa\\" }"'],
    ['a brace bomb', 'echo {1..100}{1..100}{1..100}{1..100}{1..100}'],
    ['an endless sleep', 'sleep 100000'],
    ['a background sleep', 'nohup sh -c "sleep 999" & sleep 999'],
    ['a deep path', 'p=d; while true; do mkdir -p $p; p=$p/dddddddddd; done'],
    ['a jq bomb', 'jq -n "[range(1e9)] | length"'],
    ['nested quotes', `echo ${'$('.repeat(2000)}`],
  ])('%s ends, and the service ticks meanwhile', async (_, command) => {
    const workspace = world.open();
    await workspace.write(path('/workspace/keep'), bytes('kept'));
    const startedAt = performance.now();
    const work = sh(workspace, command, 1500);
    const gap = await longestGap(work);
    const result = await work;
    expect(performance.now() - startedAt).toBeLessThan(10_000);
    expect(result.killed !== null || result.exitCode !== 0).toBe(true);
    expect(result.stdout.length).toBeLessThan(5 * 1024 * 1024);
    expect(gap).toBeLessThan(1000);
    expect((await sh(workspace, 'cat keep')).stdout).toBe('kept');
  });

  it.each([
    [
      'too many bytes',
      'for i in 1 2 3 4 5 6 7 8; do head -c 1000000 /workspace/seed > f$i; done',
      /virtualWorkspaceBytesMax|space|size/,
    ],
    ['too many files', 'for i in $(seq 1 150); do echo x > f$i; done', /workspaceFilesMax/],
  ])('%s are refused as a whole, by name of the limit', async (_, command, words) => {
    const workspace = world.open();
    await workspace.write(path('/workspace/seed'), new Uint8Array(1_000_000));
    const result = await sh(workspace, command);
    expect(result.exitCode).not.toBe(0);
    expect([result.stderr, ...result.notes].join()).toMatch(words);
    expect(workspace.list().length).toBeLessThanOrEqual(100);
    const total = workspace.list().reduce((sum, file) => sum + file.size, 0);
    expect(total).toBeLessThanOrEqual(4 * 1024 * 1024);
    expect((await sh(workspace, 'ls | head -1')).exitCode).toBe(0);
  });

  it('runs at most four at once; the others wait their turn', async () => {
    const results = await Promise.all(Array.from({ length: 6 }, (_, i) => sh(world.open(), `sleep 0.2; echo ${i}`)));
    expect(results.map((result) => result.stdout)).toEqual(['0\n', '1\n', '2\n', '3\n', '4\n', '5\n']);
    const waiting = [1, 2, 3, 4, 5].map(() => sh(world.open(), 'sleep 5', 700));
    const controller = new AbortController();
    const aborted = world.open().exec('echo never', { timeoutMs: 5000, stateful: false }, controller.signal);
    controller.abort();
    expect((await aborted).killed).toBe('aborted');
    expect((await Promise.all(waiting)).map((result) => result.killed)).toEqual(new Array(5).fill('timeout'));
  });
});

it('a child serves one tenant only', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'reprise-count-'));
  const file = join(directory, 'counter.mjs');
  await writeFile(
    file,
    `let jobs = 0;
     const frame = (h) => { const j = Buffer.from(JSON.stringify(h)); const p = Buffer.alloc(8); p.writeUInt32BE(j.length, 0);
       process.stdout.write(Buffer.concat([p, j])); };
     let held = Buffer.alloc(0);
     process.stdin.on('data', (chunk) => { held = Buffer.concat([held, chunk]);
       if (held.length < 8 || held.length < 8 + held.readUInt32BE(0) + held.readUInt32BE(4)) return;
       held = Buffer.alloc(0); frame({ kind: 'found', error: null, lines: [String(++jobs)], more: false }); });
     frame({ kind: 'ready' });`,
  );
  const world = await createSandboxWorld({ sandboxProcessesMax: 2 }, file);
  const ask = async (tenant: string) => {
    const root = path('/workspace');
    const found = await world
      .open(undefined, undefined, tenant)
      .search({ kind: 'files', root, pattern: '*' }, 5000, never());
    return found.ok ? found.lines[0] : found.reason;
  };
  const order = ['one', 'one', 'two', 'one', 'three', 'three', 'two'];
  const counts: (string | undefined)[] = [];
  for (const tenant of order) counts.push(await ask(tenant));
  // Two children at most: a third tenant's takes the place of another's.
  expect(counts.slice(0, 4)).toEqual(['1', '2', '1', '3']);
  expect(counts.slice(4)).toEqual(['1', '2', '1']);
  await world.close();
  await rm(directory, { recursive: true, force: true });
});

it.skipIf(process.platform !== 'linux')('no child outlives a service that was killed', async () => {
  const script = join(await mkdtemp(join(tmpdir(), 'reprise-orphan-')), 'service.ts');
  const support = fileURLToPath(new URL('../support/sandbox.ts', import.meta.url));
  await writeFile(
    script,
    `import { createSandboxWorld, sh } from ${JSON.stringify(support)};
     const world = await createSandboxWorld();
     void sh(world.open(), 'while true; do :; done', 60000);
     setTimeout(() => console.log('running'), 1500);`,
  );
  const service = spawn(process.execPath, [script], { stdio: ['ignore', 'pipe', 'inherit'] });
  await new Promise((resolve) => service.stdout.once('data', resolve));
  const children = (await readFile(`/proc/${service.pid}/task/${service.pid}/children`, 'latin1')).trim().split(' ');
  expect(children.filter((pid) => pid !== '').length).toBeGreaterThan(0);
  service.kill('SIGKILL');
  await new Promise((resolve) => setTimeout(resolve, 1000));
  expect(children.filter((pid) => existsSync(`/proc/${pid}/exe`))).toEqual([]);
  await rm(dirname(script), { recursive: true, force: true });
});

describe('a child that lies', () => {
  /** A child that answers every request with `reply` (a JSON header) and `body`. */
  const liar = async (directory: string, header: unknown, body = '') => {
    const file = join(directory, 'liar.mjs');
    await writeFile(
      file,
      `const frame = (h, b) => { const j = Buffer.from(JSON.stringify(h)); const p = Buffer.alloc(8); p.writeUInt32BE(j.length, 0);
       p.writeUInt32BE(b.length, 4); process.stdout.write(Buffer.concat([p, j, b])); };
       process.stdin.once('data', () => { const h = ${JSON.stringify(header)}; const b = Buffer.from(${JSON.stringify(body)});
         if (h === 'oversize') return process.stdout.write(Buffer.alloc(1000, 255)); frame(h, b); });
       frame({ kind: 'ready' }, Buffer.alloc(0));`,
    );
    return file;
  };
  const done = {
    kind: 'done',
    exitCode: 0,
    stdoutBytes: 0,
    stderrBytes: 0,
    changes: [] as unknown[],
    removed: [] as string[],
    emptyDirectories: [],
    shell: null,
    notes: [],
  };
  const change = (more: object) => ({
    ...done,
    changes: [{ path: '/workspace/x', mode: 420, mtimeMs: 1, at: 0, size: 1, ...more }],
  });

  it.each([
    ['a path outside', change({ path: '/etc/passwd' })],
    ['a path that is not plain', change({ path: '/workspace/../etc/passwd' })],
    ['a range beyond the body', change({ size: 1e9 })],
    ['a negative range', change({ at: -1 })],
    ['a hash it cannot know', change({ sha256: 'a'.repeat(64) })],
    ['the same path twice', { ...change({}), removed: ['/workspace/x'] }],
    ['no list of changes', { ...done, changes: 'many' }],
    ['output beyond the body', { ...done, stdoutBytes: 10 }],
    ['removal outside', { ...done, removed: ['/'] }],
    ['another kind', { kind: 'ready' }],
    ['nothing known', null],
    ['a frame over the limit', 'oversize'],
    ['a header over the limit', { ...done, notes: ['x'.repeat(9 * 1024 * 1024)] }],
  ])('with %s is not believed', async (_, header) => {
    const directory = await mkdtemp(join(tmpdir(), 'reprise-liar-'));
    const world = await createSandboxWorld({}, await liar(directory, header, 'y'));
    const workspace = world.open();
    const result = await workspace.exec('true', { timeoutMs: 5000, stateful: true }, never());
    expect(['crashed', 'memory']).toContain(result.killed);
    expect(workspace.list()).toEqual([]);
    await world.close();
    await rm(directory, { recursive: true, force: true });
  });
});
