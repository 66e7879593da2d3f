import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type Answers,
  aggregateCharge,
  aggregateDelta,
  aggregateEpsilon,
  composedEpsilon,
  gaussianCharge,
  gaussianDelta,
  gaussianEpsilon,
  localEpsilonFor,
  pureCharge,
  sigmaFor,
} from "../index.ts";

const ALL: readonly Answers[] = [
  { mechanism: "randomized-response" },
  { mechanism: "kary", buckets: 2 },
  { mechanism: "kary", buckets: 5 },
  { mechanism: "unary" },
  { mechanism: "per-bucket" },
];
const answers = fc.constantFrom(...ALL);
/** From 1 to 10⁹, each order of magnitude as likely. */
const devices = fc.double({ min: 0, max: 9, noNaN: true }).map((log) => Math.floor(10 ** log));
const localEpsilons = fc.double({ min: 0.1, max: 12, noNaN: true });
const epsilons = fc.double({ min: 0.1, max: 3, noNaN: true });
const deltas = fc.double({ min: -15, max: -2, noNaN: true }).map((log) => 10 ** log);
const FEW = { numRuns: 40, seed: 4 };

describe("what theory says of δ(ε), for every mechanism and from one device to 10⁹", () => {
  it("δ is a probability and falls as ε grows", () => {
    fc.assert(
      fc.property(
        devices,
        localEpsilons,
        answers,
        fc.double({ min: 0.01, max: 1, noNaN: true }),
        (n, local, how, share) => {
          const [near, far] = [share * local, Math.min(1.2 * share * local, local)];
          const larger = aggregateDelta(n, local, near, how, 1).delta;
          const smaller = aggregateDelta(n, local, far, how, 1).delta;
          expect(larger).toBeLessThanOrEqual(1);
          expect(smaller).toBeGreaterThanOrEqual(0);
          expect(smaller).toBeLessThanOrEqual(larger);
          expect(aggregateDelta(n, local, local, how).delta).toBe(0);
        },
      ),
      FEW,
    );
  });

  it("localEpsilonFor inverts it: what it gives is met, a little more is not", () => {
    fc.assert(
      fc.property(devices, epsilons, deltas, answers, (n, epsilon, delta, how) => {
        const local = localEpsilonFor(n, epsilon, delta, how);
        expect(local).toBeGreaterThanOrEqual(epsilon);
        expect(aggregateDelta(n, local, epsilon, how, 1).delta).toBeLessThanOrEqual(delta * (1 + 1e-9));
        const most = how.mechanism === "per-bucket" ? 40 : 20;
        if (1.01 * local < most) expect(aggregateDelta(n, 1.01 * local, epsilon, how).delta).toBeGreaterThan(delta);
      }),
      FEW,
    );
  });

  it("and aggregateEpsilon does", () => {
    fc.assert(
      fc.property(devices, localEpsilons, deltas, answers, (n, local, delta, how) => {
        const { epsilon } = aggregateEpsilon(n, local, delta, how, 1);
        expect(epsilon).toBeLessThanOrEqual(local);
        expect(aggregateDelta(n, local, epsilon, how, 1).delta).toBeLessThanOrEqual(delta * (1 + 1e-9));
      }),
      FEW,
    );
  });

  it("more devices never need more noise", () => {
    fc.assert(
      fc.property(devices, epsilons, deltas, answers, (n, epsilon, delta, how) => {
        const few = localEpsilonFor(n, epsilon, delta, how);
        const many = localEpsilonFor(Math.min(1e9, Math.ceil(1.1 * n)), epsilon, delta, how);
        expect(many).toBeGreaterThanOrEqual(few - 1e-6);
      }),
      FEW,
    );
    for (const how of ALL) {
      let last = 0;
      for (let n = 1; n <= 40; n++) {
        const local = localEpsilonFor(n, 0.7, 1e-6, how);
        expect(local).toBeGreaterThanOrEqual(last - 1e-6);
        last = local;
      }
    }
  });

  it("one device alone has its local guarantee", () => {
    for (const how of ALL) {
      const pure = localEpsilonFor(1, 1, 1e-9, how);
      expect(pure).toBeGreaterThanOrEqual(1);
      expect(pure).toBeLessThan(1 + 1e-7);
    }
  });
});

