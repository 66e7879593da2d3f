import type { FinishedWindow } from "@lethe/analyst";
import type { BucketFigure, Figure, ReleasedMetric } from "@lethe/core/message";
import { entryOf } from "@lethe/core/statistic";
import { describe, expect, it, vi } from "vitest";
import { choicesOf } from "./choices.ts";
import {
  categoryWords,
  chosenSeries,
  defaultLabel,
  figureCells,
  kindOf,
  pointsOf,
  shownOf,
  TRUTH_COLUMN,
  withTruth,
} from "./figures.ts";
import { stepsOf } from "./funnel.ts";
import { heatMapOf } from "./heat-map.ts";

// Node 20 has none, and later ones say what the machine speaks.
vi.stubGlobal("navigator", { language: "en-US" });

const GUARANTEE = { mechanism: "kary", localEpsilon: 1, epsilon: 0.1, delta: 1e-6, bound: "exact" } as const;
const figure = (estimate: number, consistent = Math.max(0, estimate)): Figure => ({
  ...{ estimate, standardError: 1, consistent },
  interval: [estimate - 2, estimate + 2],
});
const bucket = (name: string, estimate: number): BucketFigure => ({ bucket: name, ...figure(estimate) });

const OCCURRENCE: ReleasedMetric = { name: "o", statistic: "occurrence", ...GUARANTEE, ...figure(-3) };
const FUNNEL: ReleasedMetric = {
  ...{ name: "f", statistic: "funnel" as const, ...GUARANTEE },
  buckets: [bucket("none", 50), bucket("cart", 30), bucket("paid", 20)],
  reached: [bucket("cart", 50), bucket("paid", 20)],
};
const RETENTION: ReleasedMetric = {
  ...{ name: "r", statistic: "retention" as const, ...GUARANTEE },
  buckets: [bucket("00", 5), bucket("11", 5)],
  curve: [
    { period: 1, ...figure(0.6) },
    { period: 2, ...figure(0.4) },
  ],
};
const HISTOGRAM: ReleasedMetric = {
  ...{ name: "h", statistic: "histogram" as const, ...GUARANTEE },
  buckets: [bucket("0", 5), bucket("1+", 5)],
};
const AUTOMATON: ReleasedMetric = { ...HISTOGRAM, name: "a", statistic: "automaton" };

describe("what is drawn of a metric", () => {
  it("follows from what its release has", () => {
    expect([OCCURRENCE, FUNNEL, RETENTION, HISTOGRAM, AUTOMATON].map(kindOf)).toEqual([
      ...["single", "funnel", "retention", "histogram", "choice"],
    ]);
    expect(shownOf(FUNNEL).figures.map(({ label }) => label)).toEqual(["cart", "paid"]);
    expect([shownOf(RETENTION).unit, shownOf(FUNNEL).unit]).toEqual(["share", "devices"]);
  });

  it("is the trend of the chosen category, or of a default if there is no such category", () => {
    expect([OCCURRENCE, FUNNEL, RETENTION, HISTOGRAM].map(defaultLabel)).toEqual([undefined, "paid", "period 2", "1+"]);
    expect(chosenSeries(FUNNEL, "cart", "beta")).toEqual({
      ...{ group: "beta", name: "f", statistic: "funnel", label: "cart", summary: "reached" },
    });
    expect(chosenSeries(HISTOGRAM, "cart", undefined)).toMatchObject({ label: "1+" });
  });

  it("has categories in the words of core, if core has words for them", () => {
    for (const label of ["none", "paid"]) {
      expect(categoryWords(FUNNEL, label)).toBe(entryOf("funnel").words.category?.(label));
    }
    expect(["000", "111", "010", "101"].map((pattern) => categoryWords(RETENTION, pattern))).toEqual([
      ...["in no period", "in every period", "only in period 2", "only in period 1, 3"],
    ]);
    expect(categoryWords(HISTOGRAM, "1+")).toBe("1+");
  });
});

describe("the points of a trend", () => {
  const windows = [
    { status: "released", window: 1, received: 10, metrics: [OCCURRENCE] },
    { status: "not-enough", window: 2, missing: 1200 },
    { status: "lost", window: 3 },
    { status: "not-released", window: 4 },
    { status: "released", window: 5, received: 10, metrics: [] },
  ] as unknown as FinishedWindow[];
  const points = (values: "raw" | "consistent") =>
    pointsOf(windows, chosenSeries(OCCURRENCE, undefined, undefined), values, ({ window }) => String(window));

  it("have a reason instead of a value where a window has no figure", () => {
    expect(points("raw")).toEqual([
      { name: "1", value: -3, interval: [-5, -1] },
      { name: "2", gap: "too few devices: 1,200 more needed" },
      { name: "3", gap: "lost: its secret is gone" },
      { name: "4", gap: "not released" },
      { name: "5", gap: "not asked in this window" },
    ]);
  });

  it("are the consistent values if those are chosen", () => {
    expect(points("consistent")[0]).toMatchObject({ value: 0, interval: [-5, -1] });
  });
});

