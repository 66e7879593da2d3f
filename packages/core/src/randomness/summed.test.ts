import { describe, expect, it } from "vitest";
import { chiSquare, chiSquareAlarm } from "../../test/chi-square.ts";
import { fastRandomness } from "../../test/fast-randomness.ts";
import { addCentredBinomial } from "./centred-binomial.ts";
import type { Randomness } from "./randomness.ts";
import { addSummed } from "./summed.ts";
import { addTernary } from "./ternary.ts";

/** The exact distribution of a sum, by multiplying polynomials: how often each value from −reach to reach occurs. */
function exactCounts(single: readonly bigint[], count: number): bigint[] {
  let power = [1n];
  for (let i = 0; i < count; i++) {
    const next = new Array<bigint>(power.length + single.length - 1).fill(0n);
    for (const [a, x] of power.entries())
      for (const [b, y] of single.entries()) next[a + b] = (next[a + b] as bigint) + x * y;
    power = next;
  }
  return power;
}

/**
 * The same for thousands of samples, from the centre on, by other ways than the code's: the power of a polynomial as that
 * of one integer, and binomial coefficients without rounding.
 */
const FROM_CENTRE = {
  ternary: (count: number): bigint[] => {
    const digits = Math.ceil((count * Math.log2(3)) / 4);
    const x = 1n << BigInt(4 * digits);
    const power = ((1n + x + x * x) ** BigInt(count)).toString(16).padStart(digits * (2 * count + 1), "0");
    return Array.from({ length: count + 1 }, (_, j) => {
      return BigInt(`0x${power.slice(digits * (count + j), digits * (count + j + 1))}`);
    });
  },
  binomial: (count: number): bigint[] => {
    const h = BigInt(21 * count);
    let value = 1n;
    for (let i = 1n; i <= h; i++) value = (value * (h + i)) / i;
    return Array.from({ length: 3000 }, (_, j) => {
      const here = value;
      value = (value * (h - BigInt(j))) / (h + BigInt(j) + 1n);
      return here;
    });
  },
};

/** C(42, k): of one centred binomial sample. */
const BINOMIAL = Array.from({ length: 43 }, (_, k) => {
  let value = 1n;
  for (let i = 0; i < k; i++) value = (value * BigInt(42 - i)) / BigInt(i + 1);
  return value;
});

const SUMS = [
  { name: "ternary", single: [1n, 1n, 1n], kind: "ternary", addOne: addTernary },
  { name: "centred binomial", single: BINOMIAL, kind: "binomial", addOne: addCentredBinomial },
] as const;

/** One sum for a number u below 2¹⁹² and a sign: its first word and the sign in one draw, the rest in another, if it is asked for. */
function drawAt(kind: "ternary" | "binomial", count: number, u: bigint, sign: 0 | 1): number {
  const sums = new Int32Array(1);
  const draws: Randomness[] = [
    (into) => {
      expect(into.length).toBe(8);
      new Uint32Array(into.buffer).set([Number(u >> 160n), sign]);
    },
    (into) => {
      expect(into.length).toBe(20);
      for (let i = 0; i < 20; i++) into[i] = Number((u >> BigInt(8 * (19 - i))) & 0xffn);
    },
  ];
  addSummed(kind, (into) => (draws.shift() as Randomness)(into), count, sums);
  return sums[0] as number;
}

