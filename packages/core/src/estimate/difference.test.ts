import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { estimateDifference, type PerDevice } from "./difference.ts";
import { twoSidedTail } from "./p-value.ts";

describe("the tails of the normal distribution", () => {
  // Computed elsewhere, in 40-digit arithmetic: erfc(z/√2).
  it.each([
    [0, 1],
    [0.5, 0.6170750774519738],
    [1, 0.3173105078629141],
    [1.959963984540054, 0.05],
    [3, 0.00269979606326019],
    [3.5, 0.00046525815807105],
    [4, 6.33424836662398e-5],
    [6, 1.9731752900754e-9],
    [10, 1.52397060483211e-23],
    [30, 9.81342785429637e-198],
  ])("beyond %d have the probability %d", (z, expected) => {
    for (const side of [z, -z]) expect(twoSidedTail(side) / expected).toBeCloseTo(1, 10);
  });

  it("fall as z grows, also where one formula takes over from the other, and end at 0", () => {
    let last = 1;
    for (let z = 0.001; z < 39; z += 0.001) {
      const tail = twoSidedTail(z);
      expect(tail).toBeLessThanOrEqual(last);
      last = tail;
    }
    expect(twoSidedTail(100)).toBe(0);
    expect(twoSidedTail(Number.POSITIVE_INFINITY)).toBe(0);
  });
});

const figure: fc.Arbitrary<PerDevice> = fc.record({
  estimate: fc.double({ min: -3, max: 4, noNaN: true }),
  standardError: fc.double({ min: 1e-6, max: 1, noNaN: true }),
  devices: fc.integer({ min: 1, max: 1e6 }),
  range: fc.constant([0, 1] as const),
});

describe("the difference between two groups", () => {
  it("has a p-value below 0.05 exactly if its interval leaves out zero", () => {
    fc.assert(
      fc.property(figure, figure, (one, other) => {
        const { interval, pValue } = estimateDifference(one, other);
        // Both hang on the same quantile, up to rounding.
        fc.pre(Math.abs(pValue - 0.05) > 1e-9);
        expect(pValue < 0.05).toBe(interval[0] > 0 || interval[1] < 0);
      }),
    );
  });

  it("is the same the other way round, with the other sign", () => {
    fc.assert(
      fc.property(figure, figure, (one, other) => {
        const [there, back] = [estimateDifference(one, other), estimateDifference(other, one)];
        expect(back.estimate).toBeCloseTo(-there.estimate, 12);
        expect([back.standardError, back.pValue]).toEqual([there.standardError, there.pValue]);
      }),
    );
  });

  it("has the error of the noise and that of drawing the devices: of a share p it is p(1 − p)/n", () => {
    const half = { estimate: 0.5, standardError: 0.03, devices: 100, range: [0, 1] } as const;
    const { standardError } = estimateDifference(half, { ...half, estimate: 0.1 });
    expect(standardError).toBeCloseTo(Math.sqrt(2 * 0.03 ** 2 + 0.25 / 100 + 0.09 / 100), 12);
    // What cannot be true is drawn from nothing.
    const beyond = estimateDifference({ ...half, estimate: 1.3 }, { ...half, estimate: -0.2 });
    expect(beyond.standardError).toBeCloseTo(Math.sqrt(2 * 0.03 ** 2), 12);
  });

  it("never understates how values in a range vary, and is exact if all are at its ends", () => {
    const values = fc.array(fc.integer({ min: 2, max: 9 }), { minLength: 1, maxLength: 30 });
    fc.assert(
      fc.property(values, (drawn) => {
        const mean = drawn.reduce((sum, value) => sum + value, 0) / drawn.length;
        const variance = drawn.reduce((sum, value) => sum + (value - mean) ** 2, 0) / drawn.length;
        const group = { estimate: mean, standardError: 0, devices: 1, range: [2, 9] } as const;
        const { standardError } = estimateDifference(group, { ...group, estimate: 2 });
        expect(standardError ** 2).toBeGreaterThanOrEqual(variance - 1e-9);
        if (drawn.every((value) => value === 2 || value === 9)) expect(standardError ** 2).toBeCloseTo(variance, 9);
      }),
    );
  });

  it("of figures without any error that are equal is none", () => {
    const sure = { estimate: 0, standardError: 0, devices: 10, range: [0, 1] } as const;
    expect(estimateDifference(sure, sure)).toMatchObject({ estimate: 0, standardError: 0, pValue: 1 });
  });
});
