/** Maps values to positions, and has round numbers for the axis. */
export interface Scale {
  readonly at: (value: number) => number;
  readonly ticks: readonly number[];
}

/**
 * A linear scale from the smallest to the largest of `values` to positions `from` and `to`, widened to round numbers.
 * Zero is always on it, so that lengths can be compared.
 */
export function linearScale(values: readonly number[], from: number, to: number, tickCount = 5): Scale {
  const low = Math.min(0, ...values);
  const high = Math.max(0, ...values);
  const step = roundStep((high - low || 1) / tickCount);
  const first = Math.floor(low / step + 1e-9);
  const last = Math.max(first + 1, Math.ceil(high / step - 1e-9));
  const [bottom, top] = [first * step, last * step];
  return {
    at: (value) => from + ((value - bottom) / (top - bottom)) * (to - from),
    ticks: Array.from({ length: last - first + 1 }, (_, i) => Number(((first + i) * step).toPrecision(12))),
  };
}

/** The next larger of 1, 2, 2.5 and 5 times a power of ten. */
function roundStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((step) => step >= least * (1 - 1e-9)) ?? 10 * power;
}
