import { parseTask, type Task } from "@lethe/core/message";
import { seededRandomnessForTests } from "@lethe/core/randomness";
import { entryOf } from "@lethe/core/statistic";
import { describe, expect, it } from "vitest";
import { drawStream } from "./event-stream.ts";
import { type SimulatedTask, simulateTask } from "./simulate-task.ts";
import { shapeOf, trueAnswer } from "./true-figures.ts";

const COMMON = { version: 1, task: "t", tickSeconds: 60, ticks: 6, hides: 10, graceSeconds: 0, minimumDevices: 1 };

/** Nearly without noise, so that a wrong figure is seen. */
const ONE: Task = parseTask(
  JSON.stringify({
    ...COMMON,
    mode: "one-server",
    metrics: [
      { name: "average", statistic: "mean", limit: 3, sigma: 0.1 },
      { name: "often", statistic: "occurrence", localEpsilon: 10 },
      { name: "times", statistic: "histogram", edges: [0, 1, 2], localEpsilon: 20 },
      {
        name: "rotated",
        statistic: "histogram",
        scheme: "lattice",
        edges: [0, 1, 3],
        eventsPerTick: 1,
        localEpsilon: 20,
      },
      { name: "alone", statistic: "occurrence", localEpsilon: 20, scheme: "elgamal" },
    ],
  }),
);
const TWO: Task = parseTask(
  JSON.stringify({
    ...COMMON,
    mode: "two-server",
    metrics: [
      { name: "times", statistic: "histogram", edges: [0, 1], noise: "servers", sigma: 0.1 },
      { name: "often", statistic: "occurrence", localEpsilon: 10 },
      { name: "seldom", statistic: "occurrence", noise: "servers", sigma: 0.1 },
      { name: "average", statistic: "mean", limit: 2, sigma: 0.05 },
    ],
  }),
);

const GUARDED: Task = parseTask(
  JSON.stringify({
    ...COMMON,
    mode: "two-server",
    collusion: "one-server",
    metrics: [
      { name: "checkout", statistic: "funnel", steps: ["cart", "paid"], localEpsilon: 20 },
      { name: "often", statistic: "occurrence", localEpsilon: 20 },
      { name: "times", statistic: "histogram", edges: [0, 1, 2], localEpsilon: 20 },
      { name: "format", statistic: "choice", options: ["pdf", "png"], keep: "last", localEpsilon: 20 },
    ],
  }),
);

/** Sees figures that are off, and rows of categories that do not partition the devices. */
function check({ metrics, devices }: SimulatedTask, most: number): void {
  for (const { statistic, rows, group } of metrics) {
    for (const { truth, estimate, standardError, interval } of rows) {
      expect(Math.abs(estimate - truth)).toBeLessThan(most);
      expect((interval[0] + interval[1]) / 2).toBeCloseTo(estimate, 6);
      expect((interval[1] - interval[0]) / 2).toBeCloseTo(1.96 * standardError, 3);
    }
    const hasCategories = entryOf(statistic).answers.outputs.includes("categories");
    expect(rows.every(({ bucket }) => (bucket !== undefined) === hasCategories)).toBe(true);
    if (hasCategories && group === undefined) {
      expect(rows.reduce((sum, { truth }) => sum + truth, 0)).toBe(devices);
    }
  }
}

const paid = { statistic: "occurrence", event: "paid" } as const;
const AUTOMATA: Task = parseTask(
  JSON.stringify({
    ...COMMON,
    mode: "one-server",
    metrics: [
      { name: "checkout", statistic: "funnel", steps: ["cart", "paid"], localEpsilon: 20 },
      { name: "format", statistic: "choice", options: ["pdf", "png"], keep: "last", localEpsilon: 20 },
      { name: "days", statistic: "active-periods", event: "paid", periodTicks: 2, edges: [0, 1, 3], localEpsilon: 20 },
      { name: "weeks", statistic: "retention", event: "paid", periods: 3, localEpsilon: 20, mechanism: "kary" },
      { name: "both", statistic: "joint", of: [paid, { statistic: "choice", options: ["pdf"] }], localEpsilon: 20 },
      {
        name: "level",
        statistic: "automaton",
        states: ["low", "high"],
        start: "low",
        transitions: { low: { paid: "high" } },
        ends: { high: "low" },
        periodTicks: 4,
        outputs: { low: -1, high: 4 },
        sigma: 0.02,
      },
    ],
  }),
);