describe("sums of discrete Gaussians", () => {
  const sums = fc.record({
    sigma2: fc.double({ min: -1.5, max: 2, noNaN: true }).map((log) => 10 ** log),
    sensitivity: fc.integer({ min: 1, max: 30 }),
    devices,
  });

  it("δ falls as ε grows, and ε is the least at δ", () => {
    fc.assert(
      fc.property(sums, deltas, (sum, delta) => {
        const epsilon = gaussianEpsilon(sum, delta);
        expect(gaussianDelta(sum, epsilon)).toBeLessThanOrEqual(delta);
        expect(gaussianDelta(sum, 1.01 * epsilon)).toBeLessThanOrEqual(delta);
        if (epsilon > 0) expect(gaussianDelta(sum, 0.99 * epsilon)).toBeGreaterThan(delta);
      }),
      FEW,
    );
  });

  it("sigmaFor is met, a little less is not, and more devices need less", () => {
    fc.assert(
      fc.property(devices, epsilons, deltas, fc.integer({ min: 1, max: 30 }), (n, epsilon, delta, sensitivity) => {
        const sigma = sigmaFor(epsilon, delta, sensitivity, n);
        const deltaAt = (s: number): number =>
          gaussianDelta({ sigma2: (s * sensitivity) ** 2, sensitivity, devices: n }, epsilon);
        expect(deltaAt(sigma)).toBeLessThanOrEqual(delta);
        expect(deltaAt(0.99 * sigma)).toBeGreaterThan(delta);
        expect(sigmaFor(epsilon, delta, sensitivity, Math.min(1e9, 2 * n))).toBeLessThanOrEqual(sigma * (1 + 1e-7));
      }),
      FEW,
    );
  });
});

describe("no call hangs, and what cannot be said is refused", () => {
  it("noise so narrow that there is hardly any", () => {
    expect(gaussianEpsilon({ sigma2: 0.01, sensitivity: 1, devices: 2 }, 1e-6)).toBeGreaterThan(40);
    expect(gaussianDelta({ sigma2: 0.01, sensitivity: 1, devices: 2 }, 40)).toBeGreaterThan(0.99);
    expect(gaussianEpsilon({ sigma2: 0.2, sensitivity: 10, devices: 1 }, 1e-6)).toBeGreaterThan(200);
    expect(gaussianEpsilon({ sigma2: 0.033, sensitivity: 30, devices: 2 }, 1e-10)).toBeGreaterThan(1000);
    // Too weak for the grid: added up plainly.
    const mean = gaussianCharge({ sigma2: 0.0712, sensitivity: 10, devices: 1 });
    const alone = gaussianEpsilon({ sigma2: 0.0712, sensitivity: 10, devices: 1 }, 1e-6);
    expect(composedEpsilon([mean, pureCharge(1)], 1e-6)).toBeGreaterThan(alone);
    expect(composedEpsilon([mean, pureCharge(1)], 1e-6)).toBeLessThan(alone + 10);
  });

  it("very wide noise, also where ε is small", () => {
    const sum = { sigma2: 1e10, sensitivity: 1000, devices: 100 };
    const delta = gaussianDelta(sum, 1e-4);
    // The continuous Gaussian, from above by less than a ten-thousandth: Φ(x) = 1/2 + φ(0)(x − x³/6 + …) near 0.
    const [a, b] = [5e-4 - 0.1, -5e-4 - 0.1];
    const phi = (x: number): number => 0.5 + (x - x ** 3 / 6 + x ** 5 / 40 - x ** 7 / 336) / Math.sqrt(2 * Math.PI);
    const reference = phi(a) - Math.exp(1e-4) * phi(b);
    expect(delta / reference).toBeGreaterThan(1);
    expect(delta / reference).toBeLessThan(1.001);
  });

  it("K-ary response near ε = 0 and where the method changes", () => {
    const kary: Answers = { mechanism: "kary", buckets: 10 };
    expect(aggregateDelta(1e8, 5, 0, kary).delta).toBeLessThan(0.1);
    const epsilon = composedEpsilon([aggregateCharge(1e8, 5, kary, 10)], 1e-6);
    expect(epsilon).toBeLessThan(5 * aggregateEpsilon(1e8, 5, 1e-6, kary).epsilon);
    // Beyond a spread of 150 the sum is bounded, not computed: from one device to the next the bound must not rise.
    const kappa = 1 / (Math.exp(3) + 9);
    const few = Math.floor(150 ** 2 / (2 * kappa * (1 - 2 * kappa)));
    for (const near of [0.01, 0.05]) {
      let last = Number.POSITIVE_INFINITY;
      for (let n = few - 3; n < few + 4; n++) {
        const { delta } = aggregateDelta(n, 3, near, kary);
        expect(delta).toBeLessThanOrEqual(last * (1 + 1e-9));
        last = delta;
      }
    }
  });

  it("charges of very different size, and many of them", () => {
    const large = aggregateCharge(1e6, 5, { mechanism: "randomized-response" });
    const epsilon = composedEpsilon([large, pureCharge(0.001, 1_000_000)], 1e-6);
    expect(epsilon).toBeGreaterThan(composedEpsilon([pureCharge(0.001, 1_000_000)], 1e-6));
    expect(epsilon).toBeLessThan(8);
    expect(composedEpsilon([pureCharge(1e-17, 2)], 1e-6)).toBe(0);
    const narrow = gaussianCharge({ sigma2: 0.1, sensitivity: 1, devices: 1000 }, 1000);
    expect(composedEpsilon([narrow], 1e-9)).toBeGreaterThan(1);
  });
});

