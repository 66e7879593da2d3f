import type { FigureDifference, MetricDifference } from "@lethe/core/message";
import { describe, expect, it, vi } from "vitest";
import { devicesNeeded, differenceSentences, quantileSentence, smallestVisible } from "./sentences.ts";

// Node 20 has none, and later ones say what the machine speaks.
vi.stubGlobal("navigator", { language: "en-US" });

const difference = (estimate: number, standardError: number): FigureDifference => ({
  ...{ estimate, standardError, pValue: 0.5 },
  interval: [estimate - 1.96 * standardError, estimate + 1.96 * standardError],
});
const PAIR = { group: "beta", minus: "stable" };
const said = (metric: object, devices: readonly [number, number] = [1000, 1000]) =>
  differenceSentences(PAIR, { name: "m", ...metric } as MetricDifference, devices).map(({ text }) => text);

describe("a sentence about a difference", () => {
  it("says by how much a group is higher or lower, if the interval leaves out zero", () => {
    expect(said({ statistic: "occurrence", ...difference(0.031, 0.012 / 1.96) })).toEqual([
      "beta is higher by 3.1% ± 1.2 of the devices than stable",
    ]);
    expect(said({ statistic: "mean", ...difference(-0.5, 0.1) })).toEqual([
      "beta is lower by 0.500 ± 0.196 than stable",
    ]);
  });

  it("says how many devices it would take, if the interval contains zero", () => {
    expect(said({ statistic: "occurrence", ...difference(0.02, 0.014) })).toEqual([
      "no difference is visible; it would take about 3,900 devices per group to see 2.0%",
    ]);
  });

  it("says what can be seen, if the estimate is closer to zero than its standard error", () => {
    expect(said({ statistic: "occurrence", ...difference(0.001, 0.01) })).toEqual([
      "no difference is visible; this many devices show one of 2.8% or more",
    ]);
  });

  it("is there for every category", () => {
    const buckets = [
      { bucket: "0", ...difference(0.2, 0.01) },
      { bucket: "1+", ...difference(-0.2, 0.01) },
    ];
    const sentences = differenceSentences(PAIR, { name: "m", statistic: "histogram", buckets }, [10, 10]);
    expect(sentences.map(({ label, isVisible }) => [label, isVisible])).toEqual([
      ["0", true],
      ["1+", true],
    ]);
  });
});

describe("how many devices a difference takes", () => {
  it("is as many as make the standard error so small that the difference is visible with a chance of 80%", () => {
    const [devices, spread] = [1000, 0.5];
    const standardError = Math.sqrt((2 * spread ** 2) / devices);
    const seen = { estimate: 1.5 * standardError, standardError };
    const needed = devicesNeeded(seen, [devices, devices]) ?? 0;
    const then = Math.sqrt((2 * spread ** 2) / needed);
    // Rounded up to two digits, so at most a tenth more than necessary.
    expect(smallestVisible(then)).toBeLessThanOrEqual(seen.estimate);
    expect(smallestVisible(then)).toBeGreaterThan(seen.estimate * 0.95);
  });

  it("of unequal groups is that of equal ones with the same error", () => {
    const seen = { estimate: 0.02, standardError: 0.015 };
    expect(devicesNeeded(seen, [500, 2000])).toBe(devicesNeeded(seen, [800, 800]));
  });

  it("is unknown if the estimate says nothing about the size", () => {
    expect(devicesNeeded({ estimate: 0.009, standardError: 0.01 }, [10, 10])).toBeUndefined();
    expect(devicesNeeded({ estimate: 0, standardError: 0 }, [10, 10])).toBeUndefined();
  });
});

it("a quantile names its bucket, and from where to where it may be", () => {
  expect(quantileSentence({ q: 0.5, bucket: "1", low: "1", high: "2–4" })).toBe(
    "Half of the devices are at 1 or below (95%: 1 to 2–4).",
  );
  expect(quantileSentence({ q: 0.9, bucket: "5+", low: "5+", high: "5+" })).toBe(
    "90% of the devices are at 5+ or below (95%: 5+).",
  );
});