describe.each(SUMS)("the sum of $name samples", ({ name, single, kind, addOne }) => {
  it.each([2, 3, 10, 40])("of %i has the exact distribution, to 2⁻¹⁷⁰ at every value", (count) => {
    const counts = exactCounts(single, count);
    const centre = (counts.length - 1) / 2;
    const total = counts.reduce((sum, each) => sum + each);
    const slack = 1n << 22n;
    let upTo = 0n;
    for (let j = 0; j <= centre; j++) {
      upTo += (counts[centre + j] as bigint) * (j > 0 ? 2n : 1n);
      const bound = (upTo << 192n) / total;
      // Beyond this, single values are rarer than the slack.
      if (((counts[centre + j + 1] ?? 0n) << 192n) / total < 4n * slack) break;
      for (const sign of [0, 1] as const) {
        // `+ 0` makes one zero of both.
        expect(drawAt(kind, count, bound - slack, sign) + 0).toBe((sign ? -j : j) + 0);
        expect(drawAt(kind, count, bound + slack, sign)).toBe(sign ? -(j + 1) : j + 1);
      }
    }
    expect(drawAt(kind, count, 0n, 1) + 0).toBe(0);
  });

  it("of the 2,576 that a window adds by default has the exact distribution, to 2⁻¹⁷⁰ at values near and far", () => {
    const count = 2576;
    const counts = FROM_CENTRE[kind](count);
    const total = BigInt(name === "ternary" ? 3 : 2) ** BigInt(name === "ternary" ? count : 42 * count);
    const slack = 1n << 22n;
    const farthest = counts.findIndex((ways) => (ways << 192n) / total < 4n * slack) - 1;
    expect(farthest).toBeGreaterThan(name === "ternary" ? 550 : 2200);
    let upTo = 0n;
    for (let j = 0; j <= farthest; j++) {
      upTo += (counts[j] as bigint) * (j > 0 ? 2n : 1n);
      if (j > 1 && j % 101 > 0 && j < farthest - 1) continue;
      const bound = (upTo << 192n) / total;
      expect(drawAt(kind, count, bound - slack, 1) + 0).toBe(-j + 0);
      expect(drawAt(kind, count, bound + slack, 0)).toBe(j + 1);
    }
  });

  it("draws every value as often with either sign, and zero no more often than it is: magnitudes do not depend on signs", () => {
    const samples = 100_000;
    const sums = new Int32Array(samples);
    addSummed(kind, fastRandomness(`signs of ${name}`), 12, sums);
    const signs = sums.filter((sum) => sum !== 0).reduce((balance, sum) => balance + Math.sign(sum), 0);
    const zeros = samples - sums.filter((sum) => sum !== 0).length;
    const counts = exactCounts(single, 12);
    const zero =
      Number(((counts[(counts.length - 1) / 2] as bigint) * 1_000_000n) / counts.reduce((a, b) => a + b)) / 1e6;
    // Five standard deviations each: false alarms below 1.2e-6 in all.
    expect(Math.abs(signs)).toBeLessThan(5 * Math.sqrt(samples));
    expect(Math.abs(zeros - samples * zero)).toBeLessThan(5 * Math.sqrt(samples * zero) + samples / 1e6);
    // The same words with all signs turned give the same magnitudes.
    const turned = new Int32Array(1000);
    const straight = new Int32Array(1000);
    const withSigns = (flip: number): Randomness => {
      const random = fastRandomness(`turned ${name}`);
      return (into) => {
        random(into);
        if (into.length === 4 * (1000 + 32))
          into.subarray(4000).forEach((byte, i, all) => {
            all[i] = byte ^ flip;
          });
      };
    };
    addSummed(kind, withSigns(0), 12, straight);
    addSummed(kind, withSigns(0xff), 12, turned);
    expect(Array.from(turned, (sum) => -sum + 0)).toEqual(Array.from(straight));
  });

  it("has the distribution of added single samples (χ², false alarms below 1e-6)", () => {
    const [count, samples] = [30, 200_000];
    const random = fastRandomness(`sums of ${name}`);
    const [direct, added] = [new Int32Array(samples), new Int32Array(samples)];
    addSummed(kind, random, count, direct);
    for (let i = 0; i < count; i++) addOne(random, added);
    const width = name === "ternary" ? 1 : 4;
    const cells = 41;
    const histogram = (sums: Int32Array): number[] => {
      const found = new Array<number>(cells).fill(0);
      for (const sum of sums) {
        const cell = Math.min(Math.max(Math.round(sum / width) + 20, 0), cells - 1);
        found[cell] = (found[cell] as number) + 1;
      }
      return found;
    };
    const [left, right] = [histogram(direct), histogram(added)];
    const full = left.map((_, i) => i).filter((i) => (left[i] as number) + (right[i] as number) >= 20);
    const expected = full.map((i) => ((left[i] as number) + (right[i] as number)) / 2);
    const statistic =
      chiSquare(
        full.map((i) => left[i] as number),
        expected,
      ) +
      chiSquare(
        full.map((i) => right[i] as number),
        expected,
      );
    expect(full.length).toBeGreaterThan(15);
    expect(statistic).toBeLessThan(chiSquareAlarm(full.length - 1));
  });

  it("has the right variance and no mean for the thousands that a window adds", () => {
    const [count, samples] = [2576, 400_000];
    const sums = new Int32Array(samples);
    addSummed(kind, fastRandomness(`many of ${name}`), count, sums);
    const variance = count * (name === "ternary" ? 2 / 3 : 10.5);
    let [sum, squares] = [0, 0];
    for (const each of sums) {
      sum += each;
      squares += each * each;
    }
    // Five standard deviations each: false alarms below 1.2e-6 in all.
    expect(Math.abs(sum)).toBeLessThan(5 * Math.sqrt(samples * variance));
    expect(Math.abs(squares / samples / variance - 1)).toBeLessThan(5 * Math.sqrt(2 / samples));
  });
});
