import { LetheError } from "@lethe/core/error";
import { type Metric, parseTask, schemeOf, type Task } from "@lethe/core/message";
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
  planTwoServerMetric,
  type TaskPlan,
  type TwoServerQuestion,
} from "@lethe/core/plan";
import { randomnessFrom } from "@lethe/core/randomness";
import { entryOf, STATISTICS, type StatisticName } from "@lethe/core/statistic";

/** Something to start a task file from, or to add to one. */
export interface Template {
  readonly statistic: StatisticName;
  /** What it answers. */
  readonly question: string;
  readonly metric: Metric;
  readonly tickSeconds: number;
  readonly ticks: number;
}

/** One template for every statistic that runs in this mode, in the order of core's table. */
export function templates({ mode }: Pick<Task, "mode">): readonly Template[] {
  const known = STATISTICS.filter((statistic) => mode === "one-server" || entryOf(statistic).run.twoServers);
  return known.map((statistic) => {
    const { task, words } = entryOf(statistic);
    return { statistic, question: words.question, ...task.example };
  });
}

/** A task file as it is typed: the task in it, or what is wrong with it. */
export type Checked = { readonly task: Task } | { readonly problem: string };

/** Checks a task file as `lethe task check` does. The problem of a wrong one begins with the field to blame. */
export function check({ text }: { readonly text: string }): Checked {
  try {
    return { task: parseTask(text) };
  } catch (error) {
    if (!(error instanceof LetheError)) throw error;
    return { problem: error.message };
  }
}

/** What a task file costs. */
export interface Priced {
  readonly task: Task;
  readonly plan: TaskPlan;
  readonly budget?: BudgetPlan;
}

/** Prices a task file as `lethe plan --task` does. Undefined if the file is wrong, which `check` explains. */
export function price({ text, devices }: { readonly text: string; readonly devices: number }): Priced | undefined {
  const task = parsedOrNothing(text);
  if (!task) return undefined;
  const plan = planTask({ task, devices, delta: DEFAULT_DELTA, windows: 1 });
  const budget = task.budget && planBudget({ task, budget: task.budget, windows: 1, devices });
  return { task, plan, ...(budget && { budget }) };
}

/** What is asked about one metric of a task. */
export interface PictureQuestion {
  readonly text: string;
  readonly metric: number;
  readonly devices: number;
  /** What the reader must see; if absent, the smallest change that is visible. */
  readonly detect?: number | undefined;
  /** Another number, another sample. */
  readonly draw: number;
}

/** A sampled window: what happened, what a release could state about it. */
interface SampledWindow {
  readonly truth: number;
  readonly estimate: number;
  readonly interval: readonly [number, number];
}

/** Everything that is drawn of one metric. */
export interface Picture {
  readonly name: string;
  readonly devices: number;
  /** The words of its statistic: "devices", "an empty bucket". */
  readonly unit: string;
  readonly figure: string;
  readonly decimals: number;
  readonly isAverage: boolean;
  readonly localEpsilon: number;
  readonly standardError: number;
  readonly detectable: number;
  readonly byEpsilon: readonly CurvePoint[];
  readonly byDevices: readonly CurvePoint[];
  readonly sample: readonly SampledWindow[];
  readonly detect: number;
  /** The least ε₀ that shows it, with the σ of a metric that states one; or why there is none. */
  readonly epsilonToDetect: { readonly localEpsilon: number; readonly sigma?: number } | { readonly problem: string };
  /** The fewest devices that show the same share; or why there are none. */
  readonly devicesToDetect: { readonly devices: number } | { readonly problem: string };
}

/** A point of an error curve. */
export interface CurvePoint {
  readonly at: number;
  readonly standardError: number;
}

/** Windows of a sample. What is to be seen happens in the second half of them. */
const SAMPLED = 14;

/** Draws one metric of a task. Undefined if the task is wrong or has no such metric. */
export function picture({ text, metric: index, devices, detect: asked }: PictureQuestion): Picture | undefined {
  const task = parsedOrNothing(text);
  const metric = task?.metrics[index];
  if (!task || !metric) return undefined;
  const planFor: (question: TwoServerQuestion) => Omit<MetricPlan, "spec"> =
    task.mode === "two-server" ? planTwoServerMetric : planMetric;
  // The errors are those of all devices, so the guarantees, which take long, need not be computed.
  const question = metricQuestion(task, metric, devices, 1, DEFAULT_DELTA);
  const { words, averageWords = words, answers } = entryOf(metric.statistic);
  const isAverage = answers.output(question) === "average";
  const { unit, emptyFigure: figure, decimals } = isAverage ? averageWords : words;
  const plan = planFor(question);
  const { localEpsilon, standardError, detectable } = plan;
  const detect = asked ?? detectable;
  const truths = Array.from({ length: SAMPLED }, (_, i) => (2 * i < SAMPLED ? 0 : detect));
  const sample = drawSample(plan, devices, truths, randomnessFrom(globalThis.crypto));
  return {
    ...{ name: metric.name, devices, unit, figure, decimals, isAverage, localEpsilon, standardError, detectable },
    byEpsilon: errorsByEpsilon(question, planFor).map(toPoint),
    byDevices: errorsByDevices(question, planFor).map(toPoint),
    sample: sample.map(({ estimate, interval }, i) => ({ truth: truths[i] as number, estimate, interval })),
    detect,
    ...inverse(task, metric, { ...question, detect, mode: task.mode }, planFor),
  };
}

function toPoint({ at, plan }: { at: number; plan: { standardError: number } }): CurvePoint {
  return { at, standardError: plan.standardError };
}

/** Which ε₀, or how many devices, it takes to see what is asked for. */
function inverse(
  task: Task,
  metric: Metric,
  asked: Parameters<typeof devicesToDetect>[0],
  planFor: (question: TwoServerQuestion) => Omit<MetricPlan, "spec">,
): Pick<Picture, "epsilonToDetect" | "devicesToDetect"> {
  const scheme = task.mode === "one-server" ? { scheme: schemeOf(task, metric) } : {};
  return {
    epsilonToDetect: orProblem(() => {
      const localEpsilon = localEpsilonToDetect({ ...asked, delta: DEFAULT_DELTA, ...scheme });
      const { sigma } = planFor({ ...asked, reporting: 1, goal: { localEpsilon, delta: DEFAULT_DELTA } });
      return { localEpsilon, ...(sigma !== undefined && { sigma }) };
    }),
    devicesToDetect: orProblem(() => ({ devices: devicesToDetect(asked) })),
  };
}

function parsedOrNothing(text: string): Task | undefined {
  const checked = check({ text });
  return "task" in checked ? checked.task : undefined;
}

function orProblem<T>(compute: () => T): T | { readonly problem: string } {
  try {
    return compute();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return { problem: error.message };
  }
}
