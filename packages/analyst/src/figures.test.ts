import type { Figure, MetricDifference, ReleasedMetric } from "@lethe/core/message";
import { entryOf, STATISTICS } from "@lethe/core/statistic";
import { describe, expect, it } from "vitest";
import { ANY, crossTableOf, isAverage } from "./figures.ts";
import { type FinishedWindow, figureIn } from "./series.ts";

const figure = (estimate: number): Figure => ({
  estimate,
  standardError: 1,
  interval: [estimate - 2, estimate + 2],
  consistent: estimate,
});
const GUARANTEE = { mechanism: "kary", localEpsilon: 1, epsilon: 0.1, delta: 1e-6, bound: "exact" } as const;

describe("a figure", () => {
  it.each(STATISTICS)("of %s is an average exactly if core's table says so", (statistic) => {
    const { outputs } = entryOf(statistic).answers;
    const single = { name: "m", statistic } as MetricDifference;
    const several = { name: "m", statistic, buckets: [] } as unknown as MetricDifference;
    if (outputs.includes("categories")) expect(isAverage(several)).toBe(false);
    if (outputs.some((output) => output === "average")) expect(isAverage(single)).toBe(true);
    if (outputs.some((output) => output === "count")) expect(isAverage(single)).toBe(false);
  });
});

describe("a cross table", () => {
  const joint: ReleasedMetric = {
    ...{ name: "table", statistic: "joint" as const, ...GUARANTEE },
    buckets: [
      { bucket: "none × 0", ...figure(1) },
      { bucket: "none × 1+", ...figure(2) },
    ],
    margins: [
      { bucket: "none × any", ...figure(3) },
      { bucket: "any × 0", ...figure(1) },
      { bucket: "any × 1+", ...figure(2) },
    ],
  };

  it("has the rows and columns of the release, and its figures", () => {
    const table = crossTableOf(joint);
    expect([table?.rows, table?.columns]).toEqual([["none"], ["0", "1+"]]);
    expect(table?.figureAt("none", "1+")?.estimate).toBe(2);
    expect(table?.figureAt("none", ANY)?.estimate).toBe(3);
    expect(table?.figureAt(ANY, ANY)).toBeUndefined();
  });

  it("is of no other metric", () => {
    expect(crossTableOf({ name: "m", statistic: "occurrence", ...GUARANTEE, ...figure(1) })).toBeUndefined();
  });
});

describe("the figure of a series", () => {
  it("of a summary is that of the summary, even if a category has the same name", () => {
    const funnel: ReleasedMetric = {
      ...{ name: "f", statistic: "funnel" as const, ...GUARANTEE },
      buckets: [{ bucket: "paid", ...figure(4) }],
      reached: [{ bucket: "paid", ...figure(9) }],
    };
    const window = { status: "released", received: 10, metrics: [funnel] } as unknown as FinishedWindow;
    const series = { group: undefined, name: "f", label: "paid", statistic: "funnel" } as const;
    expect(figureIn(window, series)).toMatchObject({ figure: { estimate: 4 }, devices: 10 });
    expect(figureIn(window, { ...series, summary: "reached" })).toMatchObject({ figure: { estimate: 9 } });
  });
});
