import { seededRandomnessForTests, withBufferedRandomness } from "@lethe/core/randomness";
import { describe, expect, it } from "vitest";
import { majorityMistake } from "./binomial.ts";
import { countingTransitions, createRunningCount } from "./running-count.ts";
import { stateDistance } from "./small-space-encryption.ts";
import { distanceInLongWindow } from "./small-space-price.ts";
import { createJump, type Matrix, multiply, power, repeatedSquares } from "./transition-matrix.ts";

const FLIP = 0.3;

function binomial(n: number, p: number, k: number): number {
  let value = (1 - p) ** (n - k);
  for (let i = 1; i <= k; i++) value *= (p * (n - k + i)) / i;
  return value;
}

describe("repeated squaring", () => {
  const matrix = countingTransitions(30, FLIP);

  it("is as good as one step after the other, and gives the binomial distribution", () => {
    const quick = power(repeatedSquares(matrix, 21), 21);
    let slow: Matrix = matrix;
    for (let i = 1; i < 21; i++) slow = multiply(slow, matrix);
    for (let k = 0; k < 30; k++) {
      expect(quick.entries[k]).toBeCloseTo(slow.entries[k] as number, 14);
      expect(quick.entries[k]).toBeCloseTo(k <= 21 ? binomial(21, FLIP, k) : 0, 14);
    }
  });

  it("lets a walk jump to where steps would have taken it", () => {
    const jump = createJump(matrix, 21);
    const draws = 20_000;
    const counts = new Array<number>(30).fill(0);
    withBufferedRandomness(seededRandomnessForTests("jump"), (random) => {
      for (let i = 0; i < draws; i++) {
        const to = jump(2, 21, random);
        counts[to] = (counts[to] as number) + 1;
      }
    });
    for (const [to, count] of counts.entries()) {
      const p = to < 2 || to > 23 ? 0 : binomial(21, FLIP, to - 2);
      // Bernstein: 30 times 2·exp(−18) is below 1e-6.
      const far = Math.sqrt(2 * draws * p * (1 - p) * 18) + 18;
      expect(Math.abs(count - draws * p)).toBeLessThanOrEqual(p === 0 ? 0 : far);
    }
  });
});

describe("the distance of one client's states", () => {
  it.each([8, 16, 64])("is the exact total variation of the paper's lemma, corrected, after %i ticks", (ticks) => {
    const epsilon = 0.9;
    const counter = createRunningCount(2 * ticks, epsilon);
    const p = 1 / (1 + Math.exp(epsilon));
    const exact = (1 - 2 * p) * binomial(ticks - 1, p, Math.ceil(ticks * p) - 1);
    expect(stateDistance(counter.transitions(0), counter.transitions(1), ticks)).toBeCloseTo(exact, 10);
  });

  it("stays within the lemma's bound in a window of a million ticks", () => {
    const { distance, distanceBound, squarings } = distanceInLongWindow(2 ** 20, 64, 0.9);
    expect(squarings).toBe(19);
    expect(distance).toBeGreaterThan(0);
    expect(distance).toBeLessThan(distanceBound);
  });
});

it("a vote of three goes wrong if two or three err", () => {
  expect(majorityMistake(1, FLIP)).toBeCloseTo(FLIP, 12);
  expect(majorityMistake(3, FLIP)).toBeCloseTo(3 * FLIP ** 2 * (1 - FLIP) + FLIP ** 3, 12);
  // Of an even number, half of them is enough.
  expect(majorityMistake(2, FLIP)).toBeCloseTo(1 - (1 - FLIP) ** 2, 12);
});
