import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { chiSquare, chiSquareAlarm } from "../../../test/chi-square.ts";
import { seededRandomnessForTests } from "../../randomness/index.ts";
import { INVALID_COUNT_EPSILON, INVALID_COUNT_STANDARD_ERROR, noisedInvalidCount } from "../index.ts";
import { type Coin, logBinomial, lowerPart } from "./binomial.ts";
import { sumOfCoins } from "./coin-sum.ts";
import { crossing } from "./crossing.ts";
import { karySumDelta } from "./kary-sum.ts";
import { sumAround } from "./tilted-sum.ts";
import { climb, worstCase } from "./worst-case.ts";

const coins = fc.double({ min: -12, max: 0, noNaN: true }).map((log): Coin => {
  const heads = 10 ** log / 2;
  return { heads, tails: 1 - heads };
});
const swapped = ({ heads, tails }: Coin): Coin => ({ heads: tails, tails: heads });

/** Probabilities of Bin(n, coin), by adding one coin at a time. */
function tossed(distribution: number[], n: number, { heads, tails }: Coin): number[] {
  let current = distribution;
  for (let i = 0; i < n; i++) {
    current = Array.from(
      { length: current.length + 1 },
      (_, y) => tails * (current[y] ?? 0) + heads * (current[y - 1] ?? 0),
    );
  }
  return current;
}

describe("sums of coins", () => {
  it("have the distribution of tossing them one by one, to ten digits also in the tails", () => {
    fc.assert(
      fc.property(fc.nat(40), coins, fc.nat(40), coins, fc.boolean(), (u, rare, v, other, likely) => {
        const one = likely ? swapped(rare) : rare;
        const { first, probabilities } = sumOfCoins(u, one, v, other);
        const reference = tossed(tossed([1], u, one), v, other);
        for (const [i, probability] of probabilities.entries()) {
          const expected = reference[first + i] as number;
          if (expected > 1e-250) expect(Math.abs(probability / expected - 1)).toBeLessThan(1e-10);
        }
        const inside = probabilities.reduce((sum, probability) => sum + probability, 0);
        expect(Math.abs(inside - 1)).toBeLessThan(1e-11);
      }),
      { numRuns: 300, seed: 1 },
    );
  });

  it("of a thousand million people add up to 1", () => {
    for (const heads of [0.5, 1e-3, 1e-8]) {
      const { probabilities } = sumOfCoins(3e8, { heads: 1 - heads, tails: heads }, 7e8, { heads, tails: 1 - heads });
      expect(probabilities.reduce((sum, probability) => sum + probability, 0)).toBeCloseTo(1, 6);
    }
  });

  it("parts of a binomial: probability and mean up to a number", () => {
    const coin = { heads: 0.3, tails: 0.7 };
    for (const most of [-1, 0, 3, 6, 11, 20, 25]) {
      let [probability, mean] = [0, 0];
      for (let x = 0; x <= Math.min(most, 20); x++) {
        probability += Math.exp(logBinomial(20, coin, x));
        mean += x * Math.exp(logBinomial(20, coin, x));
      }
      const part = lowerPart(20, coin, most);
      expect(part.probability).toBeCloseTo(probability, 13);
      expect(part.mean).toBeCloseTo(mean, 12);
    }
  });
});

describe("tilted sums", () => {
  it("have relative errors far in the tail", () => {
    // 30 dice of a kind and one of another, at sums with probabilities down to 10⁻³⁰.
    const die = Float64Array.of(0.5, 0.25, 0.125, 0.125);
    const other = Float64Array.of(0.9, 0, 0, 0, 0, 0.1);
    let reference = [...other];
    for (let i = 0; i < 30; i++) {
      const next = new Array<number>(reference.length + 3).fill(0);
      for (const [x, p] of reference.entries()) {
        for (const [y, q] of die.entries()) next[x + y] = (next[x + y] as number) + p * q;
      }
      reference = next;
    }
    for (const target of [3, 25, 60, 94]) {
      const { first, weights, tilt, logScale } = sumAround(
        [
          { first: 0, probabilities: die, times: 30 },
          { first: 0, probabilities: other, times: 1 },
        ],
        target,
      );
      const found = (weights[target - first] as number) * Math.exp(logScale - tilt * target);
      expect(found / (reference[target] as number)).toBeCloseTo(1, 9);
    }
  });
});

describe("K-ary response where it is bounded, not computed", () => {
  it("is never below the computed value, at any spread, and close above it where that is large", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 2, max: 20 }),
        fc.double({ min: 0.3, max: 6, noNaN: true }),
        fc.double({ min: 0.01, max: 0.95, noNaN: true }),
        fc.double({ min: 0, max: 2.2, noNaN: true }),
        (buckets, localEpsilon, share, log) => {
          const kappa = 1 / (Math.exp(localEpsilon) + buckets - 1);
          const spread = 10 ** log;
          const devices = Math.ceil(spread ** 2 / (2 * kappa));
          const computed = karySumDelta(devices, buckets, localEpsilon, share * localEpsilon, 1e9);
          const bound = karySumDelta(devices, buckets, localEpsilon, share * localEpsilon, 0);
          if (computed < 1e-100) return;
          expect(bound).toBeGreaterThanOrEqual(computed);
          if (spread > 100 && computed > 1e-20) expect(bound).toBeLessThan(1.2 * computed);
        },
      ),
      { numRuns: 200, seed: 6 },
    );
  });
});

