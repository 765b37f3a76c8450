// The command line as a person meets it: the doctor's findings, the tools, and errors in one line.

import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
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

test('tools are listed with both faces, and a schema is JSON', async () => {
  const names = async (...args: readonly string[]) =>
    (await run(['tools', 'list', ...args])).stdout
      .trim()
      .split('\n')
      .map((line) => line.split('\t')[0]);
  expect(await names()).toEqual(['bash', 'read', 'write', 'edit', 'glob', 'grep']);
  expect(await names('--face', 'claude_code')).toEqual(['Bash', 'Read', 'Write', 'Edit', 'Glob', 'Grep']);
  expect(JSON.parse((await run(['tools', 'schema', 'bash'])).stdout)).toMatchObject({ type: 'object' });
  expect(await run(['tools', 'schema', 'nope'])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('no tool nope'),
  });
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
