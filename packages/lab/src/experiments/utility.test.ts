import { readFileSync } from "node:fs";
import { sigmaFor } from "@lethe/core/privacy";
import { seededRandomnessForTests } from "@lethe/core/randomness";
import { createStatistic } from "@lethe/core/statistic";
import { beforeAll, describe, expect, it } from "vitest";
import { histogramOf, meanOf, type UtilityCase, utilityCases } from "../utility/cases.ts";
import { type Comparison, compare } from "../utility/errors.ts";
import { largestLogRatio } from "../utility/paper.ts";
import { runCase } from "../utility/run.ts";
import { runUtility, type UtilityResult, type UtilityRow } from "./utility.ts";
import { describeUtility } from "./utility-finding.ts";

/** Of normal figures, on both sides together: a false alarm once in 10⁷, so in fewer than 10⁻⁶ runs of this file. */
const ALARM = 5.7;

/** An RMSE over `freedom` independent errors has a relative error of 1/√(2·freedom). */
function expectAsStated({ ratio, freedom, bias }: Comparison, name: string): void {
  expect(Math.abs(Math.log(ratio)) * Math.sqrt(2 * freedom), `error of ${name}`).toBeLessThan(ALARM);
  expect(Math.abs(bias), `bias of ${name}`).toBeLessThan(ALARM);
}

const isLattice = ({ spec }: UtilityCase): boolean => "one" in spec && spec.scheme === "lattice";
/** Of ElGamal and two servers one each, which is what there is time for; `utility.slow.test.ts` has them all. */
function reducedCases(): UtilityCase[] {
  const all = utilityCases(0.12);
  const elgamalMean = all.find(
    ({ spec }) => "one" in spec && spec.scheme === "elgamal" && spec.one.statistic === "mean",
  );
  const twoServerMean = all.find(({ spec }) => "two" in spec && spec.two.statistic === "mean");
  return [...all.filter(isLattice), elgamalMean as UtilityCase, twoServerMean as UtilityCase];
}

let result: UtilityResult;
beforeAll(async () => {
  result = await runUtility(
    { plain: { devices: 50, runs: 500 }, cases: reducedCases(), paperWindows: 12 },
    { random: seededRandomnessForTests("utility"), progress: () => {} },
  );
});

it("errors are as large as stated, and unbiased", () => {
  expect(result.rows.length).toBe(12);
  for (const row of result.rows) expectAsStated(row, `${row.statistic}, ${row.scheme}, ${row.mechanism}`);
});

describe("the paper's variants", () => {
  const { paper_checks: oracles } = JSON.parse(
    readFileSync(new URL("../../test/oracles.json", import.meta.url), "utf8"),
  ) as {
    paper_checks: {
      A2_noise: { k: number; eps_at_1e6_paper: number }[];
      A4: { eps0: number; paper_over_sqrt_n: number; exact_std_over_sqrt_n: number }[];
    };
  };

  it("the printed error of randomized response is another, at every ε", () => {
    for (const row of result.paper.responses) {
      expectAsStated(row, `responses at ε = ${row.epsilon}`);
      expect(Math.abs(Math.log(row.printed / row.theory))).toBeGreaterThan(row.epsilon === 1 ? 0.1 : 1.5);
      const oracle = oracles.A4.find(({ eps0 }) => eps0 === row.epsilon);
      if (!oracle) continue;
      expect(row.printed / Math.sqrt(row.devices)).toBeCloseTo(oracle.paper_over_sqrt_n, 9);
      expect(row.theory / Math.sqrt(row.devices)).toBeCloseTo(oracle.exact_std_over_sqrt_n, 6);
    }
  });

  it("algorithms 3 and 4 have the error of their printed noise, and cost more than they say", () => {
    const [histogram, mean] = result.paper.algorithms;
    for (const row of [histogram, mean]) expectAsStated(row as Comparison, (row as { algorithm: string }).algorithm);
    expect(histogram?.epsilonTrue).toBeCloseTo(2, 6);
    // What goes through all answers agrees with what our mechanism says of itself.
    const { server } = createStatistic("lattice", histogramOf("per-bucket", 2));
    expect(histogram?.epsilonTrue).toBeCloseTo(server.localEpsilon(), 2);
    // A single bucket differs from nothing, and two change together however many there are.
    expect([1, 2, 5].map((buckets) => Number(largestLogRatio(buckets, 0.5).toFixed(6)))).toEqual([0, 1, 1]);
    expect(mean?.epsilonTrue).toBeCloseTo(oracles.A2_noise.find(({ k }) => k === 10)?.eps_at_1e6_paper as number, 4);
  });

  it("their loops lose devices, and invent them", () => {
    expect(result.paper.counts.map(({ truth, printed }) => [truth, printed])).toEqual([
      [1.25, 0.875],
      [2, 5],
    ]);
  });
});

describe("what is wrong is noticed", () => {
  it("too little noise: the paper's for a mean, where the right one is stated", async () => {
    const sigma = sigmaFor(1, 1e-6, 1);
    const run = (spec: number): Promise<Awaited<ReturnType<typeof runCase>>> =>
      runCase(
        { spec: { scheme: "lattice", one: meanOf(10, spec) }, devices: 2, windows: 25, metrics: 1 },
        seededRandomnessForTests("too little"),
      );
    const printed = await run(sigma / Math.sqrt(10));
    const right = await run(sigma);
    const { high } = compare({ ...printed.errors, stated: right.errors.stated });
    expect(high).toBeLessThan(1);
    expect(compare(right.errors).low).toBeLessThan(1);
    expect(compare(right.errors).high).toBeGreaterThan(1);
  });

  it("estimates to one side, and the reading says so", () => {
    const runs = Array.from({ length: 400 }, (_, i) => [(i % 2 === 0 ? 1 : -1) + 0.4]);
    const comparison = compare({ runs, stated: [1], independent: 1 });
    expect(comparison.bias).toBeCloseTo(8, 9);
    const row = { ...(result.rows[0] as UtilityRow), ...comparison };
    expect(describeUtility({ ...result, rows: [...result.rows, row] }).reading).toMatch(
      /NOT what theory says in rows 13/,
    );
  });
});

it("the JSON names each row and has its figures", () => {
  const { json, reading } = describeUtility(result);
  const { rows } = json as { rows: Record<string, unknown>[] };
  for (const row of rows) {
    for (const field of ["statistic", "mode", "scheme", "mechanism"]) expect(row[field]).toBeTypeOf("string");
    for (const field of ["devices", "runs", "measured", "theory", "ratio", "low", "high"]) {
      expect(row[field]).toBeTypeOf("number");
    }
  }
  expect(reading).not.toMatch(/NOT/);
});
