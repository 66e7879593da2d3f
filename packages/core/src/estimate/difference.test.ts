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
    const half = { estimate: 0.5, standardError: 0.03, devices: 1e6, range: [0, 1] } as const;
    const { standardError } = estimateDifference(half, { ...half, estimate: 0.1 });
    expect(standardError ** 2).toBeCloseTo(2 * 0.03 ** 2 + (0.25 + 0.09) / 1e6, 11);
    // Of few devices as if there were two more: 50 + 1 and 10 + 1 of 102.
    const few = { ...half, standardError: 0, devices: 100 };
    const drawn = (0.25 + (11 / 102) * (91 / 102)) * (102 / 100 ** 2);
    expect(estimateDifference(few, { ...few, estimate: 0.1 }).standardError ** 2).toBeCloseTo(drawn, 12);
    // What cannot be true is cut to what can.
    const beyond = estimateDifference({ ...few, estimate: 1.3 }, { ...few, estimate: -0.2 });
    expect(beyond.standardError).toBe(
      estimateDifference({ ...few, estimate: 1 }, { ...few, estimate: 0 }).standardError,
    );
  });

  it("never understates how values in a range vary, and is all but exact if all of many are at its ends", () => {
    const values = fc.array(fc.integer({ min: 2, max: 9 }), { minLength: 1, maxLength: 30 });
    fc.assert(
      fc.property(values, fc.integer({ min: 1, max: 1000 }), (drawn, devices) => {
        const mean = drawn.reduce((sum, value) => sum + value, 0) / drawn.length;
        const variance = drawn.reduce((sum, value) => sum + (value - mean) ** 2, 0) / drawn.length;
        const errorOf = (of: number): number => {
          const group = { estimate: mean, standardError: 0, devices: of, range: [2, 9] } as const;
          return of * estimateDifference(group, { ...group, devices: 1e12 }).standardError ** 2;
        };
        expect(errorOf(devices)).toBeGreaterThanOrEqual(variance - 1e-6);
        if (drawn.every((value) => value === 2 || value === 9)) expect(errorOf(1e6)).toBeCloseTo(variance, 3);
      }),
    );
  });

  it("of equal figures without any noise is none", () => {
    const sure = { estimate: 0, standardError: 0, devices: 10, range: [0, 1] } as const;
    expect(estimateDifference(sure, sure)).toMatchObject({ estimate: 0, pValue: 1 });
  });

  const binomial = (n: number, p: number): number[] => {
    const weights = [(1 - p) ** n];
    for (let k = 1; k <= n; k++) weights.push(((weights[k - 1] as number) * (n - k + 1) * p) / (k * (1 - p)));
    return weights;
  };

  /** How often groups that do not differ seem to, over all that devices can tell: a share p, told with `flip`. */
  function falseAlarms(sizes: readonly [number, number], p: number, flip: number): number {
    const [one, other] = sizes.map((devices) =>
      binomial(devices, p * (1 - flip) + (1 - p) * flip).map((weight, told) => ({
        weight,
        estimate: (told / devices - flip) / (1 - 2 * flip),
        standardError: Math.sqrt((flip * (1 - flip)) / devices) / (1 - 2 * flip),
        devices,
        range: [0, 1] as const,
      })),
    ) as [(PerDevice & { weight: number })[], (PerDevice & { weight: number })[]];
    let alarms = 0;
    for (const a of one) {
      for (const b of other) if (estimateDifference(a, b).pValue < 0.05) alarms += a.weight * b.weight;
    }
    return alarms;
  }

  it("seldom seems to be one where there is none, however few devices a group has, and whatever the noise", () => {
    for (const localEpsilon of [20, 5, 2, 1]) {
      const flip = 1 / (1 + Math.exp(localEpsilon));
      for (const sizes of [
        [1, 1],
        [1, 50],
        [2, 2],
        [3, 3],
        [5, 5],
        [10, 10],
        [10, 100],
        [20, 300],
        [50, 50],
      ] as const) {
        for (const p of [0.002, 0.01, 0.05, 0.1, 0.3, 0.5, 0.9]) {
          const alarms = falseAlarms(sizes, p, flip);
          expect(alarms, JSON.stringify({ localEpsilon, sizes, p })).toBeLessThanOrEqual(0.075);
        }
      }
    }
  });
});
