// The service on DynamoDB and S3 instead of its own files: it says so, works, and finds everything again after kill -9.

import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openLocalDynamo } from '../../shared/adapters/local-dynamo.ts';
import { type BucketServer, startBucketServer } from '../support/bucket.ts';
import { useHarness } from '../support/harness.ts';
import { answer, call, text, useModel } from '../support/model.ts';
import { agentText, createSession, listAll, only, runTurn, TOOLSET, userText } from '../support/sessions.ts';
import { startService } from '../support/start-service.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'reprise-aws-store-'));
let buckets: BucketServer;
const env: Record<string, string> = { REPRISE_STORE: 'dynamodb', REPRISE_TABLE: 'my-table' };

beforeAll(async () => {
  buckets = await startBucketServer();
  env.REPRISE_BUCKET = (await buckets.makeBucket()).bucket;
  env.AWS_ENDPOINT_URL_S3 = buckets.endpoint;
});
// Before the harness, so that it comes after the service has ended.
afterAll(async () => {
  await buckets?.close();
  rmSync(dataDir, { recursive: true });
});
const model = useModel();
const harness = useHarness({ modelUrl: () => model.url, env, dataDir });

test('a turn with files, kill -9, and the next turn; nothing lies in the embedded store', async () => {
  expect(harness.service.output()).toMatch(
    /Data +DynamoDB table my-table \(made\) on the local server http:\/\/127\.0\.0\.1:\d+ \(started\), blobs in the bucket bucket-0/,
  );
  const client = harness.client();
  model.script(answer([call('write', { file_path: '/workspace/a.txt', content: 'kept' })]), text('Written.'));
  const id = await createSession(client, { tools: [TOOLSET] });
  await runTurn(client, id, userText('go'));
  const before = await listAll(client, id);

  await harness.service.kill9();
  await harness.service.restart();
  expect(harness.service.output()).toMatch(/my-table \(found\) on the local server \S+ \(found\)/);
  expect(await listAll(harness.client(), id)).toEqual(before);
  model.script(answer([call('bash', { command: 'cat /workspace/a.txt' })]), text('Read.'));
  const events = await runTurn(harness.client(), id, userText('and now?'));
  expect(JSON.stringify(only(events, 'agent.tool_result'))).toContain('kept');
  expect(agentText(events)).toBe('Read.');
  expect(readdirSync(dataDir)).toEqual(['dynamodb']);
});

test('a second service on the same table sees the same sessions', async () => {
  const id = await createSession(harness.client());
  const second = await startService({ dataDir, env, modelUrl: model.url });
  const response = await fetch(`${second.url}/v1/sessions/${id}`, { headers: { 'x-api-key': second.apiKey } });
  expect(response.status).toBe(200);
  await second.stop();
  const { how, close } = await openLocalDynamo({ directory: join(dataDir, 'dynamodb') });
  expect(how).toBe('found'); // the first one still works with it
  await close();
});