describe("a simulated task", () => {
  it("of statistics that are automata has the figures of their streams, in periods too", async () => {
    const found = await simulateTask({ task: AUTOMATA, devices: 10, rate: 0.2, seed: "automata" });
    expect(found.metrics.map(({ name, rows }) => [name, rows.length])).toEqual([
      ["checkout", 3],
      ["format", 3],
      ["days", 3],
      ["weeks", 8],
      ["both", 4],
      ["level", 1],
    ]);
    for (const { rows } of found.metrics) {
      for (const { truth, estimate } of rows) expect(Math.abs(estimate - truth)).toBeLessThan(0.1);
    }
    for (const { rows } of found.metrics.slice(0, 5)) {
      expect(rows.reduce((sum, { truth }) => sum + truth, 0)).toBe(10);
      expect(rows.filter(({ truth }) => truth > 0).length).toBeGreaterThan(1);
    }
  });

  it("of two servers against collusion has the figures of every metric", async () => {
    const found = await simulateTask({ task: GUARDED, devices: 8, rate: 0.2, seed: "guarded" });
    expect(found.valid).toBe(8);
    expect(found.metrics.map(({ name, rows }) => [name, rows.length])).toEqual([
      ["checkout", 3],
      ["often", 1],
      ["times", 3],
      ["format", 3],
    ]);
    check(found, 0.1);
  });

  it("of one server has the figures of every metric, in the task's order, beside the truth", async () => {
    const found = await simulateTask({ task: ONE, devices: 12, rate: 0.2, seed: "one" });
    expect(found).toMatchObject({ task: "t", devices: 12, ticks: 6, rate: 0.2, valid: 12 });
    expect(found.metrics.map(({ name, statistic, rows }) => [name, statistic, rows.length])).toEqual([
      ["average", "mean", 1],
      ["often", "occurrence", 1],
      ["times", "histogram", 3],
      ["rotated", "histogram", 3],
      ["alone", "occurrence", 1],
    ]);
    expect(found.metrics[3]?.rows.map(({ bucket }) => bucket)).toEqual(["0", "1–2", "3+"]);
    // The noise of the mean has a standard error of 0.3/√12.
    check(found, 0.6);
    expect(found.metrics.flatMap(({ rows }) => rows).some(({ truth }) => truth > 0)).toBe(true);
  });

  it("of two servers has them too", async () => {
    const found = await simulateTask({ task: TWO, devices: 4, rate: 0.2, seed: "two" });
    expect(found.valid).toBe(4);
    expect(found.metrics.map(({ name }) => name)).toEqual(["times", "often", "seldom", "average"]);
    check(found, 0.1);
  });

  it("with groups has every figure in total and per group, with devices in turn", async () => {
    const groups = ["stable", "beta", "canary"];
    const found = await simulateTask({ task: { ...ONE, groups }, devices: 11, rate: 0.2, seed: "groups" });
    expect(found.metrics.map(({ name, group }) => [name, group])).toEqual(
      ONE.metrics.flatMap(({ name }) => [undefined, ...groups].map((group) => [name, group])),
    );
    check(found, 0.6);
    const sizes = found.metrics
      .filter(({ name, group }) => name === "times" && group !== undefined)
      .map(({ rows }) => rows.reduce((sum, { truth }) => sum + truth, 0));
    expect(sizes).toEqual([4, 4, 3]);
    const [total, ...parts] = found.metrics.filter(({ name }) => name === "average").map(({ rows }) => rows[0]);
    const weighed = parts.reduce((sum, part, i) => sum + ((part?.estimate ?? 0) * (sizes[i] as number)) / 11, 0);
    expect(total?.estimate).toBeCloseTo(weighed, 9);
    // As if there were no groups: every device adds the same noise.
    expect(total?.standardError).toBeCloseTo((parts[0]?.standardError ?? 0) * Math.sqrt(4 / 11), 9);
  });

  it("of two servers with groups has the noise of every group in its total", async () => {
    const groups = ["stable", "beta"];
    const found = await simulateTask({ task: { ...TWO, groups }, devices: 4, rate: 0.2, seed: "groups" });
    check(found, 0.1);
    const errors = found.metrics.filter(({ name }) => name === "seldom").map(({ rows }) => rows[0]?.standardError ?? 0);
    expect(errors[0]).toBeCloseTo(Math.SQRT2 * (errors[1] as number), 12);
  });

  it("with a seed is the same again, with another it is not", async () => {
    const run = (seed: string) => simulateTask({ task: ONE, devices: 3, rate: 0.2, seed });
    const first = await run("a");
    expect(await run("a")).toEqual(first);
    expect((await run("b")).metrics).not.toEqual(first.metrics);
  });
});

describe("a stream", () => {
  it("has each event in a tick with the probability that is asked for, in any order within the tick", () => {
    const random = seededRandomnessForTests("stream");
    const stream = drawStream({ ticks: 4000, rate: 0.5, events: ["a", "b"] }, random);
    expect(stream.every(({ tick }, i) => tick >= (stream[i - 1]?.tick ?? 0))).toBe(true);
    // 4,000 coins: six standard deviations are 190.
    for (const name of ["a", "b"]) {
      expect(Math.abs(stream.filter(({ event }) => event === name).length - 2000)).toBeLessThan(190);
    }
    const both = stream.filter(({ tick }, i) => stream[i + 1]?.tick === tick);
    expect(both.filter(({ event }) => event === "b").length / both.length).toBeCloseTo(0.5, 0);
    expect(drawStream({ ticks: 9, rate: 0, events: ["a"] }, random)).toEqual([]);
    expect(drawStream({ ticks: 9, rate: 1, events: ["a"] }, random).length).toBe(9);
  });

  it("is answered by the metric's own events", () => {
    const stream = ["a", "b", "a"].map((event, tick) => ({ tick, event }));
    const metric = { name: "a", statistic: "histogram", edges: [0, 1, 2], localEpsilon: 1 } as const;
    expect(trueAnswer(shapeOf(COMMON, metric), stream)).toEqual([0, 0, 1]);
    expect(trueAnswer(shapeOf(COMMON, { ...metric, name: "c" }), stream)).toEqual([1, 0, 0]);
    expect(trueAnswer(shapeOf(COMMON, { ...metric, name: "c", event: "b" }), stream)).toEqual([0, 1, 0]);
  });
});
