import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  composedDelta,
  composedEpsilon,
  createDiscreteGaussian,
  gaussianCharge,
  serverNoise,
  serverNoiseBound,
  serverNoiseCharge,
  serverNoiseDelta,
  serverNoiseEpsilon,
  serverNoiseSigma,
  type TrulyAnswered,
} from "../index.ts";

const OCCURRENCE: TrulyAnswered = { statistic: "occurrence" };
const HISTOGRAM: TrulyAnswered = { statistic: "histogram" };
const mean = (limit: number): TrulyAnswered => ({ statistic: "mean", limit });
const ALL = [OCCURRENCE, HISTOGRAM, mean(1), mean(3), mean(10)];

/** Σ [P(x) − e^ε·P(x − shift)]₊ over all points of the plane, or of the line if the second shift is absent. */
function byEnumeration(sigma2: number, [first, second]: readonly [number, number?], epsilon: number): number {
  const weight = (x: number): number => Math.exp(-(x * x) / (2 * sigma2));
  const reach = Math.ceil(12 * Math.sqrt(sigma2) + epsilon * sigma2) + 12;
  const line = Array.from({ length: 2 * reach + 1 }, (_, i) => i - reach);
  const total = line.reduce((sum, x) => sum + weight(x), 0);
  let delta = 0;
  for (const x of line) {
    for (const y of second === undefined ? [0] : line) {
      const here = weight(x) * weight(y);
      delta += Math.max(0, here - Math.exp(epsilon) * weight(x - first) * weight(y - (second ?? 0)));
    }
  }
  return delta / (second === undefined ? total : total * total);
}

/** Equal up to rounding, and not below but for the enumeration's own. */
function expectExact(delta: number, enumerated: number): void {
  expect(delta).toBeGreaterThan(enumerated * (1 - 1e-11));
  expect(delta).toBeLessThan(enumerated * (1 + 1e-8) + 1e-200);
}

describe("against all outcomes", () => {
  it("two buckets that change by one, each with its own noise, are one sum of both that changes by two", () => {
    // On both sides of where the sum of two is computed in another way, σ² = 6.25, and of ε = 40.
    for (const sigma2 of [0.1, 0.3, 1, 2, 6, 6.5, 30]) {
      for (const epsilon of [0, 0.05, 0.5, 1, 3, 10, 41]) {
        const enumerated = byEnumeration(sigma2, [1, -1], epsilon);
        // Beyond, the enumeration itself has no digits.
        if (enumerated > 1e-100) expectExact(serverNoiseDelta(HISTOGRAM, { sigma2 }, epsilon), enumerated);
      }
    }
  });

  it("a count changes by one, a mean's sum by the limit at most, and less is never worse", () => {
    for (const sigma2 of [0.3, 2, 30]) {
      for (const epsilon of [0, 0.5, 2]) {
        expectExact(serverNoiseDelta(OCCURRENCE, { sigma2 }, epsilon), byEnumeration(sigma2, [1], epsilon));
        const largest = serverNoiseDelta(mean(7), { sigma2 }, epsilon);
        expectExact(largest, byEnumeration(sigma2, [7], epsilon));
        for (let change = 1; change < 7; change++) {
          expect(byEnumeration(sigma2, [change], epsilon)).toBeLessThanOrEqual(largest);
        }
      }
    }
  });

  it("no device can do more than move from one bucket to another: it may come or go, or stay", () => {
    for (const shift of [
      [1, 0],
      [0, -1],
      [-1, 1],
      [0, 0],
    ] as const) {
      expect(byEnumeration(2, shift, 0.5)).toBeLessThanOrEqual(serverNoiseDelta(HISTOGRAM, { sigma2: 2 }, 0.5));
    }
  });

  it("the general composition of two counts is never below, and little above", () => {
    for (const [sigma2, epsilon] of [
      [1, 3],
      [6, 0.5],
      [30, 0.5],
      [400, 0.05],
    ] as const) {
      const exact = serverNoiseDelta(HISTOGRAM, { sigma2 }, epsilon);
      const composed = composedDelta([gaussianCharge({ sigma2, sensitivity: 1, devices: 1 }, 2)], epsilon);
      expect(composed).toBeGreaterThanOrEqual(exact * (1 - 1e-9));
      expect(composed).toBeLessThan(1.2 * exact);
    }
  });
});

