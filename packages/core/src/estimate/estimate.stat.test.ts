import { describe, expect, it } from "vitest";
import { checkEstimator, checkMeanEstimator } from "../../test/estimator-check.ts";
import { fastRandomness } from "../../test/fast-randomness.ts";
import { createRandomizedResponse, respond } from "../privacy/randomized-response.ts";
import { withBufferedRandomness } from "../randomness/index.ts";
import { respondHistogram } from "../statistic/histogram/answer.ts";
import { bucketOf, histogramEstimates, histogramMechanism } from "../statistic/histogram/histogram.ts";
import { estimateFromResponses } from "./estimate.ts";

const RUNS = 20_000;
const DEVICES = 1000;

describe(`estimators, ${RUNS} runs of the plaintext mechanism over ${DEVICES} devices`, () => {
  it("randomized response", () => {
    const response = createRandomizedResponse(1);
    withBufferedRandomness(fastRandomness("rr"), (random) => {
      for (const ones of [0, 300]) {
        checkEstimator({
          runs: RUNS,
          truth: [ones],
          run: () => {
            let told = 0;
            for (let i = 0; i < DEVICES; i++) told += respond(response, i < ones ? 1 : 0, random);
            return [estimateFromResponses(response, told, DEVICES)];
          },
        });
      }
    });
  });

  // One quarter, two thirds, the rest.
  const truth = [250, 667, 83];
  const edges = [0, 1, 2];
  for (const name of ["kary", "unary", "per-bucket"] as const) {
    it(`histogram, ${name}`, () => {
      const mechanism = histogramMechanism({ ticks: 1, eventsPerTick: 1, edges, localEpsilon: 1, mechanism: name });
      const { estimate } = histogramEstimates(mechanism);
      withBufferedRandomness(fastRandomness(name), (random) => {
        checkEstimator({
          runs: RUNS,
          truth,
          run: () => {
            const sums = [0, 0, 0];
            for (let i = 0; i < DEVICES; i++) {
              const bucket = bucketOf([0, 250, 917], i);
              const answers = respondHistogram(mechanism, bucket, random);
              for (let b = 0; b < 3; b++) sums[b] = (sums[b] as number) + (answers[b] as number);
            }
            return estimate(sums, DEVICES);
          },
        });
      });
    });
  }

  it("mean", () => {
    checkMeanEstimator(RUNS, DEVICES);
  });
});

it("the standard error of randomized response is √(n·e^ε)/(e^ε−1), whatever the truth", () => {
  for (const epsilon of [0.5, 1, 3]) {
    const expected = Math.sqrt(1000 * Math.exp(epsilon)) / Math.expm1(epsilon);
    for (const told of [0, 400, 1000]) {
      const { standardError } = estimateFromResponses(createRandomizedResponse(epsilon), told, 1000);
      expect(standardError / expected).toBeCloseTo(1, 6);
    }
  }
});
