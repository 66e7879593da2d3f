import {
  type Answers,
  aggregateEpsilon,
  createDiscreteGaussian,
  drawDiscreteGaussian,
  localEpsilonFor,
  sigmaFor,
} from "@lethe/core/privacy";
import { randomnessFrom, withBufferedRandomness } from "@lethe/core/randomness";
import { type Measurement, microseconds } from "./stopwatch.ts";

const DEVICES = 1e8;
const ANSWERS: readonly (readonly [name: string, answers: Answers])[] = [
  ["randomized response", { mechanism: "randomized-response" }],
  ["K-ary, 4 buckets", { mechanism: "kary", buckets: 4 }],
  ["K-ary, 32 buckets", { mechanism: "kary", buckets: 32 }],
  ["unary encoding", { mechanism: "unary" }],
  ["per bucket", { mechanism: "per-bucket" }],
];

/** The exact sampler, and the accounting at 10⁸ devices. */
export function benchPrivacy(unit: () => number, report: (row: Measurement) => void): void {
  const time = (name: string, task: () => void): void => {
    const value = microseconds(task);
    report({ name, value, unit: "µs", ratio: value / unit() });
  };
  const random = randomnessFrom(globalThis.crypto);
  for (const sigma of [0.5, 20, 1000]) {
    const gaussian = createDiscreteGaussian(sigma);
    time(`discrete Gaussian, σ = ${sigma}: 100 samples`, () =>
      withBufferedRandomness(random, (buffered) => {
        for (let i = 0; i < 100; i++) drawDiscreteGaussian(gaussian, buffered);
      }),
    );
  }
  for (const [epsilon, delta] of [
    [1, 1e-6],
    [0.1, 1e-9],
  ] as const) {
    for (const [name, answers] of ANSWERS) {
      time(
        `ε = ${epsilon}, δ = ${delta} → ε₀ at 10⁸ devices, ${name}`,
        () => void localEpsilonFor(DEVICES, epsilon, delta, answers),
      );
    }
    time(
      `ε = ${epsilon}, δ = ${delta} → σ at 10⁸ devices, mean up to 10`,
      () => void sigmaFor(epsilon, delta, 10, DEVICES),
    );
  }
  time("ε₀ = 8 → ε at 10⁸ devices, randomized response", () => void aggregateEpsilon(DEVICES, 8, 1e-6));
}
