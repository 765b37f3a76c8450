// The real service killed and frozen at random moments, again and again, while sessions work: nothing accepted is lost, nothing
// runs twice, streams have no gap and no repetition, and every session is usable at the end. `CHAOS_SEED` repeats a run's choices.

import { randomInt } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { createScriptedModel, type ScriptedModel } from '../../shared/adapters/scripted-model/server.ts';
import { createSqliteStore } from '../../shared/adapters/sqlite-store.ts';
import { checkRequest } from '../../shared/core/check-request.ts';
import { DEFAULT_TENANT } from '../../shared/http/auth.ts';
import { readLog } from '../../shared/log/session-log.ts';
import type { Store } from '../../shared/ports/store.ts';
import { sessionId } from '../../shared/types/ids.ts';
import type { LogEntry } from '../../shared/types/log.ts';
import { type Service, startService } from '../support/start-service.ts';
import { type ChaosClient, type Door, request, type SeenEvent, startClient } from './chaos-client.ts';
import { createChaosModel } from './chaos-model.ts';
import { createRandom, type Random } from './random.ts';

const KILLING_MS = Number(process.env.CHAOS_SECONDS ?? 35) * 1000;
/** A lease of a dead process ends after 10 s; model retries and queued turns follow. */
const SETTLING_MS = 60_000;
const LEASE_MS = 10_000;
const SESSIONS = 12;
const seed = Number(process.env.CHAOS_SEED ?? randomInt(2 ** 31));
const stops: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const stop of stops.splice(0).toReversed()) await stop();
});

interface Scene {
  readonly random: Random;
  readonly model: ScriptedModel;
  /** The processes of the service; all on one data directory. */
  readonly services: readonly Service[];
  /** Those that are stopped, and those that are being killed and started: nobody else touches them. */
  readonly frozen: Set<Service>;
  readonly killing: Set<Service>;
  /** What the killed ones had printed. */
  readonly printed: string[];
  readonly door: Door;
  readonly dataDir: string;
}

async function setScene(processes: number): Promise<Scene> {
  const random = createRandom(seed);
  const model = createScriptedModel({ script: createChaosModel(random), check: checkRequest });
  const dataDir = await mkdtemp(join(tmpdir(), 'reprise-chaos-'));
  stops.push(() => rm(dataDir, { recursive: true, force: true }));
  stops.push(() => model.close());
  const modelUrl = (await model.listen()).url;
  const services: Service[] = [];
  for (let i = 0; i < processes; i++) services.push(await startService({ dataDir, modelUrl }));
  for (const service of services) stops.push(() => service.stop());
  const door: Door = {
    apiKey: services[0]?.apiKey ?? '',
    get url() {
      return services[random.int(0, processes - 1)]?.url ?? '';
    },
  };
  return { random, model, services, door, dataDir, frozen: new Set(), killing: new Set(), printed: [] };
}

/** Every third session asks before each call, every third is interrupted now and then. */
async function createSession({ door, random }: Scene, i: number): Promise<ChaosClient> {
  const toolset = { type: 'agent_toolset_20260401' };
  const asking = { ...toolset, default_config: { permission_policy: { type: 'always_ask' } } };
  const environment = await request(door, '/v1/environments', { name: 'chaos' });
  const tools = [i % 3 === 1 ? asking : toolset];
  const agent = await request(door, '/v1/agents', { name: 'chaos', model: 'claude-opus-5-5', tools });
  const session = await request(door, '/v1/sessions', { agent: agent.id, environment_id: environment.id });
  return startClient(door, String(session.id), random);
}

async function work({ random }: Scene, client: ChaosClient, i: number, until: number): Promise<void> {
  for (let n = 0; Date.now() < until; n++) {
    await client.send(`task ${i}-${n} rounds=${random.int(0, 4)}`);
    if (i % 3 === 2 && random.share(0.3)) {
      await sleep(random.int(0, 1500));
      await client.interrupt();
    }
    await sleep(random.int(100, 6000));
  }
}

/** Returns how often it killed. */
async function kill({ random, services, frozen, killing, printed }: Scene, until: number): Promise<number> {
  let kills = 0;
  while (Date.now() < until) {
    await sleep(random.share(0.25) ? random.int(0, 300) : random.int(300, 4000));
    const running = services.filter((s) => !frozen.has(s));
    const service = running[random.int(0, running.length - 1)];
    if (!service) continue;
    killing.add(service);
    await service.kill9();
    printed.push(service.output());
    kills++;
    if (random.share(0.3)) await sleep(random.int(0, 1000));
    await service.restart();
    killing.delete(service);
  }
  return kills;
}

