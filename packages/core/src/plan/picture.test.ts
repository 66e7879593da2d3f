import { describe, expect, it } from "vitest";
import { bucketErrors } from "../estimate/index.ts";
import { parseTask } from "../message/index.ts";
import { seededRandomnessForTests } from "../randomness/index.ts";
import {
  DEFAULT_DELTA,
  devicesToDetect,
  drawSample,
  errorsByDevices,
  errorsByEpsilon,
  localEpsilonToDetect,
  metricQuestion,
  planMetric,
  planTask,
  planTotals,
  standardErrorAt,
} from "./index.ts";

const TASK = parseTask(
  JSON.stringify({
    ...{ version: 1, task: "t", tickSeconds: 300, ticks: 12, graceSeconds: 60, mode: "one-server" },
    ...{ minimumDevices: 50, missing: 0.1 },
    metrics: [
      { name: "failed", statistic: "occurrence", localEpsilon: 1 },
      { name: "clicks", statistic: "histogram", edges: [0, 1, 2], localEpsilon: 2 },
      { name: "tabs", statistic: "mean", limit: 10, sigma: 1 },
    ],
  }),
);
const questions = TASK.metrics.map((metric) => metricQuestion(TASK, metric, 20_000, 1, DEFAULT_DELTA));

describe("what a plan is drawn from", () => {
  it("a task's totals are those of its plan, for any numbers of windows", () => {
    const totals = planTotals({ task: TASK, delta: DEFAULT_DELTA }, [1, 7]);
    const { perWindow, total } = planTask({ task: TASK, devices: 20_000, delta: DEFAULT_DELTA, windows: 7 });
    expect(totals).toEqual([perWindow, total]);
  });

  it("both error curves pass through the plan", () => {
    for (const question of questions) {
      const byDevices = errorsByDevices(question, planMetric);
      expect(byDevices.find(({ at }) => at === 10_000)?.plan.standardError).toBe(
        planMetric({ ...question, devices: 10_000 }).standardError,
      );
      const byEpsilon = errorsByEpsilon(question, planMetric);
      const goal = { localEpsilon: 1, delta: DEFAULT_DELTA };
      expect(byEpsilon.find(({ at }) => at === 1)?.plan.standardError).toBe(
        planMetric({ ...question, goal }).standardError,
      );
      expect(byEpsilon.at(-1)?.plan.standardError).toBeLessThan(byEpsilon[0]?.plan.standardError ?? 0);
    }
  });

  it("the error at a value is that of an empty bucket, of a full one, and in between by its variance", () => {
    const plan = { standardError: 3, largestStandardError: 5 };
    expect([0, 50, 100, 200].map((value) => standardErrorAt(plan, 100, value))).toEqual([3, Math.sqrt(17), 5, 5]);
    const { empty, full, detectable } = bucketErrors("unary", 10_000, 4, 1);
    const errors = { standardError: empty, largestStandardError: full };
    expect(1.959963984540054 * standardErrorAt(errors, 10_000, detectable)).toBeCloseTo(detectable, 9);
  });

  // With this seed; a mean of 4,000 draws is off by 5 standard errors with probability 6e-7.
  it("a sample has the plan's error, and intervals that contain the truth 95 times in 100", () => {
    const plan = { standardError: 30, largestStandardError: 30 };
    const random = seededRandomnessForTests("sample");
    const truths = new Array<number>(4000).fill(500);
    const drawn = drawSample(plan, 20_000, truths, random);
    const errors = drawn.map(({ estimate }) => estimate - 500);
    const mean = errors.reduce((sum, error) => sum + error, 0) / errors.length;
    const variance = errors.reduce((sum, error) => sum + error * error, 0) / errors.length;
    expect(Math.abs(mean)).toBeLessThan((5 * 30) / Math.sqrt(4000));
    expect(Math.abs(variance / 900 - 1)).toBeLessThan(5 * Math.sqrt(2 / 4000));
    const covered = drawn.filter(({ interval: [low, high] }) => low <= 500 && 500 <= high).length;
    expect(Math.abs(covered / 4000 - 0.95)).toBeLessThan(5 * Math.sqrt((0.95 * 0.05) / 4000));
  });
});

describe("the devices that it takes to see something", () => {
  it.each(TASK.metrics.map(({ name }, i) => [name, i] as const))("%s: as many show it, and 1% fewer do not", (_, i) => {
    const question = questions[i] as (typeof questions)[number];
    const isMean = question.statistic === "mean";
    const detect = isMean ? 0.05 : 50;
    const devices = devicesToDetect({ ...question, detect, mode: "one-server" });
    const shows = (n: number): boolean =>
      planMetric({ ...question, devices: n }).detectable <= (isMean ? detect : (detect * n) / 20_000);
    expect(shows(devices)).toBe(true);
    expect(shows(Math.floor(devices * 0.99))).toBe(false);
  });

  it("are the given ones at the ε₀ that it takes to see it among them", () => {
    const question = questions[0] as (typeof questions)[number];
    const asked = { ...question, detect: 50, mode: "one-server" as const };
    const localEpsilon = localEpsilonToDetect({ ...asked, delta: DEFAULT_DELTA });
    const found = devicesToDetect({ ...asked, goal: { localEpsilon, delta: DEFAULT_DELTA } });
    expect(found).toBeLessThanOrEqual(20_000);
    expect(found).toBeGreaterThan(19_000);
  });

  it("what no billion devices show is refused", () => {
    const question = questions[0] as (typeof questions)[number];
    const ask = (detect: number) => () => devicesToDetect({ ...question, detect, mode: "one-server" });
    expect(ask(1e-9)).toThrow("not even 1000000000 devices");
    expect(ask(0)).toThrow("a number of devices up to all of them, 20000, not 0");
  });
});
