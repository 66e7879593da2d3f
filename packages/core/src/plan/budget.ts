import { parseTask } from "../message/runnable.ts";
import type { Task } from "../message/task.ts";
import { windowSeconds } from "../message/window-time.ts";
import {
  BUDGET_DELTA,
  type Budget,
  budgetFor,
  type Cost,
  isWithinBudget,
  sumOfCosts,
} from "../privacy/accounting/budget.ts";
import { answerCostOf } from "../statistic/answer-cost.ts";
import type { Metric } from "../statistic/spec.ts";
import { entryOf } from "../statistic/table.ts";
import { reportingDevices } from "./metric.ts";
import { NO_SHAPE } from "./task.ts";
import { planTwoServerMetric } from "./two-server.ts";

/** What a task does to a device with a budget that has no other tasks. */
export interface BudgetQuestion {
  readonly task: Task;
  readonly budget: Budget;
  /** How many windows in a row the device is on. */
  readonly windows: number;
  /** How many devices report, for errors. */
  readonly devices: number;
}

/** A change after which the device skips no window. */
export type BudgetChange =
  | {
      readonly change: "longer-windows";
      readonly ticks: number;
      readonly tickSeconds: number;
      readonly windowSeconds: number;
      readonly windowsPerPeriod: number;
    }
  | { readonly change: "fewer-metrics"; readonly keep: readonly string[]; readonly drop: readonly string[] }
  | {
      readonly change: "server-noise";
      readonly mode: "two-server";
      readonly metrics: readonly { readonly name: string; readonly sigma: number; readonly standardError: number }[];
    };

/** How often the device answers, and what to change if it skips windows. As devices decide, not an estimate. */
export interface BudgetPlan extends Budget {
  readonly delta: number;
  readonly windows: number;
  /** How many of these it answers. */
  readonly answered: number;
  /** How many windows end in a period, and for how many of them the budget is enough. */
  readonly windowsPerPeriod: number;
  readonly affordablePerPeriod: number;
  /** The least ε of a budget with the same period under which no window is skipped. */
  readonly neededEpsilon: number;
  /** Each by itself is enough; empty if no window is skipped, or if no such change is. */
  readonly changes: readonly BudgetChange[];
}

const DAY = 86_400;

/** Prices a task against a budget, by the same rule by which devices skip windows. */
export function planBudget({ task, budget, windows, devices }: BudgetQuestion): BudgetPlan {
  const { epsilon, days } = budget;
  const windowsPerPeriod = windowsIn(days, windowSeconds(task));
  const affordablePerPeriod = affordable(epsilon, answerCostOf(task.metrics), windowsPerPeriod);
  const isEnough = affordablePerPeriod >= windowsPerPeriod;
  const changes = [
    longerWindows(task, days, affordablePerPeriod),
    fewerMetrics(task.metrics, epsilon, windowsPerPeriod),
    serverNoise(task, epsilon, windowsPerPeriod, devices),
  ];
  return {
    epsilon,
    days,
    delta: BUDGET_DELTA,
    windows,
    // It answers as long as it can, and again when the first answer is a period old.
    answered:
      Math.floor(windows / windowsPerPeriod) * affordablePerPeriod +
      Math.min(windows % windowsPerPeriod, affordablePerPeriod),
    windowsPerPeriod,
    affordablePerPeriod,
    neededEpsilon: budgetFor(sumOfCosts([answerCostOf(task.metrics)], windowsPerPeriod)),
    changes: isEnough ? [] : changes.filter((change) => change !== undefined),
  };
}

/** The most windows of this length that end in a period, its end excluded. */
export function windowsIn(days: number, seconds: number): number {
  return Math.max(1, Math.ceil((days * DAY) / seconds));
}

/** How many answers of this cost fit, up to a limit. */
function affordable(epsilon: number, cost: Cost, limit: number): number {
  let [most, least] = [limit + 1, 0];
  while (most - least > 1) {
    const middle = Math.floor((most + least) / 2);
    if (isWithinBudget(epsilon, sumOfCosts([cost], middle))) least = middle;
    else most = middle;
  }
  return least;
}