/** Stops a process for longer than a lease lasts, while the other one works: when it goes on, what it held is another's. */
async function freeze({ random, services, frozen, killing }: Scene, until: number): Promise<number> {
  let freezes = 0;
  while (services.length > 1 && Date.now() < until) {
    await sleep(random.int(200, 3000));
    const service = services[random.int(0, services.length - 1)];
    if (!service || killing.has(service)) continue;
    const { pid } = service;
    frozen.add(service);
    process.kill(pid, 'SIGSTOP');
    freezes++;
    await sleep(random.int(LEASE_MS, LEASE_MS + 2500));
    process.kill(pid, 'SIGCONT');
    frozen.delete(service);
  }
  return freezes;
}

/** As Promise.all, but nothing is under way any more when it fails. */
async function allEnded<T extends readonly unknown[]>(parts: readonly [...{ [K in keyof T]: Promise<T[K]> }]) {
  await Promise.allSettled(parts);
  return Promise.all(parts);
}

const isEnd = (e: SeenEvent): boolean =>
  e.type === 'session.status_idle' && (e.stop_reason as { type: string }).type !== 'requires_action';

async function settle(client: ChaosClient): Promise<readonly SeenEvent[]> {
  const deadline = Date.now() + SETTLING_MS;
  for (;;) {
    const [status, events] = [await client.status(), await client.list()];
    const isQuiet = status === 'idle' && events.every((e) => e.processed_at !== null);
    const last = events.findLast((e) => e.type !== 'user.interrupt'); // one that came late leaves only itself
    if (isQuiet && last && isEnd(last)) return events;
    if (Date.now() > deadline) {
      const shown = JSON.stringify(events.slice(-4), null, 1);
      throw new Error(
        `seed ${seed}: ${client.session} is ${status} after ${SETTLING_MS} ms; its last events: ${shown}`,
      );
    }
    await sleep(200);
  }
}

function checkStream(client: ChaosClient, events: readonly SeenEvent[]): void {
  const seen = client.seen.map((s) => s.event.id);
  const from = events.findIndex((e) => e.id === seen[0]);
  expect(seen, `the stream of ${client.session} beside its list`).toEqual(events.slice(from).map((e) => e.id));
  expect(new Set(seen).size).toBe(seen.length);
  const places = client.seen.map((s) => s.sse.split('-').map(Number) as [number, number]);
  const isAfter = ([a, b]: [number, number], [c, d]: [number, number]) => a > c || (a === c && b > d);
  expect(places.filter((p, i) => i > 0 && !isAfter(p, places[i - 1] ?? [0, 0]))).toEqual([]);
}

/** An error that ends the turn; a call that is tried again is none. */
const isFailure = (e: SeenEvent): boolean =>
  e.type === 'session.error' &&
  (e.error as { readonly retry_status: { readonly type: string } }).retry_status.type !== 'retrying';

/** Every accepted message stands once in the history, and its turn ended with an answer, a visible error or an interrupt. */
function checkAnswered(client: ChaosClient, events: readonly SeenEvent[]): void {
  const messages = events.filter((e) => e.type === 'user.message').map((e) => e.id);
  expect(messages.toSorted(), `messages of ${client.session}`).toEqual(client.accepted.toSorted());
  for (const id of client.accepted) {
    const turn = events.slice(events.findIndex((e) => e.id === id));
    const end = turn.findIndex(isEnd);
    const isAnswered = turn
      .slice(0, end)
      .some(
        (e) =>
          (e.type === 'agent.message' && JSON.stringify(e.content).includes('Answered')) ||
          isFailure(e) ||
          e.type === 'user.interrupt',
      );
    if (end < 0 || !isAnswered) {
      expect.fail(
        `${client.session}: ${id} has no answer: ${JSON.stringify(turn.slice(0, end + 1).map((e) => e.type))}`,
      );
    }
  }
}