describe("close to ε₀, where differences cancel", () => {
  it("δ is not below that of the answer alone in a crowd that tells nothing", () => {
    // One device: δ = (e^ε₀ − e^ε)·κ for K-ary response, the same with κ = 1/(e^ε₀+1) for the others.
    fc.assert(
      fc.property(
        fc.double({ min: 0.01, max: 19.9, noNaN: true }),
        fc.double({ min: -13, max: -1, noNaN: true }),
        (local, log) => {
          const epsilon = local * (1 - 10 ** log);
          const gap = local - epsilon;
          const alone = (buckets: number): number =>
            (Math.exp(epsilon) * Math.expm1(gap)) / (Math.exp(local) + buckets - 1);
          const of = (how: Answers): number => aggregateDelta(1, local, epsilon, how).delta;
          expect(of({ mechanism: "randomized-response" })).toBeGreaterThanOrEqual(alone(2));
          expect(of({ mechanism: "kary", buckets: 7 })).toBeGreaterThanOrEqual(alone(7));
          // Half of the mass of unary encoding is where the own bucket says nothing.
          expect(of({ mechanism: "unary" })).toBeGreaterThanOrEqual(alone(2) / 2);
        },
      ),
      { numRuns: 300, seed: 9 },
    );
    const kary: Answers = { mechanism: "kary", buckets: 3 };
    expect(aggregateDelta(3, 19.706898204860543, 19.70689818797607, kary).delta).toBeGreaterThan(1.68e-8);
  });
});

describe("nonsense is refused, naming what is wrong", () => {
  it("devices, epsilon, delta, localEpsilon", () => {
    for (const n of [0, 1.5, -3, Number.NaN, 2e9]) expect(() => localEpsilonFor(n, 1, 1e-6)).toThrow("devices is");
    for (const epsilon of [0, -1, Number.NaN]) expect(() => localEpsilonFor(9, epsilon, 1e-6)).toThrow("epsilon is");
    for (const delta of [0, 1, 2, 1e-16, Number.NaN]) {
      expect(() => localEpsilonFor(9, 1, delta)).toThrow("delta is");
      expect(() => aggregateEpsilon(9, 1, delta)).toThrow("delta is");
      expect(() => sigmaFor(1, delta, 1)).toThrow("delta is");
    }
    for (const buckets of [1, 2.5, Number.NaN]) {
      expect(() => localEpsilonFor(9, 1, 0.1, { mechanism: "kary", buckets })).toThrow("buckets is");
    }
    expect(() => composedEpsilon([pureCharge(1, 0.5)], 1e-6)).toThrow("times is");
    expect(() => composedEpsilon([pureCharge(1)], 0)).toThrow("delta is");
    expect(() => gaussianDelta({ sigma2: Number.NaN, sensitivity: 1, devices: 1 }, 1)).toThrow("sigma2 is");
    expect(() => gaussianDelta({ sigma2: 1, sensitivity: 0.5, devices: 1 }, 1)).toThrow("sensitivity is");
    for (const local of [0, -1, 21, Number.NaN]) expect(() => aggregateDelta(9, local, 1)).toThrow("localEpsilon is");
  });
});
