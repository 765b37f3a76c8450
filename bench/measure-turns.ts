// Measures a to d: first delta, tool loop, CPU of a long stream, and one more turn on long conversations, in warm processes.

import { seedRaw, seedReprise } from './history.ts';
import { compare, type Options, type Pair, type Row, ratioRow } from './measure.ts';
import { cpuMs } from './processes.ts';
import { answerChars } from './prompts.ts';
import { median } from './statistics.ts';
import type { Target } from './targets.ts';

const FIRST_DELTA_SLACK_MS = 5;

/** Runs both until their hot paths are compiled. */
export async function warmUp({ raw, reprise }: Pair, quick: boolean): Promise<void> {
  for (const target of [raw, reprise]) {
    const session = await target.newSession();
    for (let i = 0; i < (quick ? 20 : 40); i++) await target.turn(session, { deltas: 10 });
    for (let i = 0; i < 2; i++) await target.turn(await target.newSession(), { rounds: 20 });
    await target.turn(await target.newSession(), { deltas: 5000, perWrite: 25 });
  }
}

/** a: message posted → first text delta at the client, on a conversation that has had a turn. */
export async function measureFirstDelta(pair: Pair, options: Options): Promise<readonly Row[]> {
  const times = await compare(pair, options, async (target) => {
    const session = await target.newSession();
    const samples: number[] = [];
    for (let i = 0; i < (options.quick ? 8 : 16); i++)
      samples.push((await target.turn(session, { deltas: 10 })).firstDeltaMs);
    return median(samples.slice(1));
  });
  const row = ratioRow({ id: 'a', name: 'message posted → first delta', unit: 'ms' }, times, null);
  const target = `≤ raw + ${FIRST_DELTA_SLACK_MS} ms`;
  return [{ ...row, target, pass: times.reprise <= times.raw + FIRST_DELTA_SLACK_MS }];
}

/** b: wall time of a turn of 21 model calls with 20 reads of a small file between. */
export async function measureToolLoop(pair: Pair, options: Options): Promise<readonly Row[]> {
  const times = await compare(pair, options, async (target) => {
    const session = await target.newSession();
    await target.turn(session, { deltas: 10 });
    return (await target.turn(session, { rounds: 20 })).endMs;
  });
  return [ratioRow({ id: 'b', name: '20-round tool loop', unit: 'ms' }, times, 3)];
}

/** c: CPU time of the process for each 1,000 deltas of a long answer. */
export async function measureCpu(pair: Pair, options: Options): Promise<readonly Row[]> {
  const deltas = options.quick ? 10_000 : 20_000;
  const times = await compare(pair, options, async (target) => {
    const session = await target.newSession();
    const before = cpuMs(target.process.pid);
    const { chars } = await target.turn(session, { deltas, perWrite: 25 });
    const after = cpuMs(target.process.pid);
    if (chars !== answerChars(deltas)) throw new Error(`${target.name}: ${chars} characters of text came through`);
    return before === undefined || after === undefined ? Number.NaN : ((after - before) / deltas) * 1000;
  });
  return [ratioRow({ id: 'c', name: 'CPU per 1,000 deltas', unit: 'ms' }, times, 2.5)];
}

/** d: one more short turn on conversations of 10, 1,000 and 5,000 messages; raw reloads its file, as it must. */
export async function measureHistory(pair: Pair, options: Options): Promise<readonly Row[]> {
  const { bench, dataDir, quick } = options;
  const rows: Row[] = [];
  for (const [index, messages] of [10, 1000, 5000].entries()) {
    const sessions = new Map<Target, string>();
    for (const target of [pair.raw, pair.reprise]) {
      const session = await target.newSession({ stored: true });
      if (target.name === 'raw') seedRaw(bench.directory, session, messages);
      else await seedReprise(dataDir, session, messages);
      for (let i = 0; i < 3; i++) await target.turn(session, { deltas: 10 });
      sessions.set(target, session);
    }
    const times = await compare(pair, options, async (target) => {
      const samples: number[] = [];
      for (let i = 0; i < (quick ? 3 : 5); i++) {
        samples.push((await target.turn(sessions.get(target) ?? '', { deltas: 10 })).endMs);
      }
      return median(samples);
    });
    const name = `one more turn on ${messages.toLocaleString('en')} messages`;
    rows.push(ratioRow({ id: `d${index + 1}`, name, unit: 'ms' }, times, messages === 5000 ? 1.5 : null));
  }
  return rows;
}
