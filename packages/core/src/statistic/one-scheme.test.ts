import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { parseTask } from "../message/index.ts";
import { planMetric, planTwoServerMetric } from "../plan/index.ts";
import { createStatistic } from "./create.ts";
import type { StatisticEntry } from "./entry.ts";
import { mean } from "./mean/entry.ts";
import { entryOf, STATISTIC_TABLE, schemesOf } from "./table.ts";

/** The table, in which a test may replace an entry. */
const table = STATISTIC_TABLE as { mean: StatisticEntry<"mean"> };

const metric = { name: "tabs.opened", statistic: "mean", limit: 3, sigma: 1.25, eventsPerTick: 1 };
const task = { version: 1, task: "t", tickSeconds: 60, ticks: 7, graceSeconds: 0, minimumDevices: 1, hides: 0 };

const refusal = (changes: object): string => {
  try {
    parseTask(JSON.stringify({ mode: "one-server", metrics: [metric], ...task, ...changes }));
    return "nothing";
  } catch (error) {
    return (error as Error).message;
  }
};

describe("a statistic that runs on one scheme, with one server", () => {
  beforeEach(() => {
    const { specOf, oneServer } = mean.run;
    const { elgamal } = oneServer;
    table.mean = { ...mean, run: { specOf, oneServer: { elgamal } as typeof oneServer } };
  });
  afterEach(() => {
    table.mean = mean;
  });

  it("runs there", () => {
    expect(schemesOf("mean")).toEqual(["elgamal"]);
    expect(refusal({})).toBe("nothing");
    expect(refusal({ scheme: "elgamal" })).toBe("nothing");
  });

  it("is refused on another scheme, whether the task names it or the metric", () => {
    const message = "metrics[0] (tabs.opened): mean runs on elgamal only, not on lattice";
    expect(refusal({ scheme: "lattice" })).toBe(message);
    expect(refusal({ metrics: [{ ...metric, scheme: "lattice" }] })).toBe(message);
    const spec = entryOf("mean").run.specOf({ ticks: 7, edges: [], limit: 3 }, { localEpsilon: 1 });
    expect(() => createStatistic("lattice", spec)).toThrow(new RangeError("mean runs on elgamal only, not on lattice"));
  });

  it("is refused with two servers, by tasks and by plans", () => {
    const message = "mean runs with one server only";
    expect(refusal({ mode: "two-server" })).toBe(`metrics[0] (tabs.opened): ${message}`);
    const goal = { sigma: 1, delta: 1e-6 };
    const question = { statistic: "mean", devices: 10, reporting: 10, ticks: 7, edges: [], limit: 3, goal } as const;
    expect(planMetric(question).sigma).toBe(1);
    expect(() => planTwoServerMetric(question)).toThrow(new RangeError(message));
  });
});
