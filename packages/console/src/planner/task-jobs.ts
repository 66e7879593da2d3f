import { fetchManifest } from "@lethe/analyst";
import { type Task, windowSeconds } from "@lethe/core/message";
import {
  type BudgetPlan,
  DEFAULT_DELTA,
  planBudget,
  planTask,
  planTotals,
  type TaskPlan,
  type TotalCost,
  windowsIn,
} from "@lethe/core/plan";

/** A task of a service. */
export interface TaskAt {
  readonly server: string;
  readonly task: string;
}

/** What one window of a task costs a device. */
export interface WindowCost {
  readonly manifest: Task;
  readonly plan: TaskPlan;
}

/** Prices the task that a service has, as its releases state it. */
export async function windowCost({ server, task }: TaskAt): Promise<WindowCost> {
  const manifest = await fetchManifest(server, task);
  return {
    manifest,
    plan: planTask({ task: manifest, devices: manifest.minimumDevices, delta: DEFAULT_DELTA, windows: 1 }),
  };
}

/** What a device pays that answers in every window of a period, or in as many as its budget allows. */
export interface PeriodCost {
  readonly windows: number;
  readonly answered: number;
  /** Absent if it answered in none, or in more than are added up. */
  readonly total?: TotalCost;
}

/** More windows are not added up: the command line does not do so either. */
const MOST_WINDOWS = 100_000;

/** Prices these numbers of windows of a task. */
export function periodCosts({ task, windows }: { readonly task: Task; readonly windows: readonly number[] }): {
  readonly periods: readonly PeriodCost[];
} {
  const answered = windows.map((number) => answeredOf(task, number));
  const priced = [...new Set(answered)].filter((number) => number > 0 && number <= MOST_WINDOWS);
  const totals = planTotals({ task, delta: DEFAULT_DELTA }, priced);
  return {
    periods: windows.map((number, i) => {
      const own = answered[i] as number;
      const total = totals.find((each) => each.windows === own);
      return { windows: number, answered: own, ...(total && { total }) };
    }),
  };
}

function answeredOf(task: Task, windows: number): number {
  const { budget, minimumDevices: devices } = task;
  return budget && windows > 0 ? planBudget({ task, budget, windows, devices }).answered : windows;
}

/** What a year costs after a change of the task. */
export interface Alternative {
  readonly change:
    | { readonly kind: "none" }
    | { readonly kind: "longer"; readonly times: number }
    | { readonly kind: "without"; readonly metric: string };
  readonly cost: PeriodCost;
}

/** More metrics than this are not left out one by one. */
const MOST_LEFT_OUT = 6;
const LONGER = [2, 7];
const YEAR_DAYS = 365;

/** What a year costs as the task is, with longer windows, and without one of its metrics. */
export function alternatives({ task }: { readonly task: Task }): { readonly alternatives: readonly Alternative[] } {
  const { metrics } = task;
  const yearOf = (changed: Task, times = 1): Alternative["cost"] => {
    const windows = windowsIn(YEAR_DAYS, times * windowSeconds(changed));
    // A budget hides what a change is worth: the device would answer more often instead.
    const { budget: _, ...free } = changed;
    return periodCosts({ task: free, windows: [windows] }).periods[0] as PeriodCost;
  };
  const leftOut = metrics.length > 1 && metrics.length <= MOST_LEFT_OUT ? metrics : [];
  return {
    alternatives: [
      { change: { kind: "none" }, cost: yearOf(task) },
      ...LONGER.map((times) => ({ change: { kind: "longer" as const, times }, cost: yearOf(task, times) })),
      ...leftOut.map(({ name }) => ({
        change: { kind: "without" as const, metric: name },
        cost: yearOf({ ...task, metrics: metrics.filter((each) => each.name !== name) }),
      })),
    ],
  };
}

/** How a device with the task's budget answers, if the task states one. */
export function budget({ task }: { readonly task: Task }): { readonly budget?: BudgetPlan } {
  const { budget: stated, minimumDevices: devices } = task;
  return stated ? { budget: planBudget({ task, budget: stated, windows: 1, devices }) } : {};
}
