import { describe, expect, it } from "vitest";
import { chiSquare, chiSquareAlarm } from "../../test/chi-square.ts";
import { randomnessFrom, withBufferedRandomness } from "../randomness/index.ts";
import {
  createDiscreteGaussian,
  discreteGaussianVariance,
  drawDiscreteGaussian,
  totalWeight,
} from "./discrete-gaussian.ts";

const SAMPLES = 10_000_000;

/** Outcomes that are expected at least 20 times each; all beyond on a side are one class. */
function classes(sigma2: number): { least: number; expected: number[] } {
  const probability = (x: number): number => Math.exp(-(x * x) / (2 * sigma2)) / totalWeight(sigma2);
  let most = 1;
  while (SAMPLES * probability(most + 1) > 20) most++;
  let tail = 0;
  for (let x = most; probability(x) > 0; x++) tail += probability(x);
  const inner = Array.from({ length: 2 * most - 1 }, (_, i) => SAMPLES * probability(i - most + 1));
  return { least: -most, expected: [SAMPLES * tail, ...inner, SAMPLES * tail] };
}

describe("the discrete Gaussian over ten million samples (χ², false alarm 1e-6 each)", () => {
  it.each([0.3, 1, 2.5, 20, 84.5])("σ = %s", (sigma) => {
    const gaussian = createDiscreteGaussian(sigma);
    const { least, expected } = classes(gaussian.sigma2);
    const observed = new Array<number>(expected.length).fill(0);
    let sum = 0;
    withBufferedRandomness(randomnessFrom(globalThis.crypto), (random) => {
      for (let i = 0; i < SAMPLES; i++) {
        const x = Number(drawDiscreteGaussian(gaussian, random));
        sum += x;
        const slot = Math.min(Math.max(x - least, 0), expected.length - 1);
        observed[slot] = (observed[slot] as number) + 1;
      }
    });
    const statistic = chiSquare(observed, expected);
    const alarm = chiSquareAlarm(expected.length - 1);
    console.log(
      `σ = ${sigma}: ${SAMPLES} samples, χ² ${statistic.toFixed(1)} over ${expected.length} classes, alarm at ${alarm.toFixed(1)}`,
    );
    expect(statistic).toBeLessThan(alarm);
    expect(Math.abs(sum)).toBeLessThan(5.5 * Math.sqrt(SAMPLES * discreteGaussianVariance(gaussian)));
  });
});
