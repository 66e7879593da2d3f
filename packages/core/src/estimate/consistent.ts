/** The nearest value that could be true: a count of `devices` devices, or a mean of values up to `devices`. */
export function clampTo(largest: number, estimate: number): number {
  return Math.min(Math.max(estimate, 0), largest);
}

/**
 * The nearest histogram that could be true, in the 2-norm: no bucket negative, all buckets together `total`. It is
 * max(x_b − shift, 0) with the shift that gives the right sum, found by leaving out the smallest buckets one by one.
 */
export function projectToHistogram(estimates: readonly number[], total: number): number[] {
  const sorted = [...estimates].sort((a, b) => b - a);
  let sum = 0;
  let shift = 0;
  for (const [i, value] of sorted.entries()) {
    sum += value;
    const candidate = (sum - total) / (i + 1);
    if (value - candidate <= 0) break;
    shift = candidate;
  }
  return estimates.map((value) => Math.max(value - shift, 0));
}
