import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  aggregateDelta,
  composedDelta,
  composedEpsilon,
  gaussianCharge,
  gaussianDelta,
  pureCharge,
  repeatedDelta,
} from "../index.ts";

/** Probabilities of outcomes, by name. */
type Table = ReadonlyMap<string, number>;

function hockeyStick(p: Table, q: Table, epsilon: number): number {
  let delta = 0;
  for (const [outcome, probability] of p) {
    delta += Math.max(0, probability - Math.exp(epsilon) * (q.get(outcome) ?? 0));
  }
  return delta;
}

/** The sum of what everybody tells, from the distribution of what each tells. */
function released(answers: readonly (readonly (readonly [answer: readonly number[], probability: number])[])[]): Table {
  let sums = new Map<string, number>([["", 1]]);
  for (const answer of answers) {
    const next = new Map<string, number>();
    for (const [key, before] of sums) {
      const sum = key === "" ? [] : key.split(",").map(Number);
      for (const [values, probability] of answer) {
        const added = values.map((value, i) => value + (sum[i] ?? 0)).join(",");
        next.set(added, (next.get(added) ?? 0) + before * probability);
      }
    }
    sums = next;
  }
  return sums;
}

/** The largest δ over all datasets and both values of the first person, by trying all. */
function worstByTryingAll(
  devices: number,
  inputs: number,
  answer: (input: number) => readonly (readonly [readonly number[], number])[],
  epsilon: number,
): number {
  let worst = 0;
  for (let code = 0; code < inputs ** (devices - 1); code++) {
    const others = Array.from({ length: devices - 1 }, (_, i) => Math.floor(code / inputs ** i) % inputs);
    const tables = Array.from({ length: inputs }, (_, input) => released([input, ...others].map(answer)));
    for (const p of tables) for (const q of tables) if (p !== q) worst = Math.max(worst, hockeyStick(p, q, epsilon));
  }
  return worst;
}

/** All vectors of independent bits. */
function bits(ones: readonly number[]): (readonly [readonly number[], number])[] {
  return Array.from({ length: 2 ** ones.length }, (_, code) => {
    const vector = ones.map((_, i) => (code >> i) & 1);
    return [
      vector,
      vector.reduce((p, bit, i) => p * (bit ? (ones[i] as number) : 1 - (ones[i] as number)), 1),
    ] as const;
  });
}

