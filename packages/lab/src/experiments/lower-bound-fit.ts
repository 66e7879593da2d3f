import { mean } from "../arithmetic/averages.ts";

/** A power law through measured errors: error = c·T^slope. */
export interface Fit {
  readonly slope: number;
  /** Of the slope, if each error is the root of a mean square over `runs` independent runs. */
  readonly standardError: number;
}

/** Least squares of ln(error) against ln(T). An RMSE over R runs is off by 1/√(2R), relatively. */
export function fitSlope(ticks: readonly number[], errors: readonly number[], runs: number): Fit {
  const xs = ticks.map(Math.log);
  const ys = errors.map(Math.log);
  const meanX = mean(xs);
  const meanY = mean(ys);
  const spread = xs.reduce((sum, x) => sum + (x - meanX) ** 2, 0);
  const slope = xs.reduce((sum, x, i) => sum + (x - meanX) * ((ys[i] as number) - meanY), 0) / spread;
  return { slope, standardError: 1 / Math.sqrt(2 * runs * spread) };
}
