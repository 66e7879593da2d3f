import { describe, expect, it } from "vitest";
import { fastRandomness } from "../../test/fast-randomness.ts";
import { COUNT } from "../privacy/accounting/server-noise.ts";
import { createDiscreteGaussian, drawDiscreteGaussian } from "../privacy/discrete-gaussian.ts";
import { createRandomizedResponse, respond } from "../privacy/randomized-response.ts";
import { type Randomness, uniformBelow, withBufferedRandomness } from "../randomness/index.ts";
import { respondHistogram } from "../statistic/histogram/answer.ts";
import { bucketOf, histogramEstimates, histogramMechanism } from "../statistic/histogram/histogram.ts";
import { meanEstimates } from "../statistic/mean/mean.ts";
import { twoServerMean } from "../statistic/mean/two-server.ts";
import { occurrenceEstimates } from "../statistic/occurrence/occurrence.ts";
import { serverNoised } from "../statistic/server-noise.ts";
import type { ServerEstimates } from "../statistic/statistic.ts";
import type { FigureDifference } from "./release.ts";
import { type GroupSums, releasedFigures } from "./released-groups.ts";
import type { Task } from "./task.ts";

/*
 * Experiments with two groups, of which the service releases the difference: what of it holds for the devices that could
 * be in the groups, not only for those that were. The mechanisms run on plaintext; everything after them is the
 * service's. Seeds are fixed, so that no run differs from the last.
 */

const FLEETS = 1000;
const [FEW, MANY] = [600, 900];
const WRITES = { ticks: 1, hides: 0 };

interface Experiment {
  readonly metric: Task["metrics"][number];
  readonly estimates: ServerEstimates;
  /** What a device with this number of events answers. */
  answer(events: number, random: Randomness): readonly number[];
  /** What the servers add to the sums of a group. */
  noise?(random: Randomness): number;
  /** The value of a device with this number of events, of the first figure. */
  value(events: number): number;
  /** Whether values lie between the ends of their range, so that errors are bounds. */
  readonly isBound?: true;
}

const response = createRandomizedResponse(1);
const EDGES = [0, 1, 2];
const histogram = (name: "kary" | "unary" | "per-bucket"): Experiment => {
  const mechanism = histogramMechanism({ ...WRITES, edges: EDGES, localEpsilon: 1, mechanism: name });
  return {
    metric: { name: "m", statistic: "histogram", edges: EDGES, localEpsilon: 1, mechanism: name },
    estimates: histogramEstimates(mechanism),
    answer: (events, random) => respondHistogram(mechanism, bucketOf(EDGES, events), random),
    value: (events) => Number(events === 0),
  };
};
const MEAN = { ...WRITES, limit: 3, sigma: 1 };
const meanNoise = createDiscreteGaussian(3);
const counted = serverNoised({ sigmas: [10], exposure: COUNT, consistent: (found) => [...found] });
const countedMean = twoServerMean({ statistic: "mean", noise: "servers", ...WRITES, limit: 3, sigma: 5 });

/** The noise of both servers. */
const noiseOf =
  (noise: readonly Parameters<typeof drawDiscreteGaussian>[0][] = []) =>
  (random: Randomness) =>
    noise.reduce(
      (sum, each) => sum + Number(drawDiscreteGaussian(each, random)) + Number(drawDiscreteGaussian(each, random)),
      0,
    );

const EXPERIMENTS: Readonly<Record<string, Experiment>> = {
  occurrence: {
    metric: { name: "m", statistic: "occurrence", localEpsilon: 1 },
    estimates: occurrenceEstimates([response]),
    answer: (events, random) => [respond(response, events > 0 ? 1 : 0, random)],
    value: (events) => Number(events > 0),
  },
  "histogram, kary": histogram("kary"),
  "histogram, unary": histogram("unary"),
  "histogram, per-bucket": histogram("per-bucket"),
  mean: {
    metric: { name: "m", statistic: "mean", limit: 3, sigma: 1 },
    estimates: meanEstimates(MEAN),
    answer: (events, random) => [events + Number(drawDiscreteGaussian(meanNoise, random))],
    value: (events) => events,
  },
  "occurrence, noise of the servers": {
    metric: { name: "m", statistic: "occurrence", noise: "servers", sigma: 10 },
    estimates: counted,
    answer: (events) => [Number(events > 0)],
    noise: noiseOf(counted.serverNoise),
    value: (events) => Number(events > 0),
  },
  "mean, noise of the servers": {
    metric: { name: "m", statistic: "mean", limit: 3, sigma: 5 },
    estimates: countedMean,
    answer: (events) => [events],
    noise: noiseOf(countedMean.serverNoise),
    value: (events) => events,
    isBound: true,
  },
};

