import { type Cost, gaussianCost, pureCost, sumOfCosts } from "../privacy/accounting/budget.ts";
import type { Metric } from "./spec.ts";

/**
 * The price of one report of a task, from the task's metrics alone: to the server that opens its answers; with noise
 * of the servers, to one server if the other one is honest. One person's answers to all metrics change together, so
 * costs add up. A metric that this version does not know costs more than any budget.
 */
export function answerCostOf(metrics: readonly Metric[]): Cost {
  return sumOfCosts(metrics.map(costOf));
}

/**
 * Of each σ the unit is what one device can change a figure by; a device changes two counts of a histogram. An operator
 * may have signed what no service accepts: a metric that states both noises, or the servers' without a σ, pays for both,
 * because what the device adds may be either.
 */
function costOf(metric: Metric): Cost {
  const { statistic, localEpsilon, noise, sigma } = metric as Stated;
  const figures: Partial<Record<string, number>> = { occurrence: 1, histogram: 2, mean: 1, automaton: 1 };
  const isTold = localEpsilon !== undefined;
  const isGaussian = !isTold || noise !== undefined || sigma !== undefined;
  return sumOfCosts([
    ...(isTold ? [pureCost(localEpsilon)] : []),
    ...(isGaussian ? [gaussianCost(sigma ?? Number.NaN, figures[statistic] ?? Number.POSITIVE_INFINITY)] : []),
  ]);
}

/** What any metric may state about noise. */
interface Stated {
  readonly statistic: string;
  readonly localEpsilon?: number;
  readonly noise?: unknown;
  readonly sigma?: number;
}
