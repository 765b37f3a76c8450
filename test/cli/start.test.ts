// `reprise dev` is the service itself: one process, its signals, its exit code; and the README's examples work against it.

import { execFile, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PROJECT } from '../support/build.ts';
import { type Service, startService } from '../support/start-service.ts';

const readme = readFileSync(join(PROJECT, 'README.md'), 'utf8');
const run = promisify(execFile);
let service: Service;

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service?.stop());

/** The README's only block in `language` that holds `marker`, against the service of this test. */
function blockOf(language: string, marker: string): string {
  const blocks = [...readme.matchAll(/```(\w+)\n([\s\S]*?)```/g)].filter(
    ([, name, code]) => name === language && code?.includes(marker),
  );
  expect(blocks.length).toBe(1);
  return (blocks[0]?.[2] ?? '').replaceAll('http://localhost:8787', service.url);
}

test('the curl example of the README streams a turn to idle', async () => {
  const env = { PATH: process.env.PATH, REPRISE_API_KEY: service.apiKey };
  const { stdout } = await run('bash', ['-ec', blockOf('sh', 'curl')], { env });
  expect(stdout).toContain('"type":"agent.message"');
  expect(stdout.trimEnd().split('\n').at(-1)).toContain('session.status_idle');
});

/** What a module of this code prints. */
async function runCode(code: string): Promise<string> {
  const file = join(PROJECT, `readme-example-${process.pid}.mjs`); // where the SDK is found
  writeFileSync(file, code);
  try {
    const env = { PATH: process.env.PATH, REPRISE_API_KEY: service.apiKey };
    return (await run(process.execPath, [file], { env, timeout: 20_000 })).stdout;
  } finally {
    rmSync(file);
  }
}

test('the SDK example of the README prints an answer to its question', async () => {
  expect(await runCode(blockOf('ts', 'new Anthropic'))).toMatch(/^No files are attached/m);
});

test('the example with a custom tool and a confirmation goes on from it and ends', async () => {
  const printed = await runCode(blockOf('ts', 'new Anthropic') + blockOf('ts', 'user.tool_confirmation'));
  expect(printed).toMatch(/`get_weather` returned: 7 °C and rain in Oslo/);
  expect(printed).toMatch(/`pwd` printed:\s+```\s+\/workspace/);
});

test('keys are made, listed and revoked from the command line', async () => {
  const env = { PATH: process.env.PATH, REPRISE_API_KEY: service.apiKey, REPRISE_URL: service.url };
  const keys = async (...args: readonly string[]) =>
    (await run(process.execPath, [join(PROJECT, 'bin/reprise.mjs'), 'keys', ...args], { env })).stdout.trim();
  const key = await keys('create', 'ci');
  const status = async () => (await fetch(`${service.url}/v1/agents`, { headers: { 'x-api-key': key } })).status;
  expect(await status()).toBe(200);
  const listed = (await keys('list')).split('\n');
  expect(listed[0]).toBe('ID\tTENANT\tSCOPES\tCREATED\tNAME');
  expect(JSON.parse(await keys('list', '--json'))).toHaveLength(listed.length - 1);
  const id = listed.find((line) => line.endsWith('\tci'))?.split('\t')[0] ?? '';
  await keys('revoke', id);
  expect(await status()).toBe(401);
});

test('a signal ends the service with exit code 0, and the process that was started is the service', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'start-'));
  const env = { PATH: process.env.PATH, PORT: '0', REPRISE_DATA_DIR: dataDir };
  const child = spawn(process.execPath, [join(PROJECT, 'bin/reprise.mjs'), 'dev'], { env });
  let printed = '';
  await new Promise<void>((resolve) => {
    child.stdout.on('data', (text) => {
      printed += text;
      if (printed.includes('Client key')) resolve();
    });
  });
  const url = /listening on (\S+)/.exec(printed)?.[1] ?? '';
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
  expect(printed).toMatch(/Client key {2}rk_\w+/);
  const exited = new Promise((resolve) => child.once('exit', (code) => resolve(code)));
  child.kill('SIGINT');
  expect(await exited).toBe(0);
  await expect(fetch(`${url}/healthz`)).rejects.toThrow();
  rmSync(dataDir, { recursive: true });
});
