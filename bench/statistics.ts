// Medians and percentiles of small samples.

/** The middle value, or the mean of the two middle ones; NaN for no values. */
export const median = (values: readonly number[]): number => percentile(values, 50);

/** The value below which `percent` of the samples lie, linearly between two neighbours; NaN for no values. */
export function percentile(values: readonly number[], percent: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const at = ((sorted.length - 1) * percent) / 100;
  const low = sorted[Math.floor(at)] ?? Number.NaN;
  const high = sorted[Math.ceil(at)] ?? Number.NaN;
  return low + (high - low) * (at - Math.floor(at));
}
