import * as fc from "fast-check";
import { expect, test } from "vitest";
import {
  beginningOf,
  nextTick,
  oldestInGrace,
  phaseOf,
  tickAt,
  timesOf,
  windowAt,
  windowSeconds,
} from "./window-time.ts";

const HOUR = { ticks: 60, tickSeconds: 60, graceSeconds: 900 };

const timing = fc.record({
  ticks: fc.integer({ min: 1, max: 10_000 }),
  tickSeconds: fc.integer({ min: 1, max: 86_400 }),
  graceSeconds: fc.integer({ min: 0, max: 1_000_000 }),
});
/** With milliseconds, as clocks give it. */
const time = fc.integer({ min: 0, max: 4e12 }).map((milliseconds) => milliseconds / 1000);

test("a window has its beginning and not its end", () => {
  expect(timesOf(HOUR, 10)).toEqual({ from: 36_000, to: 39_600, closes: 40_500 });
  expect([36_000, 39_599.999, 39_600].map((now) => windowAt(HOUR, now))).toEqual([10, 10, 11]);
});

test("window follows window without a gap, and every time is in exactly the window that windowAt names", () => {
  fc.assert(
    fc.property(timing, time, (task, now) => {
      const window = windowAt(task, now);
      const { from, to } = timesOf(task, window);
      expect(from <= now && now < to).toBe(true);
      expect(to - from).toBe(windowSeconds(task));
      expect(beginningOf(task, window + 1)).toBe(to);
    }),
  );
});

test("a window ends with a tick: ticks divide it evenly", () => {
  fc.assert(
    fc.property(timing, time, (task, now) => {
      const { from, to } = timesOf(task, windowAt(task, now));
      expect(tickAt(task, now) - tickAt(task, from)).toBeLessThan(task.ticks);
      expect(tickAt(task, to) - tickAt(task, from)).toBe(task.ticks);
      expect(nextTick(task, now)).toBeGreaterThan(now);
      expect(nextTick(task, now)).toBeLessThanOrEqual(to);
    }),
  );
});

test("the phases of a window follow one another, each from its first second on", () => {
  const phases = [0, 32_399, 32_400, 36_000, 39_600, 40_499, 40_500].map((now) => phaseOf(HOUR, 10, now));
  expect(phases).toEqual(["later", "later", "next", "running", "grace", "grace", "over"]);
  expect(phaseOf({ ...HOUR, graceSeconds: 0 }, 10, 39_600)).toBe("over");
});

test("the oldest window in grace is in grace or running, and the one before it is over", () => {
  fc.assert(
    fc.property(timing, time, (task, now) => {
      const oldest = oldestInGrace(task, now);
      expect(["running", "grace"]).toContain(phaseOf(task, oldest, now));
      if (oldest > 0) expect(phaseOf(task, oldest - 1, now)).toBe("over");
    }),
  );
});
