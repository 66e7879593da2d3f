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

/** A logarithmic scale from the smallest to the largest of `values`, which are above zero, to positions. */
export function logScale(values: readonly number[], from: number, to: number, tickCount = 6): Scale {
  const low = Math.log10(Math.min(...values));
  const high = Math.max(low + 1e-9, Math.log10(Math.max(...values)));
  const powers = Array.from({ length: Math.floor(high) - Math.floor(low) + 1 }, (_, i) => Math.floor(low) + i);
  const isInside = (value: number): boolean => Math.log10(value) >= low - 1e-9 && Math.log10(value) <= high + 1e-9;
  // As many round numbers per decade as there is room for; then every second decade, and so on.
  const candidates = [
    ...[[1, 2, 5], [1, 3], [1]].map((factors) =>
      powers.flatMap((power) => factors.map((factor) => factor * 10 ** power)),
    ),
    ...[2, 3, 4].map((every) => powers.filter((power) => power % every === 0).map((power) => 10 ** power)),
  ].map((ticks) => ticks.map((tick) => Number(tick.toPrecision(12))).filter(isInside));
  return {
    at: (value) => from + ((Math.log10(value) - low) / (high - low)) * (to - from),
    ticks: candidates.find((ticks) => ticks.length <= tickCount) ?? [],
  };
}

/** The next larger of 1, 2, 2.5 and 5 times a power of ten. */
function roundStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((step) => step >= least * (1 - 1e-9)) ?? 10 * power;
}
