// What one measure gives, and how the two targets take turns: a round is one sample of each, so that noise of the machine
// meets both alike; the figure is the median over the rounds.

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
  rounds: number,
  sample: (target: Target) => Promise<number>,
): Promise<{ readonly raw: number; readonly reprise: number }> {
  const raw: number[] = [];
  const reprise: number[] = [];
  for (let round = 0; round < rounds; round++) {
    raw.push(await sample(pair.raw));
    reprise.push(await sample(pair.reprise));
  }
  return { raw: median(raw), reprise: median(reprise) };
}

/** A row whose target is a multiple of raw. */
export function ratioRow(
  row: Pick<Row, 'id' | 'name' | 'unit'>,
  { raw, reprise }: { readonly raw: number; readonly reprise: number },
  timesMax: number | null,
): Row {
  const known = Number.isFinite(raw) && Number.isFinite(reprise);
  return {
    ...row,
    raw: known ? raw : null,
    reprise: known ? reprise : null,
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
