import { describe, expect, it } from "vitest";
import { type Answers, createDiscreteGaussian } from "../index.ts";
import { perBucketCoins, unaryCoins } from "./bucket-sum.ts";
import { type ClampedSum, clampedDelta, clampOf } from "./clamped-sum.ts";
import { boundedEpsilon, composedDelta } from "./composition.ts";
import { hijackedCharge, hijackedMeanCharge } from "./hijacked.ts";
import { responseCoins, responseSumDeltaAt } from "./response-sum.ts";

/** Probabilities of vectors of counts, by name. */
type Table = Map<string, number>;

function hockeyStick(p: Table, q: Table, epsilon: number): number {
  let delta = 0;
  for (const [outcome, probability] of p) delta += Math.max(0, probability - Math.exp(epsilon) * (q.get(outcome) ?? 0));
  return delta;
}

type Told = readonly (readonly [vector: readonly number[], probability: number])[];

/** The sums of a fixed report and of what honest devices answer. */
function released(report: readonly number[], honest: readonly Told[]): Table {
  let sums: Table = new Map([[report.join(), 1]]);
  for (const answers of honest) {
    const next: Table = new Map();
    for (const [key, before] of sums) {
      const sum = key.split(",").map(Number);
      for (const [vector, probability] of answers) {
        const added = vector.map((value, i) => value + (sum[i] as number)).join();
        next.set(added, (next.get(added) ?? 0) + before * probability);
      }
    }
    sums = next;
  }
  return sums;
}

/** The largest δ over all pairs of accepted reports and all that the honest devices may hold, by trying all. */
function worstByTryingAll(
  accepted: readonly (readonly number[])[],
  honest: number,
  answersOf: readonly Told[],
  epsilon: number,
): number {
  let worst = 0;
  const inputs = answersOf.length;
  for (let code = 0; code < inputs ** honest; code++) {
    const held = Array.from({ length: honest }, (_, i) => answersOf[Math.floor(code / inputs ** i) % inputs] as Told);
    const tables = accepted.map((report) => released(report, held));
    for (const p of tables) for (const q of tables) worst = Math.max(worst, hockeyStick(p, q, epsilon));
  }
  return worst;
}

/** All bit vectors; with the probability of each if bit i is 1 with probability heads[i]. */
function bitVectors(heads: readonly number[]): Told {
  return Array.from({ length: 2 ** heads.length }, (_, code) => {
    const vector = heads.map((_, i) => (code >> i) & 1);
    return [vector, heads.reduce((product, h, i) => product * (vector[i] ? h : 1 - h), 1)] as const;
  });
}

const EPSILONS = [0, 0.1, 0.5, 1, 2, 4];

describe("a report made from a captured state", () => {
  it("for randomized response: δ is that of the worst dataset, found by trying all", () => {
    for (const localEpsilon of [0.1, 1, 3]) {
      const { one, zero } = responseCoins(localEpsilon);
      for (let honest = 0; honest <= 7; honest++) {
        const charge = hijackedCharge(honest, localEpsilon, { mechanism: "randomized-response" }, 1, 1);
        for (const epsilon of EPSILONS) {
          const worst = worstByTryingAll(
            [[0], [1]],
            honest,
            [bitVectors([zero.heads]), bitVectors([one.heads])],
            epsilon,
          );
          expect(charge.delta(epsilon)).toBeGreaterThanOrEqual(worst);
          expect(charge.delta(epsilon)).toBeLessThanOrEqual(worst * (1 + 1e-3) + 1e-15);
        }
      }
    }
  });

  it("for K-ary response: exactly the worst, for any two buckets", () => {
    for (const buckets of [3, 4]) {
      const unit = (bucket: number): number[] => Array.from({ length: buckets }, (_, b) => Number(b === bucket));
      const units = Array.from({ length: buckets }, (_, b) => unit(b));
      for (const localEpsilon of [0.3, 2]) {
        const kappa = 1 / (Math.exp(localEpsilon) + buckets - 1);
        const answersOf = units.map((_, held) =>
          units.map((vector, b) => [vector, b === held ? Math.exp(localEpsilon) * kappa : kappa] as const),
        );
        for (let honest = 0; honest <= 4; honest++) {
          const charge = hijackedCharge(honest, localEpsilon, { mechanism: "kary", buckets });
          for (const epsilon of EPSILONS) {
            const worst = worstByTryingAll(units, honest, answersOf, epsilon);
            expect(charge.delta(epsilon)).toBeGreaterThanOrEqual(worst * (1 - 1e-12));
            expect(charge.delta(epsilon)).toBeLessThanOrEqual(worst * (1 + 1e-9) + 1e-15);
          }
        }
      }
    }
  });

  it("for unary encoding and responses per bucket: all bits at once, never below the worst", () => {
    for (const [mechanism, coinsAt] of [
      ["unary", unaryCoins],
      ["per-bucket", perBucketCoins],
    ] as const) {
      for (const localEpsilon of [0.5, 2]) {
        const { one, zero } = coinsAt(localEpsilon);
        const answersOf = [0, 1, 2].map((held) => bitVectors([0, 1, 2].map((b) => (b === held ? one : zero).heads)));
        const accepted = bitVectors([0.5, 0.5, 0.5]).map(([vector]) => vector);
        for (const honest of [1, 2, 3]) {
          const charge = hijackedCharge(honest, localEpsilon, { mechanism, buckets: 3 });
          for (const epsilon of EPSILONS) {
            const worst = worstByTryingAll(accepted, honest, answersOf, epsilon);
            expect(composedDelta([charge], epsilon)).toBeGreaterThanOrEqual(worst * (1 - 1e-9));
          }
        }
      }
    }
  });

  it("of a mean, at both ends of the clamp: never below the worst over all that the others may hold", () => {
    const limit = 2;
    for (const sigma of [0.3, 0.75, 1.5]) {
      const { sigma2 } = createDiscreteGaussian(sigma);
      const clamp = clampOf({ sigma2 });
      const ends = [[-clamp], [limit + clamp]];
      for (const honest of [1, 2, 3]) {
        const answersOf = clampedAnswers(sigma2, limit, clamp);
        const charge = hijackedMeanCharge({ sigma2, sensitivity: limit, clamp, devices: honest });
        for (const epsilon of EPSILONS) {
          const worst = worstByTryingAll(ends, honest, answersOf, epsilon);
          expect(charge.delta(epsilon)).toBeGreaterThanOrEqual(worst * (1 - 1e-9));
        }
      }
    }
  });

  it("has the figures that a forger was seen to reach at n = 1,000 and δ = 10⁻⁶, or more", () => {
    const at = (localEpsilon: number, mechanism: "randomized-response" | "unary" | "per-bucket", buckets = 2): number =>
      boundedEpsilon([hijackedCharge(999, localEpsilon, { mechanism, buckets } as Answers, 1, 0.2)], 1e-6);
    expect(at(1, "randomized-response")).toBeGreaterThan(0.2911);
    expect(at(1, "randomized-response")).toBeLessThan(0.296);
    expect(at(0.1, "randomized-response")).toBeGreaterThan(0.2455);
    expect(at(0.1, "randomized-response")).toBeLessThan(0.25);
    expect(at(1, "unary", 16)).toBeGreaterThan(0.74);
    expect(at(1, "per-bucket", 16)).toBeGreaterThan(1.119);
    expect(at(1, "per-bucket", 16)).toBeLessThan(1.15);
  });

  it("has no figure for vectors of an unknown number of buckets", () => {
    for (const mechanism of ["unary", "per-bucket"] as const) {
      expect(() => hijackedCharge(999, 1, { mechanism })).toThrow(RangeError);
      for (const buckets of [1, 2.5, Number.NaN]) {
        expect(() => hijackedCharge(999, 1, { mechanism, buckets })).toThrow(`from 2 on, not ${buckets}`);
      }
    }
  });

  it("is not hidden by too few, and that is said", () => {
    const one = hijackedCharge(0, 1, { mechanism: "randomized-response" });
    expect(boundedEpsilon([one], 1e-6)).toBe(Number.POSITIVE_INFINITY);
    const few = hijackedCharge(30, 1, { mechanism: "kary", buckets: 5 });
    expect(boundedEpsilon([few], 1e-6)).toBe(Number.POSITIVE_INFINITY);
  });
});

