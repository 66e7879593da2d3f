import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Axis, createScale, drawableLines, formatNumber, type Plot, spread, wrap } from "./plot.ts";

const LOG: Axis = { label: "x", scale: "log" };
const LINEAR: Axis = { label: "x", scale: "linear" };
const labels = (axis: Axis, values: number[], most: number): string[] =>
  createScale(axis, values, most).ticks.map(({ label }) => label);

describe("ticks", () => {
  it("of many decades are decades, and of very many every third", () => {
    expect(labels(LOG, [100, 1e9], 9)).toEqual(["100", "1k", "10k", "100k", "1M", "10M", "100M", "1B"]);
    expect(labels(LOG, [1e-6, 0.3], 9)).toEqual(["1e-6", "1e-5", "0.0001", "0.001", "0.01", "0.1"]);
    expect(labels(LOG, [1, 1e12], 8)).toEqual(["1", "1k", "1M", "1B", "1T"]);
  });

  it("of few decades are 1, 2 and 5 too", () => {
    expect(labels(LOG, [0.03, 3], 9)).toEqual(["0.02", "0.05", "0.1", "0.2", "0.5", "1", "2", "5"]);
  });

  it("of a linear axis are steps of 1, 2 or 5 times a power of ten", () => {
    expect(labels(LINEAR, [0, 1], 5)).toEqual(["0", "0.2", "0.4", "0.6", "0.8", "1"]);
    expect(labels(LINEAR, [-3, 17], 5)).toEqual(["−5", "0", "5", "10", "15", "20"]);
    expect(labels(LINEAR, [0, 1900], 5)).toEqual(["0", "500", "1k", "1.5k", "2k"]);
    expect(labels(LINEAR, [2019, 2026], 4)).toEqual(["2018", "2020", "2022", "2024", "2026"]);
  });

  it("are not added for the rounding of logarithmic steps", () => {
    expect(createScale(LOG, [99.99999999999999, 1000000000.0000002], 9)).toMatchObject({ low: 100, high: 1e9 });
  });

  it("are short", () => {
    const shown = [0, 0.01, 1, 20, 1000, 5e4, 1e6, 2e9, 1e15, 1e-7, -0.5].map((value) => formatNumber(value));
    expect(shown).toEqual(["0", "0.01", "1", "20", "1k", "50k", "1M", "2B", "1e15", "1e-7", "−0.5"]);
  });

  it("are few, rise, and stay in the range, whatever the values", () => {
    const scale = fc.constantFrom(LOG, LINEAR);
    const value = fc.double({ min: 1e-30, max: 1e30, noNaN: true });
    fc.assert(
      fc.property(scale, fc.array(value, { minLength: 1 }), fc.integer({ min: 4, max: 12 }), (axis, values, most) => {
        const { low, high, ticks } = createScale(axis, values, most);
        expect(low).toBeLessThan(high);
        expect(ticks.length).toBeGreaterThanOrEqual(1);
        expect(ticks.length).toBeLessThanOrEqual(most + 1);
        expect(ticks.every(({ value }) => value >= low && value <= high)).toBe(true);
        expect(new Set(ticks.map(({ label }) => label)).size).toBe(ticks.length);
      }),
    );
  });
});

describe("a scale", () => {
  it("places its ends at 0 and 1 and keeps to its kind between", () => {
    const log = createScale(LOG, [100, 1e9], 9);
    expect([100, 1e9].map(log.place)).toEqual([0, 1]);
    expect(log.place(Math.sqrt(100 * 1e9))).toBeCloseTo(0.5, 12);
    const linear = createScale(LINEAR, [0, 97], 5);
    expect([0, 50, 100].map(linear.place)).toEqual([0, 0.5, 1]);
  });

  it("of a single value has it inside", () => {
    for (const axis of [LOG, LINEAR]) {
      for (const value of [1, 3, 1e-9, 12345]) {
        const share = createScale(axis, [value], 6).place(value);
        expect(share).toBeGreaterThan(0.1);
        expect(share).toBeLessThan(0.9);
      }
    }
    expect(createScale(LINEAR, [0], 6).place(0)).toBe(0.5);
  });
});

describe("drawable", () => {
  const plot = (x: Axis, points: [number, number][]): Plot => ({
    title: "t",
    x,
    y: LINEAR,
    lines: [
      { name: "empty", points: [] },
      { name: "a", points },
    ],
  });

  it("are finite points, above 0 on a log axis; a line without any is left out", () => {
    const points: [number, number][] = [
      [-1, 1],
      [0, 1],
      [1, -1],
      [2, Number.NaN],
      [Number.POSITIVE_INFINITY, 1],
    ];
    expect(drawableLines(plot(LOG, points))).toMatchObject([{ index: 1, points: [[1, -1]] }]);
    expect(drawableLines(plot(LINEAR, points))[0]?.points).toHaveLength(3);
  });

  it("is something in every plot", () => {
    expect(() => drawableLines(plot(LOG, [[0, 1]]))).toThrow(RangeError);
    expect(() => drawableLines({ ...plot(LOG, []), lines: [] })).toThrow(RangeError);
  });
});

describe("labels", () => {
  it("stay where they are wanted if there is room, and move apart evenly if not", () => {
    expect(spread([50, 10], [16, 16], [0, 100])).toEqual([50, 10]);
    expect(spread([50, 50, 50], [10, 10, 10], [0, 100])).toEqual([40, 50, 60]);
    expect(spread([100, 99], [10, 10], [0, 100])).toEqual([95, 85]);
  });

  it("never overlap, keep their order and stay in the range", () => {
    const label = fc.record({
      at: fc.double({ min: 0, max: 100, noNaN: true }),
      height: fc.integer({ min: 1, max: 9 }),
    });
    fc.assert(
      fc.property(fc.array(label, { minLength: 1, maxLength: 10 }), (wanted) => {
        const middles = spread(
          wanted.map(({ at }) => at),
          wanted.map(({ height }) => height),
          [0, 100],
        );
        const sorted = wanted
          .map(({ at, height }, i) => ({ at, height, middle: middles[i] ?? Number.NaN }))
          .sort((a, b) => a.middle - b.middle);
        let end = 0;
        let last = 0;
        for (const { at, height, middle } of sorted) {
          expect(middle - height / 2).toBeGreaterThanOrEqual(end - 1e-9);
          expect(at).toBeGreaterThanOrEqual(last);
          end = middle + height / 2;
          last = at;
        }
        expect(end).toBeLessThanOrEqual(100 + 1e-9);
      }),
    );
  });
});

it("text is wrapped between words, within words only if it must, and freed of control characters", () => {
  expect(wrap("a line of words", 8)).toEqual(["a line", "of words"]);
  expect(wrap("abcdefgh ij", 3)).toEqual(["abc", "def", "gh", "ij"]);
  expect(wrap("", 8)).toEqual([""]);
  expect(wrap("red \u001b[31m\nnext", 80)).toEqual(["red [31m next"]);
});
