import { describe, expect, it } from "vitest";
import { chiSquare, chiSquareAlarm } from "../../test/chi-square.ts";
import { type Randomness, seededRandomnessForTests } from "../randomness/index.ts";
import { createDiscreteGaussian, discreteGaussianVariance, drawDiscreteGaussian } from "./discrete-gaussian.ts";
import { bernoulliExp, drawDiscreteLaplace } from "./discrete-laplace.ts";
import { createKaryResponse, respondKary } from "./kary-response.ts";
import { chooseLedgerBits, drawLedgerNoise, ledgerResponseWithBits, readLedgerValue } from "./ledger-response.ts";
import { drawOutcome } from "./probability.ts";
import { createRandomizedResponse, respond } from "./randomized-response.ts";
import { createUnaryEncoding, respondUnary } from "./unary-encoding.ts";

const random = seededRandomnessForTests("privacy");
const EPSILONS = [0.01, 0.1, 0.5, 1, Math.LN2, Math.log(3), 2, 4, 8];

describe("mechanisms cost at most what was asked for, and hardly less", () => {
  it("randomized response, K-ary response, unary encoding", () => {
    for (const epsilon of EPSILONS) {
      const costs = [
        createRandomizedResponse(epsilon).localEpsilon,
        createKaryResponse(epsilon, 2).localEpsilon,
        createKaryResponse(epsilon, 50).localEpsilon,
        createUnaryEncoding(epsilon, 50).localEpsilon,
      ];
      for (const cost of costs) {
        expect(cost).toBeLessThanOrEqual(epsilon);
        expect(cost).toBeGreaterThan(epsilon - 1e-7);
      }
    }
  });

  it("the stated cost is the largest log-ratio of any answer", () => {
    const { keep, buckets, localEpsilon } = createKaryResponse(1.3, 5);
    const decoy = (1 - keep) / buckets;
    expect(Math.log((keep + decoy) / decoy)).toBeCloseTo(localEpsilon, 12);
    const { noise, localEpsilon: unaryCost } = createUnaryEncoding(1.3, 3);
    // Buckets 0 and 1 of neighbours differ; the likeliest witness is (1, 0).
    expect(Math.log((0.5 * (1 - noise)) / (noise * 0.5))).toBeCloseTo(unaryCost, 12);
  });

  it("nonsense is refused", () => {
    for (const epsilon of [0, 1e-9, -1, Number.NaN, Number.POSITIVE_INFINITY, 21]) {
      expect(() => createRandomizedResponse(epsilon)).toThrow("localEpsilon is a number from");
      expect(() => createKaryResponse(epsilon, 3)).toThrow(RangeError);
      expect(() => createUnaryEncoding(epsilon, 3)).toThrow(RangeError);
      expect(() => chooseLedgerBits([epsilon])).toThrow(RangeError);
    }
  });
});

describe("drawOutcome", () => {
  it("cuts [0, 2⁴⁰) where the probabilities say", () => {
    const at = (value: number) => (into: Uint8Array) => {
      let rest = value;
      for (let i = into.length - 1; i >= 0; i--) {
        into[i] = rest % 256;
        rest = Math.floor(rest / 256);
      }
    };
    const quarter = 2 ** 38;
    for (const [value, outcome] of [
      [0, 0],
      [quarter - 1, 0],
      [quarter, 1],
      [3 * quarter - 1, 1],
      [3 * quarter, 2],
      [4 * quarter - 1, 2],
    ] as const) {
      expect(drawOutcome(at(value), 0.25, 0.5)).toBe(outcome);
    }
  });
});

describe("the ledger response", () => {
  /** Every path of the sampler with its exact probability, by running it on all answers of a uniform source. */
  function exactDistribution(bits: number, size: number): number[] {
    const t = 2 ** bits;
    const response = { bits, size, flip: size / t, localEpsilon: 0 };
    const weights = new Array<number>(t).fill(0);
    for (let first = 0; first < t; first++) {
      const bound = first < t - size ? size : t - size;
      for (let second = 0; second < bound; second++) {
        const draws = [first, second];
        const scripted: Randomness = (into) => into.fill(0, 0, into.length - 1).fill(draws.shift() as number, -1);
        const value = drawLedgerNoise(response, scripted);
        // In units of 1/(t·size·(t−size)).
        weights[value] = (weights[value] as number) + (size * (t - size)) / bound;
      }
    }
    return weights;
  }

  it("is exactly randomized response in the full opened value, not only in the bit", () => {
    for (const [bits, size] of [
      [2, 1],
      [3, 1],
      [3, 3],
      [4, 5],
      [5, 9],
      [7, 35],
    ] as const) {
      const t = 2 ** bits;
      const unit = t * size * (t - size);
      const withoutEvent = exactDistribution(bits, size);
      expect(withoutEvent.reduce((sum, weight) => sum + weight, 0)).toBe(unit);
      // With the event: a uniform ρ is added, and the sum is uniform.
      for (const [value, weight] of withoutEvent.entries()) {
        // The ratio to the uniform 1/t is (t−z)/z inside S and z/(t−z) outside, exactly.
        if (value < size) expect(weight * t * size).toBe(unit * (t - size));
        else expect(weight * t * (t - size)).toBe(unit * size);
        expect(readLedgerValue({ bits, size, flip: 0, localEpsilon: 0 }, value)).toBe(value < size ? 0 : 1);
      }
    }
  });

  it("never costs more than asked, and its standard error is within 5% of the ideal with the fewest bits", () => {
    const standardError = (epsilon: number): number => Math.exp(epsilon / 2) / Math.expm1(epsilon);
    for (const epsilon of EPSILONS) {
      const bits = chooseLedgerBits([epsilon]);
      const cost = (width: number): number => ledgerResponseWithBits(epsilon, width)?.localEpsilon ?? Number.NaN;
      expect(cost(bits)).toBeLessThanOrEqual(epsilon);
      expect(standardError(cost(bits))).toBeLessThanOrEqual(1.05 * standardError(epsilon));
      for (let fewer = 2; fewer < bits; fewer++) {
        expect(standardError(cost(fewer)) <= 1.05 * standardError(epsilon)).toBe(false);
      }
    }
    expect(chooseLedgerBits([1])).toBe(7);
  });
});

