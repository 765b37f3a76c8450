// Two processes on one data directory are two workers: what one takes in, the other shows, streams and can interrupt.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Anthropic from '@anthropic-ai/sdk';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { answer, call, text, useModel } from '../support/model.ts';
import {
  agentText,
  createSession,
  listAll,
  readUntil,
  runTurn,
  TOOLSET,
  typesOf,
  userText,
} from '../support/sessions.ts';
import { type Service, startService } from '../support/start-service.ts';

const model = useModel();
let dataDir = '';
const services: Service[] = [];
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'reprise-two-'));
  for (let n = 0; n < 2; n += 1) services.push(await startService({ dataDir, modelUrl: model.url }));
});
afterAll(async () => {
  await Promise.all(services.map((service) => service.stop()));
  await rm(dataDir, { recursive: true, force: true });
});

const clientOf = (index: number): Anthropic => {
  const service = services[index];
  return new Anthropic({ apiKey: service?.apiKey ?? '', baseURL: service?.url ?? '', maxRetries: 0 });
};

test('a reader at one process sees the turn of the other, whole and in order', async () => {
  model.script(answer([call('bash', { command: 'echo 1' })]), text('Seen by both.'));
  const [one, two] = [clientOf(0), clientOf(1)];
  const id = await createSession(one, { tools: [TOOLSET] });
  const reading = readUntil(await two.beta.sessions.events.stream(id));
  await one.beta.sessions.events.send(id, { events: [userText('go')] });
  const events = (await reading).filter((event) => !('processed_at' in event && event.processed_at === null));
  expect(agentText(events)).toBe('Seen by both.');
  expect(events).toEqual(await listAll(one, id));
  expect(await listAll(two, id)).toEqual(events);
  model.script(text('From the other.'));
  expect(agentText(await runTurn(two, id, userText('and?')))).toBe('From the other.');
});

test('an interrupt at one process stops the turn of the other', async () => {
  model.script(text('slow '.repeat(300), { paceMs: 20, chunkChars: 5 }));
  const [one, two] = [clientOf(0), clientOf(1)];
  const id = await createSession(one);
  const reading = readUntil(await one.beta.sessions.events.stream(id));
  await one.beta.sessions.events.send(id, { events: [userText('go')] });
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect((await two.beta.sessions.retrieve(id)).status).toBe('running');
  const before = Date.now();
  await two.beta.sessions.events.send(id, { events: [{ type: 'user.interrupt' }] });
  expect(typesOf(await reading)).toContain('user.interrupt');
  expect(Date.now() - before).toBeLessThan(2500);
});

test('the survivor takes over the turn of a killed process by itself', async () => {
  model.script(answer([call('bash', { command: 'sleep 3; echo done' })]), text('Taken over.'));
  const [one, two] = [clientOf(0), clientOf(1)];
  const id = await createSession(one, { tools: [TOOLSET] });
  await one.beta.sessions.events.send(id, { events: [userText('go')] });
  await expect.poll(async () => typesOf(await listAll(one, id)), { timeout: 10_000 }).toContain('agent.tool_use');
  await services[0]?.kill9();
  const before = Date.now();
  await expect.poll(async () => agentText(await listAll(two, id)), { timeout: 20_000 }).toBe('Taken over.');
  expect(Date.now() - before).toBeLessThan(16_000);
}, 40_000);
