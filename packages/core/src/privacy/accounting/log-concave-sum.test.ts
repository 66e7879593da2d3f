import { expect, it } from "vitest";
import { gaussian, hockeyStick, shifted, sumOfMany } from "../../../test/released-sums.ts";
import { clampedDelta, clampOf } from "./clamped-sum.ts";
import { gaussianDelta } from "./gaussian-sum.ts";
import { logConcaveSumDelta } from "./log-concave-sum.ts";

/** A Gaussian that ends at `clamp` on both sides, as probabilities from −clamp on. */
function truncated(sigma: number, clamp: number): Float64Array {
  const whole = gaussian(sigma * sigma);
  const middle = (whole.length - 1) / 2;
  const kept = whole.subarray(middle - clamp, middle + clamp + 1);
  const total = kept.reduce((sum, probability) => sum + probability, 0);
  return kept.map((probability) => probability / total);
}

it("is that of the sum, convolved directly, also where only its outermost values count", () => {
  let compared = 0;
  for (const [sigma, clamp] of [
    [0.6, 3],
    [2, 8],
    [15, 60],
    [30, 30],
  ] as const) {
    const probabilities = truncated(sigma, clamp);
    for (const times of [1, 2, 3, 5, 20]) {
      const sum = sumOfMany(probabilities, times);
      for (const sensitivity of [1, 3, clamp]) {
        for (const epsilon of [0, 0.01, 0.05, 0.1, 0.185, 0.3, 0.7, 1, 2, 5, 12]) {
          const delta = logConcaveSumDelta({ first: -clamp, probabilities, times }, sensitivity, epsilon);
          const direct = hockeyStick(shifted(sum, sensitivity), sum, epsilon);
          expect(delta).toBeGreaterThanOrEqual(direct * (1 - 1e-9) - 1e-15);
          expect(delta).toBeLessThanOrEqual(direct * (1 + 1e-6) + 1e-12);
          compared++;
        }
      }
    }
  }
  expect(compared).toBe(660);
});

it("is found for few devices and wide noise, where the search once left the sum behind and never ended", () => {
  const probabilities = truncated(60, 240);
  for (let epsilon = 0.15; epsilon < 0.25; epsilon += 0.005) {
    const delta = logConcaveSumDelta({ first: -240, probabilities, times: 1 }, 3, epsilon);
    expect(delta).toBeGreaterThan(0);
    expect(delta).toBeLessThan(1e-3);
  }
});

it("is 1 where the sum and its copy are far apart, and never rises with ε", () => {
  for (const [sigma, sensitivity, devices] of [
    [0.1, 6, 23],
    [0.1, 7, 108],
    [0.1, 8, 89],
    [0.2, 11, 19],
    [0.2, 79, 75],
    [0.3, 295, 87],
    [0.8, 383, 56],
    [20, 24539, 250],
  ] as const) {
    const clamp = clampOf({ sigma2: sigma * sigma });
    for (const epsilon of [0, 0.1, 0.15, 1, 5.71, 12, 20]) {
      const sum = { sigma2: sigma * sigma, sensitivity, clamp, devices };
      expect(clampedDelta(sum, epsilon)).toBeGreaterThan(0.999);
      expect(gaussianDelta(sum, epsilon)).toBeGreaterThan(0.999);
    }
  }
  for (const [sigma, sensitivity, devices] of [
    [0.3, 7, 658],
    [5, 223, 659],
    [150, 25, 6],
    [1000, 8371, 63],
  ] as const) {
    const sum = { sigma2: sigma * sigma, sensitivity, clamp: clampOf({ sigma2: sigma * sigma }), devices };
    let before = 1;
    for (const epsilon of [0, 0.1, 1, 5, 15, 30, 39]) {
      const delta = clampedDelta(sum, epsilon);
      expect(delta).toBeLessThanOrEqual(before * (1 + 1e-6) + 1e-15);
      before = delta;
    }
  }
});
