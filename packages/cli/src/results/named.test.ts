import { toCsv } from "@lethe/analyst";
import type { BucketFigure, Figure, Release } from "@lethe/core/message";
import { describe, expect, it } from "vitest";
import { describeOutcome } from "./text.ts";

const figure = (estimate: number, standardError: number): Figure => ({
  estimate,
  standardError,
  interval: [estimate - 2 * standardError, estimate + 2 * standardError],
  consistent: Math.max(0, estimate),
});
const bucket = (name: string, estimate: number, standardError: number): BucketFigure => ({
  bucket: name,
  ...figure(estimate, standardError),
});
const GUARANTEE = { mechanism: "kary", localEpsilon: 1, epsilon: 0.12, delta: 1e-6, bound: "exact" } as const;
const RELEASE: Release = {
  status: "released",
  task: "t",
  version: 1,
  window: 7,
  from: 70,
  to: 80,
  at: 90,
  enrolled: 1000,
  received: 1000,
  refused: {},
  invalid: { estimate: 0, standardError: 28, epsilon: 0.1 },
  metrics: [
    {
      name: "checkout",
      statistic: "funnel",
      ...GUARANTEE,
      buckets: [bucket("none", 400, 40), bucket("cart.opened", 350, 40), bucket("paid", 250, 40)],
      reached: [bucket("cart.opened", 600, 50), bucket("paid", 250, 40)],
    },
    {
      name: "weeks",
      statistic: "retention",
      ...GUARANTEE,
      buckets: [bucket("00", 500, 40), bucket("01", 100, 40), bucket("10", 300, 40), bucket("11", 100, 40)],
      curve: [
        { period: 1, ...figure(0.4, 0.04) },
        { period: 2, ...figure(0.2, 0.04) },
      ],
    },
    {
      name: "table",
      statistic: "joint",
      ...GUARANTEE,
      buckets: [
        bucket("none × 0", 100, 10),
        bucket("none × 1+", 200, 20),
        bucket("paid × 0", 300, 30),
        bucket("paid × 1+", 400, 40),
      ],
      margins: [
        bucket("none × any", 300, 11),
        bucket("paid × any", 700, 12),
        bucket("any × 0", 400, 13),
        bucket("any × 1+", 600, 14),
      ],
    },
    { name: "level", statistic: "automaton", ...GUARANTEE, mechanism: "discrete-gaussian", ...figure(1.25, 0.125) },
  ],
  privacy: {
    local: { epsilon: 4, delta: 1e-6 },
    hijackedEpsilon: 0.4,
    honest: 1000,
    aggregate: { epsilon: 0.2, delta: 1e-6, bound: "upper" },
  },
};

describe("a release of statistics that are automata", () => {
  const lines = describeOutcome(RELEASE, 60, "one-server").split("\n");

  it("has for a funnel how many devices reached each step, and at which they stopped", () => {
    expect(lines.slice(2, 8).map((line) => line.replaceAll(/ {2,}/g, "  "))).toEqual([
      "metric  statistic  estimate  ± s.e.  95% interval  consistent  local ε₀  aggregate ε",
      "checkout reached cart.opened  funnel  600  50  [500, 700]  600  1  0.12 (δ 1e-6)",
      "checkout reached paid  funnel  250  40  [170, 330]  250",
      "checkout no step  funnel  400  40  [320, 480]  400",
      "checkout stopped at cart.opened  funnel  350  40  [270, 430]  350",
      "checkout stopped at paid  funnel  250  40  [170, 330]  250",
    ]);
  });

  it("has for a retention its curve in percent, then the patterns", () => {
    expect(lines.slice(8, 11).map((line) => line.replaceAll(/ {2,}/g, "  "))).toEqual([
      "weeks in period 1  retention  40.0%  4.0%  [32.0%, 48.0%]  40.0%  1  0.12 (δ 1e-6)",
      "weeks in period 2  retention  20.0%  4.0%  [12.0%, 28.0%]  20.0%",
      "weeks 00  retention  500  40  [420, 580]  500",
    ]);
  });

  it("has for a joint a table with the sums of its rows and columns", () => {
    const at = lines.findIndex((line) => line.startsWith("table, "));
    expect(lines.slice(at, at + 4)).toEqual([
      "table, ± s.e.         0        1+       any",
      "none           100 ± 10  200 ± 20  300 ± 11",
      "paid           300 ± 30  400 ± 40  700 ± 12",
      "any            400 ± 13  600 ± 14",
    ]);
  });

  it("has decimals for an automaton with numbers", () => {
    expect(lines.find((line) => line.startsWith("level"))?.replaceAll(/ {2,}/g, "  ")).toBe(
      "level  automaton  1.250  0.125  [1.000, 1.500]  1.250  1 (δ 1e-6)  0.12 (δ 1e-6)",
    );
  });

  it("draws a funnel as the steps that devices reached, and a retention as its curve", () => {
    const text = lines.join("\n");
    expect(text).toMatch(/checkout: devices that reached each step\ncart\.opened │.*\npaid +│/);
    expect(text).toMatch(/weeks: the share of devices on which it happened, by period\nperiod 1 │.*\nperiod 2 │/);
  });

  it("has in CSV rows that partition the devices, and others whose statistic says what they add up", () => {
    const rows = toCsv([RELEASE])
      .split("\r\n")
      .map((row) => row.split(",").slice(6, 10));
    const count = (statistic: string): number => rows.filter((row) => row[1] === statistic).length;
    expect(rows.find((row) => row[1] === "funnel.reached")).toEqual([
      "checkout",
      "funnel.reached",
      "cart.opened",
      "600",
    ]);
    expect(rows.find((row) => row[1] === "retention.curve")).toEqual(["weeks", "retention.curve", "period 1", "0.4"]);
    expect(rows.find((row) => row[1] === "joint.margins")).toEqual(["table", "joint.margins", "none × any", "300"]);
    expect(["funnel", "retention", "joint"].map(count)).toEqual([3, 4, 4]);
    for (const statistic of ["funnel", "retention", "joint"]) {
      const own = rows.filter((row) => row[1] === statistic);
      expect(own.reduce((sum, row) => sum + Number(row[3]), 0)).toBe(1000);
    }
  });
});