/** How often devices have 0, 1, 2, 3 events, in tenths. */
type Distribution = readonly [number, number, number, number];
const A: Distribution = [4, 3, 2, 1];
const B: Distribution = [6, 2, 1, 1];
const PLACES = 10;

function eventsOf(distribution: Distribution, random: Randomness): number {
  let place = uniformBelow(random, PLACES);
  return distribution.findIndex((tenths) => {
    place -= tenths;
    return place < 0;
  });
}

function meanOf({ value }: Experiment, distribution: Distribution): number {
  return distribution.reduce((sum, tenths, events) => sum + (tenths / PLACES) * value(events), 0);
}

function groupOf(experiment: Experiment, distribution: Distribution, devices: number, random: Randomness): GroupSums {
  const sums: number[] = [];
  for (let i = 0; i < devices; i++) {
    const answers = experiment.answer(eventsOf(distribution, random), random);
    for (const [j, answer] of answers.entries()) sums[j] = (sums[j] ?? 0) + answer;
  }
  const noise = experiment.noise?.(random) ?? 0;
  return { enrolled: devices, received: devices, sums: [sums.map((sum) => sum + noise)] };
}

/** The released difference of the first figure, b − a. */
function differenceOf({ metric, estimates }: Experiment, groups: readonly GroupSums[]): FigureDifference {
  const guarantee = { name: "m", mechanism: "m", localEpsilon: 1, epsilon: 1, delta: 0, bound: "upper" } as const;
  const cost = { metrics: [guarantee], perWindow: {} as never, reporting: 1 };
  const task = { metrics: [metric], minimumDevices: FEW, groups: ["a", "b"] };
  const shape = "edges" in metric ? { edges: metric.edges } : {};
  const statistics = [{ metrics: ["m"], statistic: metric.statistic, estimates, ...shape }];
  const found = releasedFigures(task, statistics, groups, cost).differences?.[0]?.metrics[0];
  if (!found) throw new TypeError("there is no difference");
  return "buckets" in found ? (found.buckets[0] as FigureDifference) : found;
}

/** How many of the fleets have a 95% interval that holds the true difference, and how many p-values are below 5%. */
function run(experiment: Experiment, a: Distribution, b: Distribution, random: Randomness) {
  const truth = meanOf(experiment, b) - meanOf(experiment, a);
  let [covered, alarms] = [0, 0];
  for (let i = 0; i < FLEETS; i++) {
    const groups = [groupOf(experiment, a, FEW, random), groupOf(experiment, b, MANY, random)];
    const { interval, pValue } = differenceOf(experiment, groups);
    if (interval[0] <= truth && truth <= interval[1]) covered++;
    if (pValue < 0.05) alarms++;
  }
  return { covered: covered / FLEETS, alarms: alarms / FLEETS };
}

describe(`A/B, ${FLEETS} fleets with groups of ${FEW} and ${MANY} devices`, () => {
  it.each(Object.entries(EXPERIMENTS))(
    "%s: intervals cover, and groups that do not differ seldom seem to",
    (name, experiment) => {
      withBufferedRandomness(fastRandomness(name), (random) => {
        const different = run(experiment, A, B, random);
        const same = run(experiment, A, A, random);
        console.log(JSON.stringify({ name, different, same }));
        for (const { covered } of [different, same]) expect(covered).toBeGreaterThanOrEqual(0.93);
        expect(same.alarms).toBeLessThanOrEqual(0.07);
        // The other ends: errors are not overstated, except where they are bounds.
        if (experiment.isBound) return;
        for (const { covered } of [different, same]) expect(covered).toBeLessThanOrEqual(0.97);
        expect(same.alarms).toBeGreaterThanOrEqual(0.03);
        expect(different.alarms).toBeGreaterThan(same.alarms);
      });
    },
  );
});
