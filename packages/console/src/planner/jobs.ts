/**
 * What the planner's worker computes: nothing of its own, but what core plans, for the views `plan` and `privacy`.
 * `client.ts` runs these jobs in a worker, which is loaded when the first is asked for; `use-planned.ts` is for views. May
 * import no other folder of the console.
 */
import { fetchManifest } from "@lethe/analyst";
import { LetheError } from "@lethe/core/error";
import { parseTask, schemeOf, type Task, windowSeconds } from "@lethe/core/message";
import {
  type BudgetPlan,
  DEFAULT_DELTA,
  devicesToDetect,
  drawSample,
  errorsByDevices,
  errorsByEpsilon,
  localEpsilonToDetect,
  type MetricPlan,
  metricQuestion,
  planBudget,
  planMetric,
  planTask,
  planTotals,
  planTwoServerMetric,
  type TaskPlan,
  type TotalCost,
  type TwoServerQuestion,
  windowsIn,
} from "@lethe/core/plan";
import { randomnessFrom } from "@lethe/core/randomness";
import { entryOf } from "@lethe/core/statistic";

/** A task as it is typed: what it costs, or what is wrong with it. */
export type Priced =
  | { readonly plan: TaskPlan; readonly budget?: BudgetPlan; readonly task: Task }
  | { readonly problem: string };

/** Prices a task file as `lethe plan --task` does. The problem of a wrong one begins with the field to blame. */
export function price({ text, devices }: { readonly text: string; readonly devices: number }): Priced {
  try {
    const task = parseTask(text);
    if (devices < task.minimumDevices) {
      return { problem: `minimumDevices is ${task.minimumDevices}: reports of ${devices} devices are never released` };
    }
    const plan = planTask({ task, devices, delta: DEFAULT_DELTA, windows: 1 });
    const budget = task.budget && planBudget({ task, budget: task.budget, windows: 1, devices });
    return { task, plan, ...(budget && { budget }) };
  } catch (error) {
    return { problem: messageOf(error) };
  }
}

/** What is asked about one metric of a task. */
export interface PictureQuestion {
  readonly text: string;
  readonly metric: number;
  readonly devices: number;
  /** What the reader must see. */
  readonly detect: number;
  /** Another number, another sample. */
  readonly draw: number;
}

/** A sampled window: what happened, what a release could state about it. */
export interface SampledWindow {
  readonly truth: number;
  readonly estimate: number;
  readonly interval: readonly [number, number];
}

/** Everything that is drawn of one metric. */
export interface Picture {
  readonly name: string;
  readonly unit: string;
  readonly decimals: number;
  readonly isAverage: boolean;
  readonly standardError: number;
  readonly detectable: number;
  readonly byEpsilon: readonly CurvePoint[];
  readonly byDevices: readonly CurvePoint[];
  readonly sample: readonly SampledWindow[];
  /** The least ε₀ that shows it, with the σ of a metric that states one; or why there is none. */
  readonly epsilon: { readonly localEpsilon: number; readonly sigma?: number } | { readonly problem: string };
  /** The fewest devices that show the same share; or why there are none. */
  readonly devices: { readonly devices: number } | { readonly problem: string };
}

/** A point of an error curve. */
export interface CurvePoint {
  readonly at: number;
  readonly standardError: number;
}

/** Windows of a sample: half of them without what is to be seen, half of them with it. */
const SAMPLED = 14;

/** Draws one metric of a task. Undefined if the task is wrong or has no such metric. */
export function picture({ text, metric: index, devices, detect, draw: _ }: PictureQuestion): Picture | undefined {
  const task = parsedOrNothing(text);
  const metric = task?.metrics[index];
  if (!task || !metric) return undefined;
  const planFor: (question: TwoServerQuestion) => Omit<MetricPlan, "spec"> =
    task.mode === "two-server" ? planTwoServerMetric : planMetric;
  // The errors are those of all devices, so the guarantees, which take long, need not be computed.
  const question = metricQuestion(task, metric, devices, 1, DEFAULT_DELTA);
  const { words, averageWords = words, answers } = entryOf(metric.statistic);
  const isAverage = answers.output(question) === "average";
  const plan = planFor(question);
  const truths = Array.from({ length: SAMPLED }, (_each, i) => (2 * i < SAMPLED ? 0 : detect));
  const random = randomnessFrom(globalThis.crypto);
  const asked = { ...question, detect, mode: task.mode };
  const scheme = task.mode === "one-server" ? { scheme: schemeOf(task, metric) } : {};
  return {
    name: metric.name,
    unit: (isAverage ? averageWords : words).unit,
    decimals: (isAverage ? averageWords : words).decimals,
    isAverage,
    standardError: plan.standardError,
    detectable: plan.detectable,
    byEpsilon: errorsByEpsilon(question, planFor).map(toPoint),
    byDevices: errorsByDevices(question, planFor).map(toPoint),
    sample: drawSample(plan, devices, truths, random).map(({ estimate, interval }, i) => ({
      ...{ truth: truths[i] as number, estimate, interval },
    })),
    epsilon: orProblem(() => {
      const localEpsilon = localEpsilonToDetect({ ...asked, delta: DEFAULT_DELTA, ...scheme });
      const { sigma } = planFor({ ...question, goal: { localEpsilon, delta: DEFAULT_DELTA } });
      return { localEpsilon, ...(sigma !== undefined && { sigma }) };
    }),
    devices: orProblem(() => ({ devices: devicesToDetect(asked) })),
  };
}

function toPoint({ at, plan }: { at: number; plan: { standardError: number } }): CurvePoint {
  return { at, standardError: plan.standardError };
}

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

/** Everything that the worker can be asked for. */
export interface Jobs {
  readonly price: typeof price;
  readonly picture: typeof picture;
  readonly windowCost: typeof windowCost;
  readonly periodCosts: typeof periodCosts;
  readonly alternatives: typeof alternatives;
  readonly budget: typeof budget;
}

/** The jobs by their names. */
export const JOBS: Jobs = { price, picture, windowCost, periodCosts, alternatives, budget };

function parsedOrNothing(text: string): Task | undefined {
  try {
    return parseTask(text);
  } catch (error) {
    if (error instanceof LetheError) return undefined;
    throw error;
  }
}

function orProblem<T>(compute: () => T): T | { readonly problem: string } {
  try {
    return compute();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return { problem: error.message };
  }
}

function messageOf(error: unknown): string {
  if (error instanceof LetheError || error instanceof RangeError) return error.message;
  throw error;
}