describe("samplers have the distribution that is accounted for (χ², false alarm 1e-6)", () => {
  function check(
    samples: number,
    draw: () => number,
    probability: (outcome: number) => number,
    outcomes: number[],
  ): void {
    const counts = new Map<number, number>();
    for (let i = 0; i < samples; i++) {
      const outcome = draw();
      counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
    }
    const expected = outcomes.map((outcome) => samples * probability(outcome));
    const observed = outcomes.map((outcome) => counts.get(outcome) ?? 0);
    // All other outcomes are one class.
    const restExpected = samples - expected.reduce((sum, count) => sum + count, 0);
    const restObserved = samples - observed.reduce((sum, count) => sum + count, 0);
    const rest = restExpected > 5;
    if (!rest) expect(restObserved).toBeLessThan(30);
    expect(
      chiSquare([...observed, ...(rest ? [restObserved] : [])], [...expected, ...(rest ? [restExpected] : [])]),
    ).toBeLessThan(chiSquareAlarm(outcomes.length - (rest ? 0 : 1)));
  }
  const range = (low: number, high: number): number[] => Array.from({ length: high - low + 1 }, (_, i) => low + i);

  it("randomized response and K-ary response", () => {
    const response = createRandomizedResponse(1);
    for (const bit of [0, 1] as const) {
      check(
        40_000,
        () => respond(response, bit, random),
        (y) => (y === bit ? 1 - response.flip : response.flip),
        [0, 1],
      );
    }
    const kary = createKaryResponse(1, 4);
    const decoy = (1 - kary.keep) / 4;
    check(
      40_000,
      () => respondKary(kary, 2, random),
      (b) => decoy + (b === 2 ? kary.keep : 0),
      range(0, 3),
    );
  });

  it("unary encoding, all eight vectors of three buckets", () => {
    const unary = createUnaryEncoding(1, 3);
    const draw = (): number => respondUnary(unary, 1, random).reduce((code, bit) => 2 * code + bit, 0);
    const told = [unary.noise, 0.5, unary.noise];
    const probability = (code: number): number =>
      told.reduce((product, p, b) => product * ((code >> (2 - b)) & 1 ? p : 1 - p), 1);
    check(40_000, draw, probability, range(0, 7));
  });

  it("Bernoulli(e^−γ) for γ below and above 1", () => {
    for (const [numerator, denominator] of [
      [0n, 1n],
      [1n, 3n],
      [1n, 1n],
      [7n, 2n],
    ] as const) {
      const p = Math.exp(-Number(numerator) / Number(denominator));
      const draw = (): number => Number(bernoulliExp(random, numerator, denominator));
      if (numerator === 0n) for (let i = 0; i < 100; i++) expect(draw()).toBe(1);
      else check(20_000, draw, (y) => (y === 1 ? p : 1 - p), [0, 1]);
    }
  });

  it("discrete Laplace", () => {
    for (const [numerator, denominator] of [
      [1n, 2n],
      [3n, 2n],
      [1n, 5n],
    ] as const) {
      const rate = Number(numerator) / Number(denominator);
      const probability = (x: number): number => Math.tanh(rate / 2) * Math.exp(-Math.abs(x) * rate);
      check(20_000, () => Number(drawDiscreteLaplace(random, numerator, denominator)), probability, range(-6, 6));
    }
  });

  it("discrete Gaussian, narrow and wide", () => {
    for (const sigma of [0.4, 1, 3.7, 20]) {
      const gaussian = createDiscreteGaussian(sigma);
      const weight = (x: number): number => Math.exp(-(x * x) / (2 * gaussian.sigma2));
      const total = range(-gaussian.reach, gaussian.reach).reduce((sum, x) => sum + weight(x), 0);
      const most = Math.ceil(2.5 * sigma);
      check(
        20_000,
        () => Number(drawDiscreteGaussian(gaussian, random)),
        (x) => weight(x) / total,
        range(-most, most),
      );
    }
  });
});

describe("the discrete Gaussian", () => {
  it("its variance is stated exactly, also where it is below σ²", () => {
    for (const sigma of [0.3, 0.5, 1, 1.9, 2.1]) {
      const noise = createDiscreteGaussian(sigma);
      const { sigma2 } = noise;
      const variance = discreteGaussianVariance(noise);
      let [sum, total] = [0, 0];
      for (let x = -60; x <= 60; x++) {
        total += Math.exp(-(x * x) / (2 * sigma2));
        sum += x * x * Math.exp(-(x * x) / (2 * sigma2));
      }
      expect(variance).toBeCloseTo(sum / total, 12);
    }
    expect(discreteGaussianVariance(createDiscreteGaussian(0.3))).toBeLessThan(0.1 * 0.09);
  });

  it("no sample leaves the stated reach, and nonsense is refused", () => {
    const gaussian = createDiscreteGaussian(2);
    expect(gaussian.reach).toBeGreaterThan(9 * 2);
    for (const sigma of [0, -1, Number.NaN, 1e7])
      expect(() => createDiscreteGaussian(sigma)).toThrow("sigma is a number above 0");
  });
});
