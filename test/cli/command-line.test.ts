// The command line as a person meets it: the doctor's findings, the tools, and errors in one line.

import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkNode, runDoctor } from '../../cli/doctor.ts';

const entry = join(import.meta.dirname, '../../cli/main.ts');
const directory = mkdtempSync(join(tmpdir(), 'cli-'));
const taken = createServer();
let takenPort = '';

beforeAll(async () => {
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
  takenPort = String((taken.address() as AddressInfo).port);
});
afterAll(() => {
  taken.close();
  rmSync(directory, { recursive: true });
});

interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

function run(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ran> {
  const options = { env: { PATH: process.env.PATH, ...env }, cwd: directory };
  return promisify(execFile)(process.execPath, [entry, ...args], options).then(
    (done) => ({ code: 0, ...done }),
    (failed: Ran) => failed,
  );
}

const levelOf = (findings: readonly { check: string; level: string }[], check: string) =>
  findings.find((finding) => finding.check === check)?.level;

test('doctor finds a machine ready, and says that the model is the demo', async () => {
  const { code, stdout } = await run(['doctor', '--json'], { PORT: '0', REPRISE_DATA_DIR: join(directory, 'a/b') });
  const { ok, findings } = JSON.parse(stdout);
  expect([code, ok]).toEqual([0, true]);
  expect([levelOf(findings, 'node'), levelOf(findings, 'data'), levelOf(findings, 'port')]).toEqual(['ok', 'ok', 'ok']);
  expect(levelOf(findings, 'model')).toBe('warn');
});

test('doctor fails on a taken port, a data directory that cannot be, and a wrong variable, and says what to set', async () => {
  writeFileSync(join(directory, 'file'), '');
  const findings = await runDoctor({ PORT: takenPort, REPRISE_DATA_DIR: join(directory, 'file/data') });
  expect([levelOf(findings, 'port'), levelOf(findings, 'data')]).toEqual(['fail', 'fail']);
  const { code, stdout } = await run(['doctor'], { PORT: 'many' });
  expect([code, stdout]).toEqual([1, expect.stringContaining('FAIL configuration')]);
  expect(stdout).toContain('PORT');
});

test('a key or an endpoint counts as a real model, and neither is printed', async () => {
  const findings = await runDoctor({ PORT: '0', REPRISE_DATA_DIR: directory, ANTHROPIC_API_KEY: 'sk-ant-hidden' });
  expect(levelOf(findings, 'model')).toBe('ok');
  expect(JSON.stringify(findings)).not.toContain('hidden');
});

test('an old Node is named', () => {
  expect([checkNode('24.20.9').level, checkNode('24.21.0').level, checkNode('26.0.0').level]).toEqual([
    'fail',
    'ok',
    'ok',
  ]);
});

test('--version is that of the package', async () => {
  const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8'));
  expect(await run(['--version'])).toMatchObject({ code: 0, stdout: `${version}\n` });
});

const TOOLS = ['bash', 'read', 'write', 'edit', 'glob', 'grep'];

test('tools are listed with both faces, under a header for people', async () => {
  const names = async (...args: readonly string[]) =>
    (await run(['tools', 'list', ...args])).stdout
      .trim()
      .split('\n')
      .map((line) => line.split('\t')[0]);
  expect(await names()).toEqual(['NAME', ...TOOLS]);
  expect(await names('--face', 'claude_code')).toEqual(['NAME', 'Bash', 'Read', 'Write', 'Edit', 'Glob', 'Grep']);
  const listed = JSON.parse((await run(['tools', 'list', '--json'])).stdout) as { name: string }[];
  expect(listed.map((tool) => tool.name)).toEqual(TOOLS);
});

test('the schema of a tool is found under whichever face has it', async () => {
  const schema = async (...args: readonly string[]) => JSON.parse((await run(['tools', 'schema', ...args])).stdout);
  expect(await schema('bash')).toMatchObject({ type: 'object', properties: { restart: {} } });
  expect(await schema('Read')).toMatchObject({ type: 'object', properties: { offset: {} } });
  expect(Object.keys(await schema())).toEqual(TOOLS);
  expect(await run(['tools', 'schema', 'nope'])).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^no tool nope; there are bash, .*Grep\n$/),
  });
  expect(await run(['tools', 'schema', 'Read', '--face', 'agent_toolset'])).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^no tool Read under the face agent_toolset; it is there with --face claude_code\n$/),
  });
});

test('doctor passes where the service itself has the port, and on nobody else', async () => {
  const answers = { health: { status: 'ok', version: '1.2.3', model: 'the demo model' } as object };
  const service = createHttpServer((request, response) => {
    response.end(request.url === '/healthz' ? JSON.stringify(answers.health) : 'no');
  });
  await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
  const PORT = String((service.address() as AddressInfo).port);
  const check = async () =>
    (await runDoctor({ PORT, REPRISE_DATA_DIR: directory })).find((finding) => finding.check === 'port');
  try {
    const detail = `127.0.0.1:${PORT}: Reprise 1.2.3 runs there already`;
    expect(await check()).toEqual({ check: 'port', level: 'ok', detail });
    answers.health = { status: 'ok' };
    expect(await check()).toMatchObject({ level: 'fail', detail: expect.stringContaining('set PORT') });
  } finally {
    service.close();
  }
});

test('keys without a key or a service end with one line, no stack', async () => {
  expect(await run(['keys', 'list'])).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^set REPRISE_API_KEY.*\n$/),
  });
  const nowhere = { REPRISE_API_KEY: 'rk_x', REPRISE_URL: 'http://127.0.0.1:1' };
  expect(await run(['keys', 'list'], nowhere)).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^http:\/\/127\.0\.0\.1:1 cannot be reached: .*\n$/),
  });
});
