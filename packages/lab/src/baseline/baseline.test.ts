import { readFileSync } from "node:fs";
import { type Randomness, seededRandomnessForTests } from "@lethe/core/randomness";
import { describe, expect, it } from "vitest";
import { expandedRandomness } from "../randomness/expanded-randomness.ts";
import { averageInformation, lowerBounds } from "./bounds.ts";
import { countOnes, createCoins } from "./coins.ts";
import { createCounter, type PlainCounter, type Scope, theoreticalError } from "./counters.ts";

type Row = Readonly<Record<string, number | null>> & { readonly eps: number; readonly T: number; readonly n: number };
const oracles: { readonly tv_and_lower_bound: readonly Row[]; readonly baseline_errors: readonly Row[] } = JSON.parse(
  readFileSync(new URL("../../test/oracles.json", import.meta.url), "utf8"),
);
const flipOf = (epsilon: number): number => 1 / (1 + Math.exp(epsilon));
const closeTo = (value: number, oracle: number, tolerance: number): void =>
  expect(Math.abs(value / oracle - 1)).toBeLessThan(tolerance);

describe("coins", () => {
  it("are exact: of all words of a length, the right share gives a 1, in every place", () => {
    for (const [eighths, digits] of [
      [1, 3],
      [2, 2],
      [3, 3],
      [4, 1],
      [6, 2],
      [7, 3],
    ] as const) {
      const ones = new Array<number>(32).fill(0);
      for (let code = 0; code < 2 ** digits; code++) {
        let drawn = 0;
        // The same digit in all places.
        const coins = createCoins(() => ((code >> drawn++) & 1 ? -1 : 0), eighths / 8);
        const word = coins();
        expect(drawn).toBeLessThanOrEqual(digits);
        for (let place = 0; place < 32; place++) ones[place] = (ones[place] as number) + ((word >>> place) & 1);
      }
      expect(ones).toEqual(new Array<number>(32).fill((eighths * 2 ** digits) / 8));
    }
  });

  it("are counted up to the last tick, no further", () => {
    for (const count of [0, 1, 31, 32, 33, 64, 100]) expect(countOnes(() => -1, count)).toBe(count);
    expect(() => createCoins(() => 0, 1 / 3)).toThrow(RangeError);
  });
});

it("expanded randomness repeats itself for a seed, goes on, and differs between seeds", () => {
  const read = (random: Randomness, length: number): number[] => {
    const bytes = new Uint8Array(length);
    random(bytes);
    return [...bytes];
  };
  const expanded = (seed: number): Randomness => expandedRandomness(seededRandomnessForTests(seed));
  const first = expanded(1);
  expect([...read(first, 3), ...read(first, 50)]).toEqual(read(expanded(1), 53));
  expect(read(expanded(1), 16)).not.toEqual(read(expanded(2), 16));
});

describe("counters", () => {
  const epsilon = 1.3;
  const TICKS = 4;
  const streams = Array.from({ length: 2 ** TICKS }, (_, code) =>
    Array.from({ length: TICKS }, (_, tick) => ((code >> tick) & 1) as 0 | 1),
  );
  const events = (stream: readonly number[]): number => stream.reduce((sum, bit) => sum + bit, 0);

  /**
   * The largest log-ratio of what an intruder sees at every tick, over all streams in question. Of a picked tick, given
   * which.
   */
  function largestLogRatio({ scope, ifZero, ifOne }: PlainCounter, among: readonly (readonly (0 | 1)[])[]): number {
    const seen = scope === "any" ? [1] : Array.from({ length: TICKS }, (_, tick) => tick);
    const tell = (event: 0 | 1, bit: number): number => {
      const one = event === 1 ? ifOne : ifZero;
      return bit === 1 ? one : 1 - one;
    };
    let largest = 0;
    for (const bits of streams) {
      const logs = among.map((stream) =>
        seen.reduce((sum, tick) => sum + Math.log(tell(stream[tick] as 0 | 1, bits[tick] as number)), 0),
      );
      largest = Math.max(largest, Math.max(...logs) - Math.min(...logs));
    }
    return largest;
  }

  it("cost ε against an intruder who sees every state, in their scope, and more in a wider one", () => {
    const counter = (scope: Scope): PlainCounter => createCounter(scope, flipOf(epsilon));
    const atMostOne = streams.filter((stream) => events(stream) <= 1);
    const pairs = atMostOne.filter((stream) => events(stream) === 1).map((one) => [streams[0] as (0 | 1)[], one]);
    for (const pair of pairs) expect(largestLogRatio(counter("zero-or-one"), pair)).toBeCloseTo(epsilon, 9);
    expect(largestLogRatio(counter("at-most-one"), atMostOne)).toBeCloseTo(epsilon, 9);
    expect(largestLogRatio(counter("any"), streams)).toBeCloseTo(epsilon, 9);
    expect(largestLogRatio(counter("zero-or-one"), atMostOne)).toBeCloseTo(2 * epsilon, 9);
    expect(largestLogRatio(counter("at-most-one"), streams)).toBeGreaterThan(1.2 * epsilon);
  });

  it("have the errors of an independent computation", () => {
    for (const row of oracles.baseline_errors) {
      const fleet = { devices: row.n, events: 0, ticks: row.T };
      const error = (scope: Scope): number => theoreticalError(createCounter(scope, flipOf(row.eps)), fleet);
      closeTo(error("zero-or-one"), row.baseline_zero_vs_one_rmse as number, 1e-9);
      closeTo(error("at-most-one"), row.baseline_strict_le1_event_rmse_S0 as number, 1e-9);
      closeTo(error("any"), row.baseline_literal_sampled_step_rmse_S0 as number, 1e-9);
    }
  });
});

describe("lower bounds", () => {
  it("are those of an independent computation", () => {
    for (const { eps, T, I_cosprior } of oracles.tv_and_lower_bound) {
      if (T < 10_000) closeTo(averageInformation(T, flipOf(eps)), I_cosprior as number, 1e-6);
    }
    for (const { eps, n, T, paper_LB_expr_const1, vanTrees_LB_rmse_le1_event } of oracles.baseline_errors) {
      if (T > 10_000) continue;
      const { paper, vanTrees } = lowerBounds(n, T, flipOf(eps));
      closeTo(paper, Math.min(paper_LB_expr_const1 as number, n / 2), 1e-9);
      if (vanTrees_LB_rmse_le1_event !== null) closeTo(vanTrees, vanTrees_LB_rmse_le1_event as number, 1e-6);
    }
  });
});
