// Death before and after every write of a turn, enumerated: the next worker ends it, no accepted input is lost, no unsafe
// tool runs twice, and every request is one that the model's API takes.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { checkRequest } from '../../shared/core/check-request.ts';
import type { Storage, Store } from '../../shared/ports/store.ts';
import { isToolResult, isToolUse } from '../../shared/types/message.ts';
import { text, toolUse } from '../core/builders.ts';
import { type Answer, answers, calls, startHarness } from './harness.ts';

/** Dies at the `at`-th write: it is lost (`before`) or stored (`after`), and nothing answers from then on. */
function dyingStorage(
  storage: Storage,
  at: number,
  when: 'before' | 'after',
): { storage: Storage; dead: () => boolean } {
  let writes = 0;
  let dead = false;
  const never = new Promise<never>(() => {});
  const write = async <T>(job: () => Promise<T>): Promise<T> => {
    if (dead) return never;
    if (++writes < at) return job();
    if (when === 'after') await job();
    dead = true;
    return never;
  };
  const wrap = (store: Store): Store => ({
    get: (key) => (dead ? never : store.get(key)),
    list: (partition, options) => (dead ? never : store.list(partition, options)),
    put: (key, item, expected) => write(() => store.put(key, item, expected)),
    putAll: (all) => write(() => store.putAll(all)),
    delete: (key, expected) => write(() => store.delete(key, expected)),
  });
  return { storage: { ...storage, forTenant: (tenant) => wrap(storage.forTenant(tenant)) }, dead: () => dead };
}

/** One round of two tools, then the end; decided by what the request shows, so that a repeated call is answered alike. */
const answer: Answer = (request, signal) => {
  expect(checkRequest(request)).toBeNull();
  const rounds = request.messages.filter((m) => m.content.some(isToolResult)).length;
  return rounds === 0
    ? calls(toolUse('t1', 'bash'), toolUse('t2', 'read'))(request, signal)
    : answers([text('done')])(request, signal);
};

let directory = '';
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const limits = { leaseMs: 40, leaseRenewMs: 10_000, interruptPollMs: 10_000 };

async function dieAndResume(at: number, when: 'before' | 'after', watched: boolean): Promise<boolean> {
  directory = mkdtempSync(join(tmpdir(), 'reprise-crash-'));
  let dead = () => false;
  const first = await startHarness({
    script: [],
    answer,
    directory,
    limits,
    wrapStorage: (raw) => {
      const dying = dyingStorage(raw, at, when);
      dead = dying.dead;
      return dying.storage;
    },
  });
  const leave = new AbortController();
  if (watched) {
    await first.engine.load('default' as never, first.session.id);
    first.engine.follow('default' as never, first.session.id, { afterSeq: 0, openEvents: false }, leave.signal);
  }
  const sent = first.send({ type: 'user.message', content: [text('hi')] });
  const accepted = await Promise.race([
    sent.then(() => true),
    new Promise<false>((r) => setTimeout(() => r(false), 60)),
  ]);
  for (let i = 0; i < 20 && !dead(); i++) await new Promise((r) => setTimeout(r, 5));
  leave.abort();
  await first.close();
  if (!dead()) return false;

  const second = await startHarness({ script: [], answer, directory, limits });
  await new Promise((r) => setTimeout(r, limits.leaseMs + 20));
  await second.engine.run('default' as never, second.session.id);
  await second.idle();
  const log = await second.log();
  const told = [...second.requests].at(-1) ?? [...first.requests].at(-1);
  const unsafeRuns = [...first.runs, ...second.runs].filter((r) => r === 'bash t1').length;
  const snapshot = await second.engine.load('default' as never, second.session.id);
  await second.close();

  const stored = log.some((e) => e.kind === 'input');
  if (accepted) expect(stored).toBe(true);
  if (!stored) return true;
  expect(log.filter((e) => e.kind === 'input')).toHaveLength(1);
  expect(log.filter((e) => e.kind === 'turn_ended').map((e) => e.outcome.kind)).toEqual(['completed']);
  expect(unsafeRuns).toBeLessThanOrEqual(1);
  expect(log.map((e) => e.seq)).toEqual(log.map((_, i) => i + 1));
  expect(log.map((e) => e.epoch)).toEqual(log.map((e) => e.epoch).toSorted((a, b) => a - b));
  expect(told?.messages.flatMap((m) => m.content).filter(isToolUse)).toHaveLength(2);
  const started = log.flatMap((e) => (e.kind === 'model_started' ? [e.seq] : []));
  const closed = log.flatMap((e) => (e.kind === 'message' || e.kind === 'model_failed' ? [e.modelSeq] : []));
  expect(closed).toEqual(started);
  expect(snapshot).toMatchObject({ status: 'idle', inbox: [] });
  return true;
}

it.each([
  ['before', false],
  ['after', false],
  ['before', true],
  ['after', true],
] as const)('survives death %s every write (watched: %s)', async (when, watched) => {
  let points = 0;
  while (await dieAndResume(points + 1, when, watched)) points++;
  expect(points).toBeGreaterThanOrEqual(8); // accept, lease, four appends, sweep, release, clear
});