/** With more ticks; where a task with more ticks cannot run, with longer ones. */
function longerWindows(task: Task, days: number, answers: number): BudgetChange | undefined {
  if (answers === 0) return undefined;
  const factor = Math.ceil((days * DAY) / (answers * windowSeconds(task)));
  for (const longer of [
    { ...task, ticks: factor * task.ticks },
    { ...task, tickSeconds: factor * task.tickSeconds },
  ]) {
    if (!canRun(longer)) continue;
    const { ticks, tickSeconds } = longer;
    const seconds = windowSeconds(longer);
    return {
      change: "longer-windows",
      ticks,
      tickSeconds,
      windowSeconds: seconds,
      windowsPerPeriod: windowsIn(days, seconds),
    };
  }
  return undefined;
}

function canRun(task: Task): boolean {
  try {
    parseTask(JSON.stringify(task));
    return true;
  } catch {
    return false;
  }
}

/** The cheapest ones, as many as fit in every window. */
function fewerMetrics(metrics: readonly Metric[], epsilon: number, windows: number): BudgetChange | undefined {
  const byCost = metrics
    .map((metric) => ({ metric, epsilon: budgetFor(answerCostOf([metric])) }))
    .toSorted((a, b) => a.epsilon - b.epsilon)
    .map(({ metric }) => metric);
  const fits = (count: number): boolean =>
    isWithinBudget(epsilon, sumOfCosts([answerCostOf(byCost.slice(0, count))], windows));
  let kept = 0;
  while (kept < metrics.length - 1 && fits(kept + 1)) kept++;
  if (kept === 0) return undefined;
  const keep = new Set(byCost.slice(0, kept));
  const namesOf = (isKept: boolean): string[] =>
    metrics.filter((metric) => keep.has(metric) === isKept).map(({ name }) => name);
  return { change: "fewer-metrics", keep: namesOf(true), drop: namesOf(false) };
}

const MOST_SIGMA = 1e5;

/** The same σ for all metrics, rounded up to three digits. */
function serverNoise(task: Task, epsilon: number, windows: number, devices: number): BudgetChange | undefined {
  const { metrics, minimumDevices, missing = 0, ticks, collusion } = task;
  if (collusion === "one-server") return undefined;
  const isThere = task.mode === "two-server" && metrics.every((metric) => !("localEpsilon" in metric));
  if (isThere || metrics.some(({ statistic }) => entryOf(statistic).run.twoServers === undefined)) return undefined;
  const withSigma = (sigma: number): Metric[] =>
    metrics.map(({ name, statistic }) => ({ name, statistic, noise: "servers", sigma }) as unknown as Metric);
  const fits = (sigma: number): boolean =>
    isWithinBudget(epsilon, sumOfCosts([answerCostOf(withSigma(sigma))], windows));
  let [most, least] = [MOST_SIGMA, 0];
  if (!fits(most)) return undefined;
  while (most - least > 1e-4 * most) {
    const middle = (most + least) / 2;
    if (fits(middle)) most = middle;
    else least = middle;
  }
  const unit = 10 ** (Math.floor(Math.log10(most)) - 2);
  const sigma = Number((Math.ceil(most / unit) * unit).toPrecision(3));
  const reporting = reportingDevices(minimumDevices, missing);
  const priced = metrics.map((metric) => {
    const { statistic, name } = metric;
    const { mechanism: _, ...shape } = { ...NO_SHAPE, ...entryOf(statistic).task.questionOf(metric, BUDGET_DELTA) };
    const goal = { sigma, delta: BUDGET_DELTA };
    const question = { ...shape, statistic, goal, devices, reporting, ticks, patience: 1, noise: "servers" as const };
    return { name, sigma, standardError: planTwoServerMetric(question).standardError };
  });
  return { change: "server-noise", mode: "two-server", metrics: priced };
}
