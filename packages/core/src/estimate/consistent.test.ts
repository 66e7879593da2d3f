import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { clampTo, projectToHistogram } from "./consistent.ts";

const estimates = fc.array(fc.double({ min: -500, max: 1500, noNaN: true }), { minLength: 1, maxLength: 12 });
const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);
const distance = (x: readonly number[], y: readonly number[]): number =>
  sumOf(x.map((value, i) => (value - (y[i] as number)) ** 2));

describe("the consistent histogram", () => {
  it("has no negative bucket, the right sum, and keeps the order of buckets", () => {
    fc.assert(
      fc.property(estimates, (raw) => {
        const consistent = projectToHistogram(raw, 1000);
        expect(Math.min(...consistent)).toBeGreaterThanOrEqual(0);
        expect(sumOf(consistent)).toBeCloseTo(1000, 6);
        for (const [i, a] of raw.entries()) {
          for (const [j, b] of raw.entries())
            if (a <= b) expect(consistent[i]).toBeLessThanOrEqual(consistent[j] as number);
        }
      }),
    );
  });

  it("is the nearest: no move of weight from one bucket to another comes closer", () => {
    fc.assert(
      fc.property(estimates, fc.nat(), fc.nat(), fc.double({ min: 0, max: 1, noNaN: true }), (raw, from, to, share) => {
        const consistent = projectToHistogram(raw, 1000);
        const moved = [...consistent];
        const weight = share * (moved[from % raw.length] as number);
        moved[from % raw.length] = (moved[from % raw.length] as number) - weight;
        moved[to % raw.length] = (moved[to % raw.length] as number) + weight;
        expect(distance(consistent, raw)).toBeLessThanOrEqual(distance(moved, raw) + 1e-6);
      }),
    );
  });

  it("leaves a histogram that could be true as it is", () => {
    expect(projectToHistogram([100, 0, 900], 1000)).toEqual([100, 0, 900]);
  });
});

it("counts and means are clamped to what could be true", () => {
  expect([-3, 4, 11].map((estimate) => clampTo(10, estimate))).toEqual([0, 4, 10]);
});
