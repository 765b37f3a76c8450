// What one measure gives, and how the two targets take turns: a round is one sample of each, so that noise of the machine
// meets both alike; the figure is the median over the rounds.

import { closeSync, fdatasyncSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { median } from './statistics.ts';
import type { Bench, Target } from './targets.ts';

/** One line of the report. */
export interface Row {
  /** The measure's letter and, where it has several lines, a number: `d2`. */
  readonly id: string;
  readonly name: string;
  readonly unit: string;
  /** Of the raw SDK loop; null where there is nothing to compare with. */
  readonly raw: number | null;
  readonly reprise: number | null;
  /** In words. */
  readonly target: string;
  /** null: for information only. */
  readonly pass: boolean | null;
  /** What one sync of the disk took meanwhile, median in ms: raw stores nothing, Reprise waits for it several times a turn. */
  readonly syncMs?: number;
}

export interface Times {
  readonly raw: number;
  readonly reprise: number;
  readonly syncMs?: number;
}

export interface Options {
  readonly bench: Bench;
  /** Rounds of each target. */
  readonly rounds: number;
  readonly quick: boolean;
  readonly dataDir: string;
}

export interface Pair {
  readonly raw: Target;
  readonly reprise: Target;
}

/** Both medians of `sample`, taken in turns. Rounds whose sample is NaN (not to be had here) make the median NaN. */
export async function compare(
  pair: Pair,
  { bench, rounds }: Options,
  sample: (target: Target) => Promise<number>,
): Promise<Times> {
  const raw: number[] = [];
  const reprise: number[] = [];
  const syncs: number[] = [];
  for (let round = 0; round < rounds; round++) {
    raw.push(await sample(pair.raw));
    reprise.push(await sample(pair.reprise));
    syncs.push(...timeSyncs(join(bench.directory, 'sync')));
  }
  return { raw: median(raw), reprise: median(reprise), syncMs: median(syncs) };
}

/** Times of a few appends of 4 KiB that reach the disk. */
function timeSyncs(path: string): readonly number[] {
  const file = openSync(path, 'a');
  const times = Array.from({ length: 5 }, () => {
    const start = performance.now();
    writeSync(file, Buffer.alloc(4096));
    fdatasyncSync(file);
    return performance.now() - start;
  });
  closeSync(file);
  return times;
}

/** A row whose target is a multiple of raw. */
export function ratioRow(
  row: Pick<Row, 'id' | 'name' | 'unit'>,
  { raw, reprise, syncMs }: Times,
  timesMax: number | null,
): Row {
  const known = Number.isFinite(raw) && Number.isFinite(reprise);
  return {
    ...row,
    raw: known ? raw : null,
    reprise: known ? reprise : null,
    ...(syncMs === undefined ? {} : { syncMs }),
    target: timesMax === null ? '' : `≤ ${timesMax} × raw`,
    pass: timesMax === null || !known ? null : reprise <= timesMax * raw,
  };
}

/** A row whose target is a fixed bound. */
export function boundRow(row: Pick<Row, 'id' | 'name' | 'unit'>, reprise: number, max: number): Row {
  const known = Number.isFinite(reprise);
  return {
    ...row,
    raw: null,
    reprise: known ? reprise : null,
    target: `≤ ${max} ${row.unit}`.trim(),
    pass: known ? reprise <= max : null,
  };
}
