import {
  type Estimate,
  estimateFromKary,
  estimateFromResponses,
  estimateFromUnary,
  estimateMean,
} from "@lethe/core/estimate";
import {
  createDiscreteGaussian,
  createKaryResponse,
  createRandomizedResponse,
  createUnaryEncoding,
  discreteGaussianVariance,
  drawDiscreteGaussian,
  respond,
  respondKary,
  respondUnary,
} from "@lethe/core/privacy";
import { type Randomness, withBufferedRandomness } from "@lethe/core/randomness";
import { bucketOf, type StatisticName } from "@lethe/core/statistic";
import { addUp } from "../arithmetic/add-up.ts";
import { figuresFrom } from "../simulate/true-figures.ts";
import { EDGES, LIMIT, LOCAL_EPSILON, SIGMA } from "./cases.ts";
import { type Errors, statedAt } from "./errors.ts";
import { COUNTS } from "./run.ts";

/** A mechanism and its estimator, without encryption: cheap enough to measure the error to 1% or 2%. */
export interface PlainCase {
  readonly statistic: StatisticName;
  readonly mechanism: string;
  /** What a device with `count` events adds to each sum. */
  readonly answer: (count: number, random: Randomness) => readonly number[];
  readonly truth: (count: number) => readonly number[];
  readonly estimate: (sums: readonly number[], devices: number) => Estimate[];
}

/** How much is run. */
export interface PlainSize {
  readonly devices: number;
  readonly runs: number;
}

/** Measures the errors of a mechanism. */
export function runPlain(
  { answer, truth, estimate, ...plain }: PlainCase,
  size: PlainSize,
  random: Randomness,
): Errors {
  const { devices, runs } = size;
  const counts = Array.from({ length: devices }, (_, device) => COUNTS[device % COUNTS.length] as number);
  const right = figuresFrom(plain, addUp(counts.map(truth)), devices);
  const errors = withBufferedRandomness(random, (buffered) =>
    Array.from({ length: runs }, () => {
      const sums = addUp(counts.map((count) => answer(count, buffered)));
      return estimate(sums, devices).map((found, i) => found.estimate - (right[i] as number));
    }),
  );
  const independent = right.length - Number(plain.mechanism === "kary");
  return { runs: errors, stated: statedAt({ estimate }, right, devices), independent };
}

/** Randomized response at this ε. */
export function plainResponses(epsilon: number): PlainCase {
  const response = createRandomizedResponse(epsilon);
  const bit = (count: number): 0 | 1 => (count > 0 ? 1 : 0);
  return {
    statistic: "occurrence",
    mechanism: "randomized-response",
    answer: (count, random) => [respond(response, bit(count), random)],
    truth: (count) => [bit(count)],
    estimate: (sums, devices) => sums.map((told) => estimateFromResponses(response, told, devices)),
  };
}

/** All mechanisms. */
export function plainCases(): PlainCase[] {
  const buckets = EDGES.length;
  const hot = (bucket: number): number[] => EDGES.map((_, b) => Number(b === bucket));
  const histogram = { statistic: "histogram", truth: (count: number) => hot(bucketOf(EDGES, count)) } as const;
  const kary = createKaryResponse(LOCAL_EPSILON, buckets);
  const unary = createUnaryEncoding(LOCAL_EPSILON, buckets);
  const half = createRandomizedResponse(LOCAL_EPSILON / 2);
  return [
    plainResponses(LOCAL_EPSILON),
    {
      ...histogram,
      mechanism: "kary",
      answer: (count, random) => hot(respondKary(kary, bucketOf(EDGES, count), random)),
      estimate: (sums, devices) => sums.map((told) => estimateFromKary(kary, told, devices)),
    },
    {
      ...histogram,
      mechanism: "unary",
      answer: (count, random) => [...respondUnary(unary, bucketOf(EDGES, count), random)],
      estimate: (sums, devices) => sums.map((told) => estimateFromUnary(unary, told, devices)),
    },
    {
      ...histogram,
      mechanism: "per-bucket",
      answer: (count, random) => histogram.truth(count).map((bit) => respond(half, bit as 0 | 1, random)),
      estimate: (sums, devices) => sums.map((told) => estimateFromResponses(half, told, devices)),
    },
    plainMean(),
  ];
}

function plainMean(): PlainCase {
  const noise = createDiscreteGaussian(SIGMA * LIMIT);
  const variance = discreteGaussianVariance(noise);
  return {
    statistic: "mean",
    mechanism: "discrete-gaussian",
    answer: (count, random) => [Math.min(count, LIMIT) + Number(drawDiscreteGaussian(noise, random))],
    truth: (count) => [Math.min(count, LIMIT)],
    estimate: (sums, devices) => sums.map((sum) => estimateMean(sum, devices, variance)),
  };
}
