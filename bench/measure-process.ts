// Measures e and f, each on processes of their own: start until ready, and many sessions at once with the memory they take.

import { join } from 'node:path';
import { boundRow, compare, type Options, type Pair, type Row, ratioRow } from './measure.ts';
import { peakMemoryMb, start } from './processes.ts';
import { percentile } from './statistics.ts';
import { rawLaunch, repriseLaunch, SERVICE_FLAGS, startRaw, startReprise, type Target } from './targets.ts';

const SESSIONS = 50;
const SPREAD_MS = 1000;
const MEMORY_MB_MAX = 200;

/** e: process start → ready; the bundle with its compile cache against the raw loop straight from node_modules. */
export async function measureStart({ bench, rounds }: Options): Promise<readonly Row[]> {
  const dataDir = join(bench.directory, 'start');
  const direct = repriseLaunch(bench, dataDir, SERVICE_FLAGS);
  const launches = { raw: rawLaunch(bench), reprise: direct, launcher: repriseLaunch(bench, dataDir) };
  const times = { raw: [] as number[], reprise: [] as number[], launcher: [] as number[] };
  const names = ['raw', 'reprise', 'launcher'] as const;
  for (let round = -1; round < rounds; round++) {
    for (const name of names) {
      const started = await start(launches[name]);
      // The first start fills the compile cache a second after it is up; a kill before would leave none.
      if (round < 0) await new Promise((resolve) => setTimeout(resolve, 1500));
      else times[name].push(started.readyMs);
      await started.stop();
    }
  }
  const raw = percentile(times.raw, 50);
  const row = (id: string, name: string, values: readonly number[], max: number | null): Row =>
    ratioRow({ id, name, unit: 'ms' }, { raw, reprise: percentile(values, 50) }, max);
  return [
    row('e1', 'process start → ready', times.reprise, 1),
    row('e2', 'the same through the launcher of npm start', times.launcher, null),
  ];
}

/** First-delta times of 50 sessions that start within a second and get 100 deltas each, 20 ms apart. */
async function runCrowd(target: Target): Promise<readonly number[]> {
  const sessions: string[] = [];
  for (let i = 0; i < SESSIONS; i++) sessions.push(await target.newSession());
  return Promise.all(
    sessions.map(async (session, i) => {
      await new Promise((resolve) => setTimeout(resolve, (i * SPREAD_MS) / SESSIONS));
      return (await target.turn(session, { deltas: 100, delayMs: 20 })).firstDeltaMs;
    }),
  );
}

/** f: 50 sessions at once: 95th percentile of the first delta, and the most memory the process ever held. */
export async function measureCrowd(options: Options): Promise<readonly Row[]> {
  const { bench } = options;
  const pair: Pair = {
    raw: await startRaw(bench),
    reprise: await startReprise(bench, join(bench.directory, 'crowd')),
  };
  for (const target of [pair.raw, pair.reprise]) {
    const session = await target.newSession();
    for (let i = 0; i < 20; i++) await target.turn(session, { deltas: 10 });
  }
  const times = await compare(pair, options, async (target) => percentile(await runCrowd(target), 95));
  const memory = {
    raw: peakMemoryMb(pair.raw.process.pid) ?? Number.NaN,
    reprise: peakMemoryMb(pair.reprise.process.pid) ?? Number.NaN,
  };
  await pair.raw.process.stop();
  await pair.reprise.process.stop();
  const bound = boundRow({ id: 'f2', name: 'peak memory with them', unit: 'MB' }, memory.reprise, MEMORY_MB_MAX);
  return [
    ratioRow({ id: 'f1', name: '50 sessions at once: first delta p95', unit: 'ms' }, times, 2),
    { ...bound, raw: Number.isFinite(memory.raw) ? memory.raw : null },
  ];
}