describe("against all datasets and outcomes of a few devices", () => {
  const CASES = [
    [0.5, 0.1],
    [0.5, 0.4],
    [1, 0.3],
    [2, 0.5],
    [3, 2.5],
  ] as const;

  it("randomized response is exact", () => {
    for (const [localEpsilon, epsilon] of CASES) {
      const p = 1 / (1 + Math.exp(localEpsilon));
      for (const devices of [1, 2, 3, 5, 8]) {
        const worst = worstByTryingAll(devices, 2, (bit) => bits([bit ? 1 - p : p]), epsilon);
        const { delta, bound } = aggregateDelta(devices, localEpsilon, epsilon);
        expect(bound).toBe("exact");
        expect(delta).toBeGreaterThanOrEqual(worst * (1 - 1e-12));
        expect(delta).toBeLessThanOrEqual(worst * (1 + 2e-6));
      }
    }
  });

  it("unary encoding and per-bucket response are exact for three buckets, also in the released vector of all", () => {
    const random = fc.sample(
      fc.tuple(fc.double({ min: 0.05, max: 6, noNaN: true }), fc.double({ min: 0.02, max: 0.999, noNaN: true })),
      { numRuns: 60, seed: 5 },
    );
    for (const [localEpsilon, epsilon] of [...CASES, ...random.map(([e0, share]) => [e0, share * e0] as const)]) {
      const noise = 1 / (1 + Math.exp(localEpsilon));
      const half = 1 / (1 + Math.exp(localEpsilon / 2));
      for (const devices of [1, 2, 3, 4]) {
        const unary = worstByTryingAll(
          devices,
          3,
          (bucket) => bits([0, 1, 2].map((b) => (b === bucket ? 0.5 : noise))),
          epsilon,
        );
        const perBucket = worstByTryingAll(
          devices,
          3,
          (bucket) => bits([0, 1, 2].map((b) => (b === bucket ? 1 - half : half))),
          epsilon,
        );
        for (const [mechanism, worst] of [
          ["unary", unary],
          ["per-bucket", perBucket],
        ] as const) {
          const { delta } = aggregateDelta(devices, localEpsilon, epsilon, { mechanism });
          expect(delta).toBeGreaterThanOrEqual(worst * (1 - 1e-12));
          expect(delta).toBeLessThanOrEqual(worst * (1 + 2e-5));
        }
      }
    }
  });

  it("K-ary response is never below, and exact for two buckets and for one device", () => {
    for (const [localEpsilon, epsilon] of CASES) {
      for (const [devices, buckets] of [
        [1, 3],
        [2, 3],
        [4, 3],
        [5, 2],
        [3, 4],
      ] as const) {
        const kappa = 1 / (Math.exp(localEpsilon) + buckets - 1);
        const range = Array.from({ length: buckets }, (_, b) => b);
        const answer = (bucket: number): (readonly [readonly number[], number])[] =>
          range.map((told) => [
            range.map((b) => Number(b === told)),
            told === bucket ? Math.exp(localEpsilon) * kappa : kappa,
          ]);
        const worst = worstByTryingAll(devices, buckets, answer, epsilon);
        const { delta } = aggregateDelta(devices, localEpsilon, epsilon, { mechanism: "kary", buckets });
        expect(delta).toBeGreaterThanOrEqual(worst * (1 - 1e-12));
        if (devices === 1 || buckets === 2) expect(delta).toBeLessThanOrEqual(worst * (1 + 2e-6));
        else expect(delta).toBeLessThan(1.3 * worst + 1e-12);
      }
    }
  });

  it("sums of discrete Gaussians, convolved: narrow and wide, few and many, any ε", () => {
    fc.assert(
      fc.property(
        fc.double({ min: -1.7, max: 0.8, noNaN: true }).map((log) => 10 ** log),
        fc.integer({ min: 2, max: 300 }),
        fc.integer({ min: 1, max: 6 }),
        fc.double({ min: 0, max: 16, noNaN: true }),
        (sigma2, devices, sensitivity, epsilon) => {
          const reference = convolvedDelta(sigma2, devices, sensitivity, epsilon);
          const delta = gaussianDelta({ sigma2, sensitivity, devices }, epsilon);
          if (reference < 1e-20) return;
          expect(delta).toBeGreaterThanOrEqual(reference * (1 - 1e-12));
          expect(delta).toBeLessThanOrEqual(reference * (1 + 1e-7) + 1e-25);
        },
      ),
      { numRuns: 600, seed: 7 },
    );
    // Narrow noise and large ε, where the transform's errors are largest.
    for (const [sigma2, sensitivity, devices, epsilon] of [
      [0.1194, 1, 5, 5.21],
      [0.1075, 3, 10, 14.86],
      [0.0461, 3, 3312, 13.8],
      [0.0362, 1, 6097, 6.61],
      [0.03, 1, 10, 15],
      [0.31657, 16, 2, 200],
      [0.071708, 14, 7, 200],
      [1.1686, 31, 20, 40.1],
    ] as const) {
      const ratio =
        gaussianDelta({ sigma2, sensitivity, devices }, epsilon) /
        convolvedDelta(sigma2, devices, sensitivity, epsilon);
      expect(ratio).toBeGreaterThanOrEqual(1 - 1e-12);
      expect(ratio).toBeLessThan(1 + 1e-6);
    }
  });
});

/** δ(ε) from the distribution of the sum, by squaring: all terms are positive, so errors are relative. */
function convolvedDelta(sigma2: number, devices: number, sensitivity: number, epsilon: number): number {
  const reach = Math.ceil(14 * Math.sqrt(sigma2)) + 8;
  const weights = Float64Array.from({ length: 2 * reach + 1 }, (_, i) => Math.exp(-((i - reach) ** 2) / (2 * sigma2)));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  let power: Float64Array = weights.map((weight) => weight / total);
  let sum: Float64Array = Float64Array.of(1);
  for (let rest = devices; rest > 0; rest = Math.floor(rest / 2)) {
    if (rest % 2 === 1) sum = convolve(sum, power);
    if (rest > 1) power = convolve(power, power);
  }
  let delta = 0;
  for (let x = 0; x < sum.length; x++) {
    delta += Math.max(0, (sum[x] as number) - Math.exp(epsilon) * (sum[x - sensitivity] ?? 0));
  }
  return delta;
}

/** Symmetric distributions around the middle; what is below 10⁻²⁰⁰ is cut off. */
function convolve(a: Float64Array, b: Float64Array): Float64Array {
  const product = new Float64Array(a.length + b.length - 1);
  for (let i = 0; i < a.length; i++) {
    for (let j = 0; j < b.length; j++)
      product[i + j] = (product[i + j] as number) + (a[i] as number) * (b[j] as number);
  }
  let cut = 0;
  while ((product[cut] as number) < 1e-200 && 2 * cut < product.length - 1) cut++;
  return product.slice(cut, product.length - cut);
}

