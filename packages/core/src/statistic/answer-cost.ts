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

/** Of each σ the unit is what one device can change a figure by; a device changes two counts of a histogram. */
function costOf(metric: Metric): Cost {
  if ("localEpsilon" in metric) return pureCost(metric.localEpsilon);
  const figures: Partial<Record<string, number>> = { occurrence: 1, histogram: 2, mean: 1, automaton: 1 };
  return gaussianCost(metric.sigma, figures[metric.statistic] ?? Number.POSITIVE_INFINITY);
}
