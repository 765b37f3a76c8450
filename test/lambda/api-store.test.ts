// The bundled `api` entry with its data in a table and a bucket: what one environment wrote, another one reads.

import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Anthropic, { toFile } from '@anthropic-ai/sdk';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { madeUpConnection } from '../../shared/adapters/dynamo-client.ts';
import { ensureTable } from '../../shared/adapters/dynamo-table.ts';
import { type LocalDynamo, openLocalDynamo } from '../../shared/adapters/local-dynamo.ts';
import { createScriptedModel, type ScriptedModel } from '../../shared/adapters/scripted-model/server.ts';
import { type BucketServer, startBucketServer } from '../support/bucket.ts';
import { buildProject, PROJECT } from '../support/build.ts';
import { type LocalLambda, startLambda } from './support/local-lambda.ts';

const API_KEY = 'rk_test_lambda_key';
const directory = mkdtempSync(join(tmpdir(), 'api-store-'));
const dataDir = join(directory, 'data');
let server: LocalDynamo;
let buckets: BucketServer;
let model: ScriptedModel;
let environments: readonly LocalLambda[] = [];

beforeAll(async () => {
  await buildProject();
  const taskRoot = join(directory, 'task');
  cpSync(join(PROJECT, 'dist/api'), taskRoot, { recursive: true });
  server = await openLocalDynamo({ directory: join(directory, 'dynamodb') });
  buckets = await startBucketServer();
  await ensureTable('stack-table', madeUpConnection(server.endpoint));
  const { bucket } = await buckets.makeBucket();
  model = createScriptedModel({ script: () => ({ blocks: ['Stored.'] }) });
  const env = {
    ANTHROPIC_BASE_URL: (await model.listen()).url,
    ANTHROPIC_API_KEY: 'sk-ant-test',
    REPRISE_API_KEY: API_KEY,
    REPRISE_DATA_DIR: dataDir,
    REPRISE_STORE: 'dynamodb',
    REPRISE_TABLE: 'stack-table',
    REPRISE_BUCKET: bucket,
    AWS_ENDPOINT_URL_DYNAMODB: server.endpoint,
    AWS_ENDPOINT_URL_S3: buckets.endpoint,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'role',
    AWS_SECRET_ACCESS_KEY: 'secret',
    AWS_SESSION_TOKEN: 'token',
  };
  environments = await Promise.all([startLambda({ taskRoot, env }), startLambda({ taskRoot, env })]);
});
afterAll(async () => {
  for (const environment of environments) await environment.close();
  await model?.close();
  await buckets?.close();
  await server?.close();
  rmSync(directory, { recursive: true });
});

test('a turn in one environment, its history and a file in another, nothing in /tmp', async () => {
  const [a, b] = environments.map(
    ({ url }) => new Anthropic({ baseURL: url, apiKey: API_KEY, maxRetries: 0 }),
  ) as unknown as readonly [Anthropic, Anthropic];
  const agent = await a.beta.agents.create({ name: 'Keeper', model: 'claude-opus-5-5' });
  const environment = await a.beta.environments.create({ name: 'lambda' });
  const session = await b.beta.sessions.create({ agent: agent.id, environment_id: environment.id });
  const followed = await fetch(`${environments[0]?.url}/v1/sessions/${session.id}/events`, {
    method: 'POST',
    headers: { 'x-api-key': API_KEY, accept: 'text/event-stream', 'content-type': 'application/json' },
    body: JSON.stringify({ events: [{ type: 'user.message', content: [{ type: 'text', text: 'Keep it.' }] }] }),
  });
  expect(await followed.text()).toContain('session.status_idle');
  expect(JSON.stringify((await b.beta.sessions.events.list(session.id)).data)).toContain('Stored.');

  const file = await a.beta.files.upload({ file: await toFile(Buffer.from('in the bucket'), 'a.txt') });
  const before = await b.beta.files.retrieveMetadata(file.id);
  expect(before).toMatchObject({ id: file.id, size_bytes: 13 });
  expect(readdirSync(dataDir)).toEqual([]);
});
