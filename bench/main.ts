// `npm run bench`: Reprise beside the raw SDK loop, on one machine in one run, against one mock model. Exit code 0 whatever
// the figures are; 1 only where the bench itself broke.

import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Options, Pair, Row } from './measure.ts';
import { CLIENT_CPU, canPin, pinSelf, start } from './processes.ts';
import { type Report, ratioOf, tableOf } from './report.ts';
import { type Bench, SERVICE_FLAGS, startRaw, startReprise, writeRawHost } from './targets.ts';

const USAGE = `npm run bench -- [options]
  --quick           fewer samples, same measures
  --only a,b,…      a first delta, b tool loop, c CPU, d long history, e start, f many sessions, w writes, s bundle size
  --rounds N        samples of each target per measure (5; with --quick 3)
  --json            the report as JSON
  --cpu-prof DIR    a CPU profile of the service that a to d measure, into DIR`;

const WARM = ['a', 'b', 'c', 'd'];
const ALL = [...WARM, 'e', 'f', 'w', 's'];
const root = join(import.meta.dirname, '..');

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
    only: { type: 'string' },
    rounds: { type: 'string' },
    'cpu-prof': { type: 'string' },
  },
});

const say = (text: string): void => console.error(text);

function chosen(): readonly string[] {
  const names = values.only?.split(',') ?? ALL;
  const unknown = names.filter((name) => !ALL.includes(name));
  if (unknown.length > 0) throw new Error(`no such measure: ${unknown.join(', ')}\n${USAGE}`);
  return names;
}

/** Measures a to d share two warm processes. */
async function measureWarm(options: Options, names: readonly string[]): Promise<readonly Row[]> {
  const turns = await import('./measure-turns.ts');
  const profile = values['cpu-prof'];
  const nodeArgs = profile === undefined ? undefined : [...SERVICE_FLAGS, '--cpu-prof', `--cpu-prof-dir=${profile}`];
  const pair: Pair = {
    raw: await startRaw(options.bench),
    reprise: await startReprise(options.bench, options.dataDir, nodeArgs),
  };
  await turns.warmUp(pair, options.quick);
  const rows: Row[] = [];
  const measures = {
    a: turns.measureFirstDelta,
    b: turns.measureToolLoop,
    c: turns.measureCpu,
    d: turns.measureHistory,
  };
  for (const [name, measure] of Object.entries(measures)) {
    if (!names.includes(name)) continue;
    say(`measuring ${name} …`);
    rows.push(...(await measure(pair, options)));
  }
  await pair.raw.process.stop();
  await pair.reprise.process.stop();
  return rows;
}

async function measureAll(options: Options, names: readonly string[]): Promise<readonly Row[]> {
  const rows: Row[] = [];
  if (names.some((name) => WARM.includes(name))) rows.push(...(await measureWarm(options, names)));
  const alone = await import('./measure-process.ts');
  for (const [name, measure] of Object.entries({ e: alone.measureStart, f: alone.measureCrowd })) {
    if (!names.includes(name)) continue;
    say(`measuring ${name} …`);
    rows.push(...(await measure(options)));
  }
  const exact = await import('./measure-exact.ts');
  if (names.includes('w')) rows.push(...(await exact.measureWrites(options)));
  if (names.includes('s')) rows.push(...(await exact.measureBundle(options)));
  return [...rows, ...(await exact.measureMarks(options))];
}

async function run(): Promise<void> {
  const names = chosen();
  const built = spawnSync(process.execPath, [join(root, 'scripts/build.ts')], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  if (built.status !== 0) throw new Error('the build failed');
  mkdirSync(join(root, '.reprise'), { recursive: true });
  const directory = mkdtempSync(join(root, '.reprise', 'bench-'));
  pinSelf();
  try {
    const model = await start({ args: [join(root, 'bench/mock-model.ts')], cpu: CLIENT_CPU, cwd: root });
    const bench: Bench = { root, directory, modelUrl: model.url };
    writeRawHost(bench);
    const rounds = Number(values.rounds ?? (values.quick ? 3 : 5));
    const options: Options = { bench, rounds, quick: values.quick, dataDir: join(directory, 'data') };
    const rows = await measureAll(options, names);
    await model.stop();
    report(rows, rounds);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function report(rows: readonly Row[], rounds: number): void {
  const full: Report = {
    version: 1,
    node: process.version,
    cpus: availableParallelism(),
    pinned: canPin,
    rounds,
    rows: rows.map((row) => ({ ...row, ratio: ratioOf(row) })),
  };
  console.log(values.json ? JSON.stringify(full, null, 2) : tableOf(rows));
}

if (values.help) console.log(USAGE);
else {
  await run().catch((error: unknown) => {
    say(error instanceof Error ? (error.stack ?? error.message) : String(error));
    process.exitCode = 1;
  });
  process.exit(); // keep-alive connections would hold the process
}
