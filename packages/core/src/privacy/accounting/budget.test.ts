import { describe, expect, it } from "vitest";
import { type Budget, budgetFor, type Cost, gaussianCost, isWithinBudget, pureCost, sumOfCosts } from "./budget.ts";
import { type Charge, composedEpsilon, pureCharge } from "./composition.ts";
import { gaussianCharge } from "./gaussian-sum.ts";

const DELTA = 1e-6;
const repeated = (cost: Cost, times: number): Cost => sumOfCosts([cost], times);
/** How many such answers fit, up to a limit. */
const most = (epsilon: number, cost: Cost, limit = 2000): number => {
  let answers = 0;
  while (answers < limit && isWithinBudget(epsilon, repeated(cost, answers + 1))) answers++;
  return answers;
};

describe("the ρ of an ε-private answer", () => {
  it("bounds the Rényi divergence of randomized response at every order: α·ε·tanh(ε/2)", () => {
    for (const epsilon of [0.001, 0.1, 0.5, 1, 2, 5, 20]) {
      const [, rho] = pureCost(epsilon);
      for (let above = 0.01; above < 1e4; above *= 1.5) {
        const logCosh = (x: number): number => x + Math.log1p(Math.exp(-2 * x));
        const divergence = (logCosh((above + 0.5) * epsilon) - logCosh(epsilon / 2)) / above;
        expect(divergence).toBeLessThanOrEqual((1 + above) * (rho / 1e9) * (1 + 1e-6));
      }
      expect(rho / 1e9).toBeLessThanOrEqual(epsilon ** 2 / 2 + 1e-9);
    }
  });
});

describe("a budget", () => {
  it("takes as many answers without δ as their ε add up to, exactly", () => {
    expect(most(5, pureCost(1))).toBe(5);
    expect(most(1, pureCost(0.1))).toBe(10);
    expect(most(0.3, pureCost(0.1))).toBe(3);
    expect(most(1, pureCost(1 / 3))).toBe(2);
    expect(most(7, pureCost(0.7))).toBe(10);
  });

  it("takes more small answers than that, as they compose", () => {
    // 108 by the exact composition of [KOV15] for answers that are not chosen one after another.
    expect(most(5, pureCost(0.1))).toBe(90);
  });

  it("refuses whatever is not a number, and any ε out of range", () => {
    for (const epsilon of [Number.NaN, 0, -1, Number.POSITIVE_INFINITY, 101]) {
      expect(isWithinBudget(epsilon, pureCost(0.001))).toBe(false);
    }
    for (const wrong of [Number.NaN, Number.POSITIVE_INFINITY, 1e300]) {
      expect(isWithinBudget(100, pureCost(wrong))).toBe(false);
      expect(isWithinBudget(100, gaussianCost(1, wrong))).toBe(false);
    }
    expect(isWithinBudget(100, gaussianCost(0))).toBe(false);
    expect(budgetFor(gaussianCost(0))).toBe(Number.POSITIVE_INFINITY);
  });

  it("never asks for less ε than the accountant, and for at most a third more", () => {
    const limit = 10;
    const gaussian = (sigma: number, times: number): { cost: Cost; charge: Charge } => ({
      cost: repeated(gaussianCost(sigma), times),
      charge: gaussianCharge({ sigma2: (sigma * limit) ** 2, sensitivity: limit, devices: 1 }, times),
    });
    const pure = (epsilon: number, times: number): { cost: Cost; charge: Charge } => ({
      cost: repeated(pureCost(epsilon), times),
      charge: pureCharge(epsilon, times),
    });
    for (const parts of [
      [gaussian(1, 1)],
      [gaussian(5, 30)],
      [gaussian(30, 1)],
      [pure(0.03, 200)],
      [pure(1, 2), gaussian(5, 2)],
      [pure(0.5, 4), gaussian(20, 4)],
      [pure(0.1, 30), pure(0.5, 3), gaussian(10, 30)],
    ]) {
      const needed = budgetFor(sumOfCosts(parts.map(({ cost }) => cost)));
      const exact = composedEpsilon(
        parts.map(({ charge }) => charge),
        DELTA,
      );
      expect(needed).toBeGreaterThanOrEqual(exact * (1 - 1e-3));
      expect(needed).toBeLessThanOrEqual(exact * 1.33);
    }
  });

  /**
   * The operator sees each answer before it chooses the next question, out of two kinds, as long as the budget allows
   * it: the largest δ(ε) = E[(1 − e^{ε − loss})₊] over all ways to choose, by dynamic programming. Losses are whole
   * multiples of the smaller kind's.
   */
  function worstDelta({ epsilon }: Pick<Budget, "epsilon">, small: number, factor: number): number {
    const kinds = [
      { step: 1, cost: pureCost(small), right: 1 / (1 + Math.exp(-small)) },
      { step: factor, cost: pureCost(small * factor), right: 1 / (1 + Math.exp(-small * factor)) },
    ] as const;
    const known = new Map<number, number>();
    const worst = (a: number, b: number, loss: number): number => {
      const key = (a * 1000 + b) * 10_000 + loss + 5000;
      const found = known.get(key);
      if (found !== undefined) return found;
      let delta = Math.max(0, -Math.expm1(epsilon - loss * small));
      for (const [i, { step, right }] of kinds.entries()) {
        const [nextA, nextB] = i === 0 ? [a + 1, b] : [a, b + 1];
        const cost = sumOfCosts([repeated(kinds[0].cost, nextA), repeated(kinds[1].cost, nextB)]);
        if (!isWithinBudget(epsilon, cost)) continue;
        delta = Math.max(
          delta,
          right * worst(nextA, nextB, loss + step) + (1 - right) * worst(nextA, nextB, loss - step),
        );
      }
      known.set(key, delta);
      return delta;
    };
    return worst(0, 0, 0);
  }

  it.each([
    [1, 0.03, 5],
    [1, 0.04, 2],
    [2, 0.1, 4],
  ])(
    "of ε = %s is kept by every operator who chooses by earlier answers: ε₀ = %s, and %s times that",
    (epsilon, small, factor) => {
      const delta = worstDelta({ epsilon }, small, factor);
      console.log(JSON.stringify({ epsilon, small, factor, delta }));
      expect(delta).toBeLessThanOrEqual(DELTA);
    },
  );
});
