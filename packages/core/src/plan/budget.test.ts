import { describe, expect, it } from "vitest";
import { parseTask, type Task } from "../message/index.ts";
import { answerCostOf, type BudgetChange, isWithinBudget, planBudget, sumOfCosts } from "./index.ts";

const TASK: Task = {
  version: 1,
  task: "t",
  tickSeconds: 300,
  ticks: 288,
  graceSeconds: 86_400,
  mode: "one-server",
  minimumDevices: 1000,
  metrics: [
    { name: "failed", statistic: "occurrence", localEpsilon: 1 },
    { name: "clicks", statistic: "histogram", edges: [0, 1, 2, 5], localEpsilon: 0.1 },
    { name: "tabs", statistic: "mean", limit: 10, sigma: 20 },
  ],
};
const BUDGET = { epsilon: 5, days: 30 };
const planOf = (task: Task, budget = BUDGET, windows = 52) => planBudget({ task, budget, windows, devices: 1000 });

/** The task after a change. */
function changed(task: Task, change: BudgetChange): Task {
  switch (change.change) {
    case "longer-windows":
      return { ...task, ticks: change.ticks, tickSeconds: change.tickSeconds };
    case "fewer-metrics":
      return { ...task, metrics: task.metrics.filter(({ name }) => change.keep.includes(name)) };
    case "server-noise": {
      const sigmaOf = new Map(change.metrics.map(({ name, sigma }) => [name, sigma]));
      const metrics = task.metrics.map((metric) => {
        const { localEpsilon: _, ...rest } = metric as typeof metric & { localEpsilon?: number };
        const sigma = sigmaOf.get(metric.name);
        return metric.statistic === "mean" ? { ...rest, sigma } : { ...rest, noise: "servers", sigma };
      });
      return { ...task, mode: change.mode, metrics } as Task;
    }
  }
}

describe("a budget in a plan", () => {
  it("answers as often as a device would that is always on", () => {
    const { windowsPerPeriod, affordablePerPeriod, answered, neededEpsilon } = planOf(TASK);
    expect({ windowsPerPeriod, affordablePerPeriod, answered }).toEqual({
      windowsPerPeriod: 30,
      affordablePerPeriod: 4,
      answered: 8,
    });
    const all = sumOfCosts([answerCostOf(TASK.metrics)], 30);
    expect(isWithinBudget(neededEpsilon, all)).toBe(true);
    expect(isWithinBudget(neededEpsilon - 0.001, all)).toBe(false);
  });

  it("each change that it recommends is a task that runs, and skips no window", () => {
    const { changes } = planOf(TASK);
    expect(changes.map(({ change }) => change)).toEqual(["longer-windows", "fewer-metrics", "server-noise"]);
    for (const change of changes) {
      const task = parseTask(JSON.stringify(changed(TASK, change)));
      const { affordablePerPeriod, windowsPerPeriod, changes: more } = planOf(task);
      expect({ change, affordablePerPeriod, more }).toEqual({
        change,
        affordablePerPeriod: windowsPerPeriod,
        more: [],
      });
    }
  });

  it("recommends longer ticks where more of them do not fit", () => {
    const lattice: Task = {
      ...TASK,
      scheme: "lattice",
      hides: 0,
      metrics: [{ name: "clicks", statistic: "histogram", edges: [0, 1, 2, 5], localEpsilon: 1, eventsPerTick: 1 }],
    };
    const [longer] = planOf(lattice).changes;
    expect(longer).toMatchObject({ change: "longer-windows", ticks: 288, tickSeconds: 1800 });
  });

  it("recommends nothing where nothing is skipped, and only what helps where a single answer is too dear", () => {
    expect(planOf(TASK, { epsilon: 50, days: 30 })).toMatchObject({ answered: 52, changes: [] });
    const dear: Task = { ...TASK, metrics: [{ name: "failed", statistic: "occurrence", localEpsilon: 8 }] };
    const { answered, changes } = planOf(dear);
    expect(answered).toBe(0);
    expect(changes.map(({ change }) => change)).toEqual(["server-noise"]);
  });

  it("a task whose noise is at the servers already is not told to put it there", () => {
    const metrics: Task["metrics"] = [{ name: "failed", statistic: "occurrence", noise: "servers", sigma: 2 }];
    const { changes } = planOf({ ...TASK, mode: "two-server", metrics });
    expect(changes.map(({ change }) => change)).toEqual(["longer-windows"]);
  });
});

it("a device pays the localEpsilon of an answer, and for noise by its σ; a new statistic costs too much", () => {
  expect(answerCostOf(TASK.metrics)[0]).toBe(1.1e9);
  const gaussian = answerCostOf([{ name: "a", statistic: "histogram", edges: [0, 1], noise: "servers", sigma: 2 }]);
  expect(gaussian[2] / 1e9).toBeCloseTo(0.25, 6);
  const unknown = { name: "a", statistic: "unheard-of", sigma: 1000 } as unknown as Task["metrics"][number];
  expect(isWithinBudget(100, answerCostOf([unknown]))).toBe(false);
});