describe("composition against all combinations of answers", () => {
  /** δ(ε) of several randomized responses with different ε₀, by trying all answers. */
  function exact(localEpsilons: readonly number[], epsilon: number): number {
    let delta = 0;
    for (let code = 0; code < 2 ** localEpsilons.length; code++) {
      let [p, q] = [1, 1];
      for (const [i, localEpsilon] of localEpsilons.entries()) {
        const wrong = 1 / (1 + Math.exp(localEpsilon));
        p *= (code >> i) & 1 ? wrong : 1 - wrong;
        q *= (code >> i) & 1 ? 1 - wrong : wrong;
      }
      delta += Math.max(0, p - Math.exp(epsilon) * q);
    }
    return delta;
  }

  it("is never better than exact composition, and hardly worse", () => {
    for (const localEpsilons of [
      [1],
      [1, 1],
      [0.5, 1, 2],
      [0.3, 0.7, 1.1, 1.3, 1.9, 2.3],
      [1, 0.01, 0.01, 0.01],
      [8, 1],
    ]) {
      const sum = localEpsilons.reduce((total, localEpsilon) => total + localEpsilon, 0);
      const charges = localEpsilons.map((localEpsilon) => pureCharge(localEpsilon));
      for (const share of [0.1, 0.4, 0.8, 0.99]) {
        const composed = composedDelta(charges, share * sum);
        const reference = exact(localEpsilons, share * sum);
        expect(composed).toBeGreaterThanOrEqual(reference * (1 - 1e-9));
        expect(composed).toBeLessThan(1.01 * exact(localEpsilons, (share - 0.03) * sum));
      }
      for (const delta of [1e-2, 1e-6, 1e-12]) {
        const epsilon = composedEpsilon(charges, delta);
        expect(exact(localEpsilons, epsilon)).toBeLessThanOrEqual(delta * (1 + 1e-9));
        expect(epsilon).toBeLessThanOrEqual(sum);
      }
    }
  });

  it("of equal ones meets the exact formula, and far below the sum where there are many", () => {
    for (const [times, localEpsilon] of [
      [3, 1],
      [50, 0.1],
      [1000, 0.05],
    ] as const) {
      for (const delta of [1e-3, 1e-9, 1e-15]) {
        const epsilon = composedEpsilon([pureCharge(localEpsilon, times)], delta);
        expect(repeatedDelta(times, localEpsilon, epsilon)).toBeLessThanOrEqual(delta * (1 + 1e-9));
        expect(repeatedDelta(times, localEpsilon, 0.995 * epsilon)).toBeGreaterThan(delta);
      }
    }
    expect(composedEpsilon([pureCharge(0.05, 1000)], 1e-9)).toBeLessThan(0.25 * 50);
  });

  it("counts the bulk where ε is below the mean loss, and ends for few large losses", () => {
    expect(composedDelta([pureCharge(1, 100_000)], 100)).toBeCloseTo(1, 9);
    const epsilon = composedEpsilon([pureCharge(1, 365_000)], 1e-6);
    expect(repeatedDelta(365_000, 1, epsilon)).toBeLessThanOrEqual(1e-6);
    expect(repeatedDelta(365_000, 1, 0.9999 * epsilon)).toBeGreaterThan(1e-6);
    expect(composedEpsilon([pureCharge(5, 3)], 1e-6)).toBeLessThanOrEqual(15);
  });

  it("of Gaussians is a wider Gaussian", () => {
    const wide = { sigma2: 400, sensitivity: 1, devices: 1 };
    const epsilon = composedEpsilon([gaussianCharge(wide, 16)], 1e-9);
    const together = gaussianDelta({ sigma2: 25, sensitivity: 1, devices: 1 }, epsilon);
    expect(together).toBeLessThanOrEqual(1e-9 * 1.001);
    expect(together).toBeGreaterThan(0.9e-9);
  });

  it("counts what no ε covers", () => {
    // With probability 10⁻⁷ all is revealed, else nothing.
    const leak = (times: number) => ({ times, delta: () => 1e-7 });
    expect(composedDelta([leak(1)], 1)).toBeGreaterThanOrEqual(1e-7);
    expect(composedDelta([leak(30), pureCharge(1)], 1)).toBeGreaterThanOrEqual(2.9999e-6);
    expect(composedDelta([leak(30), pureCharge(1)], 1.02)).toBeLessThan(4e-6);
    expect(() => composedEpsilon([leak(30)], 1e-6)).toThrow("no epsilon below");
  });

  it("nothing costs nothing", () => {
    expect(composedEpsilon([], 1e-6)).toBe(0);
    expect(composedEpsilon([pureCharge(0.5)], 0.5)).toBe(0);
  });
});
