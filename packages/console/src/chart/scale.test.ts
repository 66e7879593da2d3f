import { describe, expect, it } from "vitest";
import { linearScale, logScale } from "./scale.ts";

describe("a linear scale", () => {
  it("covers all values and zero with round numbers", () => {
    const { at, ticks } = linearScale([12, 87.5], 0, 100);
    expect(ticks).toEqual([0, 20, 40, 60, 80, 100]);
    expect([at(0), at(50), at(100)]).toEqual([0, 50, 100]);
  });

  it("goes below zero if a value does", () => {
    const { ticks } = linearScale([-3, 9], 0, 100);
    expect(ticks[0]).toBeLessThanOrEqual(-3);
    expect(ticks.at(-1)).toBeGreaterThanOrEqual(9);
    expect(ticks).toContain(0);
  });

  it.each([[[]], [[0]], [[0, 0]], [[1e-9]], [[1e12]]])("has at least two ticks for %j", (values: number[]) => {
    const { ticks, at } = linearScale(values, 100, 0);
    expect(ticks.length).toBeGreaterThan(1);
    for (const value of values) expect(Number.isFinite(at(value))).toBe(true);
  });
});

describe("a logarithmic scale", () => {
  it("puts equal factors at equal distances, and has round numbers inside", () => {
    const { at, ticks } = logScale([100, 1e4], 0, 100);
    expect([at(100), at(1000), at(1e4)].map(Math.round)).toEqual([0, 50, 100]);
    expect(ticks).toEqual([100, 300, 1000, 3000, 1e4]);
    expect(logScale([0.15, 9], 0, 100).ticks).toEqual([0.2, 0.5, 1, 2, 5]);
  });

  it("has fewer numbers where there is less room, and none too many", () => {
    expect(logScale([100, 1e9], 0, 100).ticks).toEqual([100, 1e4, 1e6, 1e8]);
    for (const count of [2, 3, 4, 6]) {
      expect(logScale([1e-9, 1e9], 0, 100, count).ticks.length).toBeLessThanOrEqual(count);
    }
  });

  it("has a place for every value, even if all are the same", () => {
    for (const values of [[5], [1, 1], [1e-300, 1e300]]) {
      for (const value of values) expect(Number.isFinite(logScale(values, 0, 100).at(value))).toBe(true);
    }
  });
});
