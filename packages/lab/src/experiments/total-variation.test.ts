import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { distanceAt, runTotalVariation, summarizeDistances, totalVariation } from "./total-variation.ts";

interface Oracle {
  readonly eps: number;
  readonly T: number;
  readonly TV: string;
  readonly TV_upper: string;
  readonly TV_paper_rhs_factor2: string;
}
const oracles: { readonly tv_and_lower_bound: readonly Oracle[] } = JSON.parse(
  readFileSync(new URL("../../test/oracles.json", import.meta.url), "utf8"),
);

const closeTo = (value: number, oracle: string, tolerance: number): void =>
  expect(Math.abs(value / Number(oracle) - 1)).toBeLessThan(tolerance);

it("all four values are those of an independent computation with 50 digits, up to a million ticks", () => {
  for (const { eps, T, TV, TV_upper, TV_paper_rhs_factor2 } of oracles.tv_and_lower_bound) {
    const { exact, closedForm, printed, bound } = distanceAt(T, 1 / (1 + Math.exp(eps)));
    closeTo(exact, TV, 1e-12);
    closeTo(closedForm, TV, 1e-12);
    closeTo(printed, TV_paper_rhs_factor2, 1e-12);
    closeTo(bound, TV_upper, 1e-12);
  }
});

it("the exact distance is that of two worlds of a few ticks, bit by bit", () => {
  const p = 0.3;
  for (const T of [2, 3, 7]) {
    const worlds = [0, 1].map((event) => {
      const counts = new Array<number>(T + 1).fill(0);
      for (let bits = 0; bits < 2 ** T; bits++) {
        const told = Array.from({ length: T }, (_, t) => (bits >> t) & 1);
        const count = told.reduce((sum, bit) => sum + bit, 0);
        const probability = told.reduce((product, bit, t) => product * (bit === (t === 0 ? event : 0) ? 1 - p : p), 1);
        counts[count] = (counts[count] as number) + probability;
      }
      return counts;
    }) as [number[], number[]];
    const distance = worlds[0].reduce((sum, mass, m) => sum + Math.abs(mass - (worlds[1][m] as number)), 0) / 2;
    expect(distanceAt(T, p).exact).toBeCloseTo(distance, 14);
  }
});

it("the printed equality is found to be twice too large, and above its own bound", () => {
  const points = runTotalVariation({ epsilons: [0.5, 2], ticks: [2, 100, 3000] }, { progress: () => {} });
  const { largestGap, printedRatio, printedAboveBound, shareOfBound } = summarizeDistances(points);
  expect(largestGap).toBeLessThan(1e-12);
  expect(printedRatio[0]).toBeCloseTo(2, 9);
  expect(printedRatio[1]).toBeCloseTo(2, 9);
  expect(printedAboveBound).toBe(points.length);
  expect(shareOfBound[1]).toBeLessThan(1);
  // Were the printed one taken for right, the summary would say so.
  const asPrinted = points.map((point) => ({ ...point, closedForm: point.printed }));
  expect(summarizeDistances(asPrinted).largestGap).toBeCloseTo(1, 9);
});

it("at its full size the JSON has every distance of every point", async () => {
  const shares: number[] = [];
  const { json, reading } = await totalVariation.run({ random: () => {}, progress: (share) => shares.push(share) });
  const { points } = json as { points: Record<string, number>[] };
  expect(points.some(({ T }) => T === 1_000_000)).toBe(true);
  for (const point of points) {
    for (const field of ["T", "p", "exact", "closedForm", "bound"]) expect(point[field]).toBeTypeOf("number");
  }
  for (const { eps, T } of oracles.tv_and_lower_bound) {
    expect(points.some((point) => point.T === T && point.epsilon === eps)).toBe(true);
  }
  expect(shares.at(-1)).toBe(1);
  expect(reading).not.toMatch(/NOT|FAILS/);
});