describe("branch and bound", () => {
  it("finds the largest value of any table, whatever the bounds are, and no box is lost", () => {
    const table = fc.array(fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 7, maxLength: 7 }), {
      minLength: 5,
      maxLength: 5,
    });
    fc.assert(
      fc.property(table, fc.double({ min: 1, max: 3, noNaN: true }), (values, slack) => {
        const { lower, upper, at } = worstCase(
          { low: [0, 0], high: [4, 6] },
          {
            bound: ({ low: [a, b], high: [c, d] }) => {
              const inside = values.slice(a, (c as number) + 1).flatMap((row) => row.slice(b, (d as number) + 1));
              return inside.length === 1 ? (inside[0] as number) : slack * Math.max(...inside);
            },
            candidates: [[0, 0]],
            tolerance: 0,
            mostEvaluations: 1000,
          },
        );
        const largest = Math.max(...values.flat());
        expect(lower).toBe(largest);
        expect(upper).toBe(largest);
        expect(values[at[0] as number]?.[at[1] as number]).toBe(largest);
      }),
      { seed: 2 },
    );
  });

  it("cut short it still bounds from above", () => {
    const value = (x: number): number => 1 / (1 + (x - 700) ** 2);
    const search = { candidates: [[0]], tolerance: 1e-9, mostEvaluations: 12 };
    const { lower, upper } = worstCase(
      { low: [0], high: [1000] },
      {
        ...search,
        bound: ({ low: [a], high: [b] }) => Math.max(value(a as number), value(b as number), a === b ? 0 : 1),
      },
    );
    expect(upper).toBeGreaterThanOrEqual(1);
    expect(lower).toBeLessThanOrEqual(1);
    expect(climb([0], { low: [0], high: [1000] }, ([x]) => -Math.abs((x as number) - 300))[0]).toBe(300);
  });
});

describe("crossing", () => {
  it("stays on the safe side, whichever way the function goes and wherever the search starts", () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0.01, max: 9.99, noNaN: true }),
        fc.double({ min: 0, max: 10, noNaN: true }),
        fc.double({ min: 0.5, max: 50, noNaN: true }),
        (root, guess, steepness) => {
          const rising = crossing((x) => Math.exp(steepness * (x - root)), 1, 0, 10, guess);
          expect(rising).toBeLessThanOrEqual(root * (1 + 1e-12));
          expect(rising).toBeGreaterThan(root - 1e-6);
          const falling = crossing((x) => Math.exp(steepness * (root - x)), 1, 10, 0, guess);
          expect(falling).toBeGreaterThanOrEqual(root * (1 - 1e-12));
          expect(falling).toBeLessThan(root + 1e-6);
        },
      ),
      { seed: 3 },
    );
    expect(crossing(() => 0.5, 1, 0, 10, 5)).toBe(10);
    expect(crossing(() => 2, 1, 0, 10, 5)).toBeLessThan(1e-3);
    expect(() => crossing(() => Number.NaN, 1, 0, 10, 5)).toThrow(RangeError);
  });
});

describe("the published number of invalid reports", () => {
  it("has discrete Laplace noise that costs what is charged for it (χ², false alarm 1e-6)", () => {
    const random = seededRandomnessForTests("invalid");
    const SAMPLES = 20_000;
    const ratio = Math.exp(-INVALID_COUNT_EPSILON / 2);
    const most = 120;
    const observed = new Array<number>(2 * most + 1).fill(0);
    let squares = 0;
    for (let i = 0; i < SAMPLES; i++) {
      const noise = noisedInvalidCount(7, random) - 7;
      squares += noise * noise;
      const slot = Math.min(Math.max(noise + most, 0), 2 * most);
      observed[slot] = (observed[slot] as number) + 1;
    }
    const probability = (x: number): number => ((1 - ratio) / (1 + ratio)) * ratio ** Math.abs(x);
    const tail = ratio ** most / (1 + ratio);
    const expected = observed.map((_, i) => {
      return SAMPLES * (i === 0 || i === 2 * most ? tail : probability(i - most));
    });
    // Classes of eleven, so that each is expected often enough.
    const grouped = (counts: readonly number[]): number[] =>
      Array.from({ length: Math.ceil(counts.length / 11) }, (_, g) =>
        counts.slice(11 * g, 11 * g + 11).reduce((sum, count) => sum + count, 0),
      );
    const [seen, foreseen] = [grouped(observed), grouped(expected)];
    expect(chiSquare(seen, foreseen)).toBeLessThan(chiSquareAlarm(seen.length - 1));
    expect(Math.sqrt(squares / SAMPLES) / INVALID_COUNT_STANDARD_ERROR).toBeCloseTo(1, 1);
    // One device moves the count by at most one in each of two ways: e^{2·ε/2} in all.
    expect(probability(0) / probability(2)).toBeCloseTo(Math.exp(INVALID_COUNT_EPSILON), 12);
  });
});
