import { describe, expect, it } from "vitest";
import { linearScale } from "./scale.ts";

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
