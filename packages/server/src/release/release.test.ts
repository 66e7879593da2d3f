import { encodeManifest, layoutOf, manifestHash, parseManifest, reportBytes, type Task } from "@lethe/core/message";
import { INVALID_COUNT_EPSILON, INVALID_COUNT_STANDARD_ERROR } from "@lethe/core/privacy";
import { describe, expect, it } from "vitest";
import { EXACT_TASK } from "../../test/service.ts";
import * as schemas from "../http/schemas.ts";
import type { OneServerTask } from "../storage/tasks.ts";
import type { WindowRow } from "../storage/windows.ts";
import { priceRelease } from "../tally/opening.ts";
import { type ClosedWindow, makeRelease, withhold } from "./release.ts";

/** In another order than that of the statistics: all occurrences share one. */
const metrics: Task["metrics"] = [
  { name: "average", statistic: "mean", limit: 4, sigma: 2, eventsPerTick: 2 },
  { name: "often", statistic: "occurrence", localEpsilon: 1 },
  {
    name: "times",
    statistic: "histogram",
    edges: [0, 1, 3],
    localEpsilon: 1,
    eventsPerTick: 2,
    quantiles: [0.25, 0.9],
  },
  { name: "rarely", statistic: "occurrence", localEpsilon: 2 },
];

const servers = [{ role: "tally", url: "http://test", key: `ed25519:${"A".repeat(43)}` }] as const;
const text = encodeManifest({
  ...EXACT_TASK,
  version: 4,
  scheme: "elgamal",
  minimumDevices: 100,
  metrics,
  fromWindow: 0,
  servers,
});
const manifest = parseManifest(text);
const layout = layoutOf(manifest);
const task: OneServerTask = {
  mode: "one-server",
  id: 1,
  manifest,
  signed: { manifest: text, signature: new Uint8Array(64) },
  hash: manifestHash(text),
  layout,
  reportBytes: reportBytes(layout),
};

function closed(received: number): ClosedWindow<OneServerTask> {
  const window: WindowRow = {
    id: 1,
    taskId: 1,
    name: manifest.task,
    number: 10,
    state: "closed",
    commitment: new Uint8Array(32),
    helperCommitment: null,
    others: "",
    enrolled: 250,
    received,
  };
  return { task, window, refused: { "wrong-size": 3 }, at: 1500 };
}

const outcome = {
  task: manifest.task,
  version: 4,
  window: 10,
  from: 1200,
  to: 1320,
  at: 1500,
  enrolled: 250,
  refused: { "wrong-size": 3 },
};

describe("a release of 200 reports", () => {
  // Answers added up, in the order of the statistics: both occurrences, the mean, the histogram's buckets.
  const sums = layout.map(({ spec }) => {
    if (spec.statistic === "occurrence") return [120, 40];
    return spec.statistic === "mean" ? [300] : [100, 60, 40];
  });
  const release = makeRelease(
    closed(200),
    { kind: "sums", sums, received: [200], invalid: -5 },
    priceRelease(text, 200),
  );

  it("fits its schema, and says when, of how many and what was refused", () => {
    expect(schemas.release.parse(release)).toEqual(release);
    expect(release).toMatchObject({ status: "released", ...outcome, received: 200 });
  });

  it("has the metrics in the task's order, each with its own figures", () => {
    expect(release.metrics.map(({ name, statistic }) => [name, statistic])).toEqual([
      ["average", "mean"],
      ["often", "occurrence"],
      ["times", "histogram"],
      ["rarely", "occurrence"],
    ]);
    const [average, often, times, rarely] = release.metrics;
    if (average?.statistic !== "mean" || times?.statistic !== "histogram") throw new TypeError("not in order");
    if (often?.statistic !== "occurrence" || rarely?.statistic !== "occurrence") throw new TypeError("not in order");
    expect(average.estimate).toBeCloseTo(300 / 200, 6);
    // Randomized response, undone: (answers − n·q) / (p − q), with p = 1 − q = e^ε / (e^ε + 1).
    for (const [metric, answers] of [
      [often, 120],
      [rarely, 40],
    ] as const) {
      const p = 1 / (1 + Math.exp(-metric.localEpsilon));
      expect(metric.estimate).toBeCloseTo((answers - 200 * (1 - p)) / (2 * p - 1), 6);
      const [low, high] = metric.interval;
      expect((low + high) / 2).toBeCloseTo(metric.estimate, 6);
      expect((high - low) / 2).toBeCloseTo(1.96 * metric.standardError, 2);
    }
    expect(times.buckets.map(({ bucket }) => bucket)).toEqual(["0", "1–2", "3+"]);
    // Undone, the buckets have 158, 48 and −7 devices, each with a standard error of about 17. The first quarter ends
    // at device 50, in bucket 0. Device 180 is 1.2 standard errors beyond bucket 0, and may be in any.
    expect(times.quantiles).toEqual([
      { q: 0.25, bucket: "0", low: "0", high: "0" },
      { q: 0.9, bucket: "1–2", low: "0", high: "3+" },
    ]);
  });

  it("has a consistent version of every figure: within what is possible, and buckets that add up to all devices", () => {
    for (const metric of release.metrics) {
      const figures = "buckets" in metric ? metric.buckets : [metric];
      for (const { consistent } of figures) {
        expect(consistent).toBeGreaterThanOrEqual(0);
        expect(consistent).toBeLessThanOrEqual(metric.statistic === "mean" ? 4 : 200);
      }
      if ("buckets" in metric) {
        expect(figures.reduce((sum, { consistent }) => sum + consistent, 0)).toBeCloseTo(200, 6);
      }
    }
  });

  it("never asks for more of a device than the task says, and states what it costs", () => {
    for (const [i, metric] of release.metrics.entries()) {
      const asked = metrics[i];
      if (asked && "localEpsilon" in asked) expect(metric.localEpsilon).toBeLessThanOrEqual(asked.localEpsilon);
      expect(metric.epsilon).toBeGreaterThan(0);
      expect(metric.epsilon).toBeLessThanOrEqual(metric.localEpsilon);
    }
    expect(release.privacy.aggregate.epsilon).toBeGreaterThan(0);
    expect(release.privacy.local.epsilon).toBeGreaterThan(0);
  });

  it("stands on minimumDevices if the manifest, like those of before, does not say what share may be missing", () => {
    expect(manifest.missing).toBeUndefined();
    expect(release.privacy.honest).toBe(100);
    const { minimumDevices: _, ...rest } = JSON.parse(text) as Record<string, unknown>;
    const fewer = priceRelease(JSON.stringify({ ...rest, minimumDevices: 200, missing: 0.5 }), 200);
    expect(fewer.perWindow).toEqual(priceRelease(text, 200).perWindow);
  });

  it("tells the number of invalid reports as it is in the tally, noise and all, with its error", () => {
    expect(release.invalid).toEqual({
      estimate: -5,
      standardError: INVALID_COUNT_STANDARD_ERROR,
      epsilon: INVALID_COUNT_EPSILON,
    });
  });
});

describe("with too few reports", () => {
  it("nothing is published but how many are missing", () => {
    const withheld = withhold(closed(88));
    expect(withheld).toEqual({ status: "not-enough", missing: 12, ...outcome, received: 88 });
    expect(schemas.release.parse(withheld)).toEqual(withheld);
    expect(withhold(closed(99))?.missing).toBe(1);
  });

  it("which they are not from minimumDevices on", () => {
    expect(withhold(closed(100))).toBeUndefined();
    expect(withhold(closed(101))).toBeUndefined();
  });
});
