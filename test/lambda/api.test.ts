// The bundled `api` entry under the genuine runtime client, behind a function URL: what a client of a deployment would see.

import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import Anthropic, { toFile } from '@anthropic-ai/sdk';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Answer } from '../../shared/adapters/scripted-model/script.ts';
import { createScriptedModel, type ScriptedModel } from '../../shared/adapters/scripted-model/server.ts';
import { buildProject, PROJECT } from '../support/build.ts';
import { readSse } from '../support/sse.ts';
import { type LocalLambda, startLambda } from './support/local-lambda.ts';

const API_KEY = 'rk_test_lambda_key';
const WORDS = 'One two three four five six seven eight';
const taskRoot = mkdtempSync(join(tmpdir(), 'api-task-')); // a copy: a build beside this must not change it
const dataDir = mkdtempSync(join(tmpdir(), 'api-data-'));
const slowly: Answer = { blocks: [WORDS], deltaChars: 5, delayMs: 60 };
let model: ScriptedModel;
let lambda: LocalLambda;
let client: Anthropic;

beforeAll(async () => {
  await buildProject();
  cpSync(join(PROJECT, 'dist/api'), taskRoot, { recursive: true });
  model = createScriptedModel({ script: () => slowly });
  const { url: modelUrl } = await model.listen();
  const env = {
    ANTHROPIC_BASE_URL: modelUrl,
    ANTHROPIC_API_KEY: 'sk-ant-test',
    REPRISE_API_KEY: API_KEY,
    REPRISE_DATA_DIR: dataDir,
  };
  lambda = await startLambda({ taskRoot, env });
  client = new Anthropic({ baseURL: lambda.url, apiKey: API_KEY, maxRetries: 0 });
});

afterAll(async () => {
  await lambda?.close();
  await model?.close();
  for (const directory of [dataDir, taskRoot]) rmSync(directory, { recursive: true });
});

async function createSession(): Promise<string> {
  const { agents, environments, sessions } = client.beta;
  const agent = await agents.create({ name: 'Counter', model: 'claude-opus-5-5' });
  const environment = await environments.create({ name: 'lambda' });
  return (await sessions.create({ agent: agent.id, environment_id: environment.id })).id;
}

function follow(session: string, signal?: AbortSignal): Promise<Response> {
  return fetch(`${lambda.url}/v1/sessions/${session}/events?event_deltas[]=agent.message`, {
    method: 'POST',
    headers: { authorization: `Bearer ${API_KEY}`, accept: 'text/event-stream', 'content-type': 'application/json' },
    body: JSON.stringify({ events: [{ type: 'user.message', content: [{ type: 'text', text: 'Count.' }] }] }),
    ...(signal ? { signal } : {}),
  });
}

test('it answers, refuses and errs like the service on Node', async () => {
  expect((await fetch(`${lambda.url}/healthz`)).status).toBe(200);
  const missing = await fetch(`${lambda.url}/v1/nothing`);
  expect([missing.status, missing.headers.get('content-type')]).toEqual([404, expect.stringContaining('json')]);
  expect(missing.headers.get('request-id')).toBeTruthy();
  expect((await fetch(`${lambda.url}/v1/agents`)).status).toBe(401);
  expect(await (await fetch(`${lambda.url}/openapi.yaml`)).text()).toMatch(/^openapi: /);
});

test('a text-only turn streams chunk by chunk from message to idle', async () => {
  const response = await follow(await createSession());
  expect(response.headers.get('content-type')).toContain('text/event-stream');
  const types: string[] = [];
  const deltasAt: number[] = [];
  for await (const frame of readSse(response)) {
    const { type } = JSON.parse(frame.data);
    types.push(type);
    if (type === 'event_delta') deltasAt.push(performance.now());
  }
  expect(types[0]).toBe('user.message');
  expect(types).toContain('agent.message');
  expect(types.at(-1)).toBe('session.status_idle');
  expect(deltasAt.length).toBeGreaterThanOrEqual(5);
  expect((deltasAt.at(-1) ?? 0) - (deltasAt[0] ?? 0)).toBeGreaterThan(200);
});

test('a client that leaves in the middle finds the whole answer later', async () => {
  const session = await createSession();
  const leaving = new AbortController();
  const response = await follow(session, leaving.signal);
  for await (const frame of readSse(response)) {
    if (JSON.parse(frame.data).type === 'event_delta') break;
  }
  leaving.abort();
  await expect
    .poll(async () => JSON.stringify(await client.beta.sessions.events.list(session)), { timeout: 10_000 })
    .toContain(WORDS);
});

test('a binary upload is stored byte for byte', async () => {
  const bytes = Uint8Array.from({ length: 4096 }, (_, i) => i % 256);
  const { size_bytes } = await client.beta.files.upload({ file: await toFile(bytes, 'all.bin') });
  expect(size_bytes).toBe(4096);
  const blobs = readdirSync(join(dataDir, 'blobs'), { recursive: true, withFileTypes: true });
  const stored = blobs.filter((file) => file.isFile()).map((file) => readFileSync(join(file.parentPath, file.name)));
  expect(stored.some((blob) => blob.equals(bytes))).toBe(true);
});

test('the exported handler carries the mark of a streaming handler', async () => {
  const script = `
    const mark = Symbol.for('aws.lambda.runtime.handler.streaming');
    globalThis.awslambda = { streamifyResponse: (f) => Object.assign(f, { [mark]: 'response' }) };
    const { handler } = await import(${JSON.stringify(join(taskRoot, 'index.mjs'))});
    console.log(typeof handler, handler[mark]);
    process.exit(0);`;
  const env = {
    PATH: process.env.PATH,
    ANTHROPIC_API_KEY: 'sk-ant-test',
    REPRISE_API_KEY: API_KEY,
    REPRISE_DATA_DIR: dataDir,
  };
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], { env });
  expect(stdout.trim()).toBe('function response');
});

test('without a client key it does not start, and the log says what to set', async () => {
  const bare = await startLambda({ taskRoot, env: { ANTHROPIC_API_KEY: 'sk-ant-test', REPRISE_DATA_DIR: dataDir } });
  try {
    expect((await fetch(`${bare.url}/healthz`)).status).toBe(502);
    expect(bare.output()).toContain('Set REPRISE_API_KEY');
  } finally {
    await bare.close();
  }
});
