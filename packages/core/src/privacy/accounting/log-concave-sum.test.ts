import { expect, it } from "vitest";
import { gaussian, hockeyStick, shifted, sumOfMany } from "../../../test/released-sums.ts";
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
