import { seededRandomnessForTests } from "@lethe/core/randomness";
import { beforeAll, expect, it } from "vitest";
import { type LowerBoundResult, runLowerBound, SERIES } from "./lower-bound.ts";
import { describeLowerBound } from "./lower-bound-finding.ts";

/** Of a normal figure, on both sides together: a false alarm once in 10⁶. */
const ALARM = 4.9;

let result: LowerBoundResult;
beforeAll(async () => {
  result = await runLowerBound(
    { ticks: [1, 8, 64], devices: 300, runs: 650, lethe: { fleet: 6, metrics: 960, fleets: 4 } },
    { random: seededRandomnessForTests("lower bound"), progress: () => {} },
  );
});

it("without cryptography the error grows like √T, or like T if any streams must look alike; Lethe's does not", () => {
  const { fits } = result;
  for (const [series, slope, within] of [
    ["informationTheoretic", 0.5, 0.05],
    ["atMostOneEvent", 0.5, 0.05],
    ["anyStreams", 1, 0.05],
    ["lethe", 0, 0.02],
    ["randomizedResponse", 0, 0.05],
  ] as const) {
    // False alarms: so rare only if the runs are enough for these limits.
    expect(ALARM * fits[series].standardError).toBeLessThan(within);
    expect(Math.abs(fits[series].slope - slope)).toBeLessThan(within);
  }
});

it("every error is what theory says, and none is biased", () => {
  const { points, letheRuns, size } = result;
  for (const point of points) {
    for (const series of SERIES) {
      const runs = series === "lethe" ? letheRuns : size.runs;
      const deviation = Math.log(point[series] / point.theory[series]) * Math.sqrt(2 * runs);
      expect(Math.abs(deviation), `${series} at T = ${point.T}`).toBeLessThan(ALARM + 0.6);
      expect(Math.abs(point.bias[series]), `${series} at T = ${point.T}`).toBeLessThan(ALARM + 0.6);
    }
    // All at one ε: Lethe's error and that of plain randomized response are the same figure.
    expect(point.theory.lethe).toBeCloseTo(point.theory.randomizedResponse, 9);
    expect(point.vanTrees).toBeLessThan(point.theory.informationTheoretic);
  }
});

it("the JSON has the slopes and all points, and the reading says so if a slope is another", () => {
  const { json, reading, svg } = describeLowerBound(result);
  const { slopes, points } = json as { slopes: Record<string, number>; points: Record<string, number>[] };
  expect(slopes.informationTheoretic).toBeTypeOf("number");
  expect(slopes.lethe).toBeTypeOf("number");
  expect(points.map(({ T }) => T)).toEqual([1, 8, 64]);
  expect(reading).not.toMatch(/NOT|BELOW/);
  expect(svg).toMatch(/^<svg/);
  const { fits } = result;
  const broken = { ...result, fits: { ...fits, lethe: fits.informationTheoretic } };
  expect(describeLowerBound(broken).reading).toMatch(/NOT as claimed: Lethe/);
});