describe("σ and ε", () => {
  const goals = fc.record({
    counted: fc.constantFrom(...ALL),
    epsilon: fc.double({ min: 0.05, max: 5, noNaN: true }),
    logDelta: fc.double({ min: -12, max: -2, noNaN: true }),
  });

  it("what is drawn keeps the promise, for any limit and after all rounding", () => {
    fc.assert(
      fc.property(goals, fc.integer({ min: 1, max: 50 }), ({ counted, epsilon, logDelta }, limit) => {
        const asked = counted.statistic === "mean" ? mean(limit) : counted;
        const delta = 10 ** logDelta;
        const sigma = serverNoiseSigma(asked, epsilon, delta);
        expect(serverNoiseDelta(asked, serverNoise(asked, sigma), epsilon)).toBeLessThanOrEqual(delta);
      }),
      { numRuns: 150, seed: 1 },
    );
  });

  it("are each other's inverse, never below the truth", () => {
    fc.assert(
      fc.property(goals, ({ counted, epsilon, logDelta }) => {
        const delta = 10 ** logDelta;
        const noise = serverNoise(counted, serverNoiseSigma(counted, epsilon, delta));
        const back = serverNoiseEpsilon(counted, noise, delta);
        expect(serverNoiseDelta(counted, noise, back)).toBeLessThanOrEqual(delta);
        expect(back).toBeLessThan(epsilon * (1 + 1e-6));
        // Where noise is narrow σ² in steps of 2⁻²⁰ is coarse.
        expect(back).toBeGreaterThan(epsilon * (1 - 1e-4));
      }),
      { numRuns: 100, seed: 2 },
    );
  });

  it("σ is the least: a thousandth less breaks δ, and all that is more keeps it", () => {
    for (const counted of ALL) {
      for (const [epsilon, delta] of [
        [0.1, 1e-6],
        [0.5, 1e-9],
        [1, 1e-6],
        [2, 1e-6],
        [2, 1e-3],
      ] as const) {
        const sigma = serverNoiseSigma(counted, epsilon, delta);
        const deltaAt = (share: number): number =>
          serverNoiseDelta(counted, serverNoise(counted, share * sigma), epsilon);
        for (const less of [0.7, 0.9, 0.99, 0.999]) expect(deltaAt(less)).toBeGreaterThan(delta);
        for (const more of [1.001, 1.01, 1.1, 2]) expect(deltaAt(more)).toBeLessThan(delta);
      }
    }
  });

  it("δ falls in ε, ε falls in σ, and σ falls in both", () => {
    const falls = (values: readonly number[]): void => {
      for (let i = 1; i < values.length; i++) expect(values[i]).toBeLessThan(values[i - 1] as number);
    };
    for (const counted of ALL) {
      falls([0, 0.1, 0.5, 1, 2, 4].map((epsilon) => serverNoiseDelta(counted, serverNoise(counted, 3), epsilon)));
      falls([1, 2, 4, 8, 16].map((sigma) => serverNoiseEpsilon(counted, serverNoise(counted, sigma), 1e-6)));
      falls([0.1, 0.3, 1, 3].map((epsilon) => serverNoiseSigma(counted, epsilon, 1e-6)));
      falls([1e-12, 1e-9, 1e-6, 1e-3].map((delta) => serverNoiseSigma(counted, 1, delta)));
    }
  });

  it("σ is in devices, or in units of the limit, and two buckets need about √2 times as much as one count", () => {
    // [BW18, Alg. 1]'s analytic Gaussian needs 4.2247 at (1, 10⁻⁶); steps of one are felt a little at a limit of one.
    expect(serverNoiseSigma(OCCURRENCE, 1, 1e-6)).toBeCloseTo(4.2308, 4);
    expect(serverNoiseSigma(mean(1), 1, 1e-6)).toBe(serverNoiseSigma(OCCURRENCE, 1, 1e-6));
    expect(serverNoiseSigma(mean(200), 1, 1e-6)).toBeCloseTo(4.2247, 3);
    expect(serverNoiseSigma(HISTOGRAM, 1, 1e-6) / (4.2247 * Math.SQRT2)).toBeCloseTo(1, 2);
    expect(serverNoise(mean(10), 2).sigma2).toBe(400);
    expect(serverNoise(HISTOGRAM, 2)).toEqual(createDiscreteGaussian(2));
  });

  it("very wide noise is bounded, and says so", () => {
    expect(serverNoiseBound(OCCURRENCE, serverNoise(OCCURRENCE, 20_000))).toBe("exact");
    expect(serverNoiseBound(OCCURRENCE, serverNoise(OCCURRENCE, 40_000))).toBe("upper");
    expect(serverNoiseBound(HISTOGRAM, serverNoise(HISTOGRAM, 25_000))).toBe("upper");
    expect(serverNoiseBound(mean(10), serverNoise(mean(10), 4000))).toBe("upper");
  });

  it("nonsense is refused", () => {
    expect(() => serverNoiseSigma(OCCURRENCE, 0, 1e-6)).toThrow("epsilon is");
    expect(() => serverNoiseSigma(OCCURRENCE, 1, 0)).toThrow("delta is");
    expect(() => serverNoiseSigma(HISTOGRAM, 1e-7, 1e-9)).toThrow("needs a sigma above");
    expect(() => serverNoiseSigma(mean(0.5), 1, 1e-6)).toThrow("sensitivity is");
    expect(() => serverNoise(mean(10), 0)).toThrow("sigma is");
    expect(() => serverNoiseEpsilon(HISTOGRAM, { sigma2: Number.NaN }, 1e-6)).toThrow("sigma2 is");
  });
});

describe("composition", () => {
  it("of one is itself, and of many counts that of one with the noise of all", () => {
    for (const counted of ALL) {
      const noise = serverNoise(counted, 4);
      const epsilon = serverNoiseEpsilon(counted, noise, 1e-6);
      expect(composedEpsilon([serverNoiseCharge(counted, noise)], 1e-6) / epsilon).toBeCloseTo(1, 4);
    }
    // Nine shifts by one are, by the same argument, one sum of nine that shifts by nine; nearly one that shifts by
    // three.
    const nine = composedEpsilon([serverNoiseCharge(OCCURRENCE, serverNoise(OCCURRENCE, 12), 9)], 1e-6);
    const one = serverNoiseEpsilon(mean(3), { sigma2: 144 }, 1e-6);
    expect(nine / one).toBeGreaterThan(0.999);
    expect(nine / one).toBeLessThan(1.02);
  });

  it("of a count, a histogram and a mean is more than each and less than their sum", () => {
    const counted = [OCCURRENCE, HISTOGRAM, mean(10)];
    const each = counted.map((one) => serverNoiseEpsilon(one, serverNoise(one, 5), 1e-6));
    const total = composedEpsilon(
      counted.map((one) => serverNoiseCharge(one, serverNoise(one, 5))),
      1e-6,
    );
    expect(total).toBeGreaterThan(Math.max(...each));
    expect(total).toBeLessThan(each.reduce((sum, epsilon) => sum + epsilon, 0));
  });
});