/** In the log: no unsafe call started twice, none that began before a takeover has another outcome than unknown. */
function checkLog(entries: readonly LogEntry[]): { readonly takeovers: number; readonly unknown: number } {
  expect(entries.map((e) => e.seq)).toEqual(entries.map((_, i) => i + 1));
  expect(entries.filter((e, i) => i > 0 && e.epoch < (entries[i - 1]?.epoch ?? 0))).toEqual([]);
  const unsafe = new Set<string>();
  const started = new Map<string, number>();
  let unknown = 0;
  for (const entry of entries) {
    if (entry.kind === 'decided') for (const c of entry.calls) if (c.name === 'bash') unsafe.add(c.toolUseId);
    if (entry.kind === 'tool_started') {
      for (const id of entry.toolUseIds) {
        if (unsafe.has(id)) expect(started.has(id), `${id} was started twice`).toBe(false);
        started.set(id, entry.epoch);
      }
    }
    if (entry.kind !== 'tool_result' || !unsafe.has(entry.toolUseId)) continue;
    const epoch = started.get(entry.toolUseId);
    if (entry.isError) unknown += /outcome of this call is unknown/.test(JSON.stringify(entry.content)) ? 1 : 0;
    else expect(epoch, `${entry.toolUseId} ran in one epoch and has its result from another`).toBe(entry.epoch);
  }
  return { takeovers: entries.filter((e) => e.kind === 'resumed').length, unknown };
}

/** What the file holds beside what the results say: a call without error ran once, one with an error left nothing behind. */
function checkEffects(client: ChaosClient, events: readonly SeenEvent[], count: string): number {
  const lines = count.split('\n').filter((line) => line.startsWith('x-'));
  expect(new Set(lines).size, `${client.session} has effects that happened twice`).toBe(lines.length);
  const results = new Map(events.filter((e) => e.type === 'agent.tool_result').map((e) => [e.tool_use_id, e]));
  const done = events
    .filter((e) => e.type === 'agent.tool_use')
    .flatMap((use) => {
      const token = /echo (x-\S+)/.exec(String((use.input as { command?: string }).command))?.[1];
      const result = results.get(use.id);
      expect(result, `${use.id} has a result`).toBeDefined();
      return token !== undefined && !result?.is_error ? [token] : [];
    });
  expect(lines, `effects of ${client.session}`).toEqual(done);
  return lines.length;
}

/** What happened in one session, checked from all sides. */
async function checkSession(client: ChaosClient, events: readonly SeenEvent[], store: Store) {
  expect(client.faults).toEqual([]);
  checkStream(client, events);
  checkAnswered(client, events);
  const report = events.findLast((e) => e.type === 'agent.tool_result')?.content ?? [];
  const [count] = report as readonly { readonly text: string }[];
  return {
    ...checkLog(await readLog(store, sessionId(client.session), 0)),
    effects: checkEffects(client, events, count?.text ?? ''),
    messages: client.accepted.length,
    events: events.length,
    connections: client.connections(),
  };
}

test.each([
  ['one process', 1],
  ['two processes on one data directory, one of them frozen now and then', 2],
])('death at any moment loses nothing and repeats nothing: %s', async (_name, processes) => {
  console.log(`CHAOS_SEED=${seed}`);
  const scene = await setScene(processes);
  const clients = await Promise.all(Array.from({ length: SESSIONS }, (_, i) => createSession(scene, i)));
  // One turn in peace, so that every stream has a place to go on from.
  for (const client of clients) await client.send('task first rounds=1');
  await Promise.all(clients.map(settle));

  const until = Date.now() + KILLING_MS;
  const working = clients.map((client, i) => work(scene, client, i, until));
  const [kills, freezes] = await allEnded([kill(scene, until), freeze(scene, until), ...working]);
  await Promise.all(clients.map(settle));
  for (const client of clients) await client.send('task report rounds=1');
  const histories = await Promise.all(clients.map(settle));
  await sleep(1500); // readers of the streams are behind by a poll at most
  await Promise.all(clients.map((client) => client.close()));
  for (const service of scene.services) await service.stop();

  const storage = createSqliteStore({ path: join(scene.dataDir, 'reprise.db') });
  stops.push(() => storage.close());
  const store = storage.forTenant(DEFAULT_TENANT);
  const sums: Record<string, number> = { kills, freezes };
  for (const [i, client] of clients.entries()) {
    const facts = await checkSession(client, histories[i] ?? [], store);
    for (const [name, count] of Object.entries(facts)) sums[name] = (sums[name] ?? 0) + count;
  }
  console.log(sums);
  const printed = [...scene.printed, ...scene.services.map((service) => service.output())];
  expect(printed.join('\n'), 'what the processes printed').not.toMatch(/"level":"error"|unhandled|uncaught/i);
  expect(scene.model.refusals, 'histories that the API would refuse').toEqual([]);
  expect(sums.takeovers, 'turns that were taken up again').toBeGreaterThan(SESSIONS / 3);
  expect(sums.effects, 'calls that ran').toBeGreaterThan(SESSIONS);
});