describe("in a demonstration", () => {
  const windows = [
    { status: "released", window: 1, received: 10, metrics: [OCCURRENCE] },
    { status: "lost", window: 2 },
    { status: "released", window: 3, received: 10, metrics: [OCCURRENCE] },
  ] as unknown as FinishedWindow[];
  const truths = (window: number): number | undefined => (window === 1 ? 4 : undefined);
  const nameOf = ({ window }: FinishedWindow): string => String(window);
  const points = pointsOf(windows, chosenSeries(OCCURRENCE, undefined, undefined), "raw", nameOf, truths);

  it("points have the truth, if it is known and there is a value to compare it with", () => {
    expect(points.map(({ truth }) => truth)).toEqual([4, undefined, undefined]);
  });

  it("tables have it as their last column, empty where it is not known", () => {
    const table = { columns: ["window", "estimate"], rows: windows.map((window) => [nameOf(window), "-3"]) };
    expect(withTruth(table, "devices", points)).toEqual({
      columns: ["window", "estimate", TRUTH_COLUMN],
      rows: [
        ["1", "-3", { text: "4", value: 4 }],
        ["2", "-3", ""],
        ["3", "-3", ""],
      ],
    });
  });
});

describe("the cells of a table", () => {
  it("show rounded numbers and keep those of the release", () => {
    expect(figureCells({ ...figure(1234.567), interval: [-0.4, 2.5] }, "devices")).toEqual([
      { text: "1,235", value: 1234.567 },
      { text: "0", value: -0.4 },
      { text: "3", value: 2.5 },
      { text: "1,235", value: 1234.567 },
    ]);
    expect(figureCells(figure(0.4567), "share")[0]).toEqual({ text: "45.7%", value: 0.4567 });
    expect(figureCells(figure(1.23456), "average")[0]).toEqual({ text: "1.235", value: 1.23456 });
  });
});

describe("a funnel", () => {
  it("has shares of its first step and of the step before", () => {
    const steps = stepsOf(
      [50, 20, 25].map((value, i) => ({ label: `s${i}`, figure: figure(value) })),
      "raw",
    );
    expect(steps.map(({ ofFirst }) => ofFirst)).toEqual([1, 0.4, 0.5]);
    expect(steps.map(({ ofPrevious }) => ofPrevious)).toEqual([undefined, 0.4, 1.25]);
    expect(steps.map(({ width }) => width)).toEqual([1, 0.4, 0.5]);
  });

  it("has no shares of a first step that noise made negative, and draws nothing negative", () => {
    const steps = stepsOf(
      [-5, 10].map((value, i) => ({ label: `s${i}`, figure: figure(value) })),
      "raw",
    );
    expect(steps.map(({ ofFirst, width }) => [ofFirst, width])).toEqual([
      [undefined, 0],
      [undefined, 1],
    ]);
    expect(steps[0]?.value).toBe(-5);
  });
});

describe("a heat map", () => {
  it("is hottest where most devices are, cold at zero and below, and has the sums of the release", () => {
    const figures = new Map<string, number>([
      ...[["a×x", 40] as const, ["a×y", -2] as const, ["b×x", 10] as const, ["b×y", 0] as const],
      ...[["a×any", 37] as const, ["b×any", 11] as const, ["any×x", 51] as const, ["any×y", -1] as const],
    ]);
    const map = heatMapOf(
      {
        ...{ rows: ["a", "b"], columns: ["x", "y"] },
        figureAt: (row, column) => {
          const found = figures.get(`${row}×${column}`);
          return found === undefined ? undefined : figure(found);
        },
      },
      "raw",
    );
    expect(map.cells.map(({ value, heat }) => [value, heat])).toEqual([
      [40, 1],
      [-2, 0],
      [10, 0.25],
      [0, 0],
    ]);
    expect([map.rowSums, map.columnSums, map.most]).toEqual([[37, 11], [51, -1], 40]);
  });
});

describe("the choices of a reader", () => {
  const route = (query: Record<string, string>) => choicesOf({ view: "results", path: ["t"], query });

  it("come from the address", () => {
    expect(route({ last: "90", values: "consistent", group: "beta", metric: "m", window: "12" })).toEqual({
      ...{ task: "t", last: 90, values: "consistent", group: "beta", metric: "m", window: 12 },
    });
  });

  it.each([{}, { last: "8", values: "x", group: "", window: "-1" }, { window: "1.5" }, { window: "1e99" }])(
    "are the usual ones if the address has nothing else that is known: %j",
    (query) => {
      expect(route(query as Record<string, string>)).toEqual({
        ...{ task: "t", last: 30, values: "raw", group: undefined, metric: undefined, window: undefined },
      });
    },
  );
});