describe("honest devices whose answers are clamped", () => {
  it("are hidden as promised, whatever the others hold", () => {
    const limit = 2;
    for (const sigma of [0.75, 1.5]) {
      const { sigma2 } = createDiscreteGaussian(sigma);
      const clamp = clampOf({ sigma2 });
      const answersOf = clampedAnswers(sigma2, limit, clamp);
      for (const others of [1, 2]) {
        const sum: ClampedSum = { sigma2, sensitivity: limit, clamp, devices: others + 1 };
        for (const epsilon of EPSILONS) {
          let worst = 0;
          for (let code = 0; code < 3 ** others; code++) {
            const held = Array.from({ length: others }, (_, i) => answersOf[Math.floor(code / 3 ** i) % 3] as Told);
            const tables = answersOf.map((own) => released([0], [own, ...held]));
            for (const p of tables) for (const q of tables) worst = Math.max(worst, hockeyStick(p, q, epsilon));
          }
          expect(clampedDelta(sum, epsilon)).toBeGreaterThanOrEqual(worst * (1 - 1e-9));
        }
      }
    }
  });

  it("moves a mean by less than 10⁻⁵ of a device's noise", () => {
    for (const sigma of [2, 5, 20, 300]) {
      const { sigma2 } = createDiscreteGaussian(sigma);
      const [none] = clampedAnswers(sigma2, 0, clampOf({ sigma2 })) as [Told];
      const [wide] = clampedAnswers(sigma2, 100 * Math.ceil(sigma), clampOf({ sigma2 })) as [Told];
      const mean = (answers: Told): number => answers.reduce((sum, [[value], p]) => sum + (value as number) * p, 0);
      expect(Math.abs(mean(none))).toBeLessThan(1e-12);
      expect(Math.abs(mean(wide)) / sigma).toBeLessThan(1e-5);
      expect(Math.abs(mean(wide)) / sigma).toBeGreaterThan(1e-7);
    }
  });
});

/** What devices that hold 0, 1, … limit answer, clamped. */
function clampedAnswers(sigma2: number, limit: number, clamp: number): Told[] {
  const reach = Math.ceil(12 * Math.sqrt(sigma2)) + 2;
  const noise = Array.from({ length: 2 * reach + 1 }, (_, i) => Math.exp(-((i - reach) ** 2) / (2 * sigma2)));
  const total = noise.reduce((sum, weight) => sum + weight, 0);
  return Array.from({ length: Math.min(limit, 2) + 1 }, (_, held) => {
    const table = new Map<number, number>();
    for (const [i, weight] of noise.entries()) {
      const value = Math.min(Math.max(held + i - reach, -clamp), limit + clamp);
      table.set(value, (table.get(value) ?? 0) + weight / total);
    }
    return [...table].map(([value, probability]) => [[value], probability] as const);
  });
}

describe("sums whose first terms are too small for a double", () => {
  it("count all the same: 33 of 39 others hold a 1 and tell it with probability 1 − 2·10⁻⁹", () => {
    expect(responseSumDeltaAt([33], 40, 20, 5)).toBeCloseTo(0.99999, 5);
  });
});
