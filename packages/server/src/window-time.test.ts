import fc from "fast-check";
import { expect, it } from "vitest";
import { phaseOf, timesOf, windowAt, windowSeconds } from "./window-time.ts";

const timing = fc.record({
  ticks: fc.integer({ min: 1, max: 1000 }),
  tickSeconds: fc.integer({ min: 1, max: 100_000 }),
  graceSeconds: fc.integer({ min: 0, max: 1_000_000 }),
});
const moment = fc.double({ min: 0, max: 4e9, noNaN: true });

it("windows follow one another without gap or overlap, and each moment is in the one it is said to be in", () => {
  fc.assert(
    fc.property(timing, moment, (task, now) => {
      const window = windowAt(task, now);
      const { from, to, closes } = timesOf(task, window);
      expect(from).toBeLessThanOrEqual(now);
      expect(to).toBeGreaterThan(now);
      expect(to - from).toBe(windowSeconds(task));
      expect(closes - to).toBe(task.graceSeconds);
      expect(timesOf(task, window + 1).from).toBe(to);
    }),
  );
});

it("a window is later, then next, runs, has its grace and is over, in this order and without going back", () => {
  const order = ["later", "next", "running", "grace", "over"];
  fc.assert(
    fc.property(
      timing,
      fc.integer({ min: 2, max: 1000 }),
      fc.array(moment, { minLength: 2 }),
      (task, window, moments) => {
        const phases = moments.toSorted((a, b) => a - b).map((now) => order.indexOf(phaseOf(task, window, now)));
        expect(phases).toEqual(phases.toSorted((a, b) => a - b));
      },
    ),
  );
});

it("the phases change on the second", () => {
  const task = { ticks: 10, tickSeconds: 6, graceSeconds: 30 };
  const at = (now: number): string => phaseOf(task, 100, now);
  expect([at(5939.999), at(5940), at(5999.999), at(6000), at(6059.999)]).toEqual([
    "later",
    "next",
    "next",
    "running",
    "running",
  ]);
  expect([at(6060), at(6089.999), at(6090), at(1e9)]).toEqual(["grace", "grace", "over", "over"]);
  expect(phaseOf({ ...task, graceSeconds: 0 }, 100, 6060)).toBe("over");
});
