import { expect, it } from "vitest";
import {
  type Answers,
  aggregateDelta,
  aggregateEpsilon,
  boundedEpsilon,
  type Charge,
  clampedDelta,
  clampedEpsilon,
  clampOf,
  composedDelta,
  composedEpsilon,
  createDiscreteGaussian,
  gaussianDelta,
  gaussianEpsilon,
  hijackedCharge,
  hijackedMeanCharge,
  localEpsilonFor,
  pureCharge,
  repeatedDelta,
  serverNoise,
  serverNoiseDelta,
  serverNoiseEpsilon,
  sigmaFor,
} from "../index.ts";

/**
 * Every figure is 0, a normal number above it, or, where nothing holds, infinite: never negative, subnormal or none.
 */
const SMALLEST_NORMAL = 2 ** -1022;
const DEVICES = [1, 2, 200];
const LOCAL = [1e-6, 0.01, 1, 5, 20];
const EPSILONS = [0, 1e-9, 0.185, 5, 40];
const DELTAS = [1e-15, 1e-6, 0.1, 0.5, 0.999];
const ANSWERS: readonly Answers[] = [
  { mechanism: "randomized-response" },
  { mechanism: "kary", buckets: 2 },
  { mechanism: "kary", buckets: 5 },
  { mechanism: "unary", buckets: 3 },
  { mechanism: "per-bucket", buckets: 3 },
];

let figures = 0;
function expectSound(what: () => string, figure: number, most = Number.POSITIVE_INFINITY): void {
  figures++;
  if (!(figure === 0 || (figure >= SMALLEST_NORMAL && figure <= most))) throw new Error(`${what()} is ${figure}`);
}

function* settings(): Generator<{ devices: number; answers: Answers; localEpsilon: number }> {
  for (const devices of DEVICES)
    for (const answers of ANSWERS) for (const localEpsilon of LOCAL) yield { devices, answers, localEpsilon };
}

it("one device whose answer may be told with δ = 1/2 pays nothing: exactly 0", () => {
  expect(aggregateEpsilon(1, 1, 0.5)).toMatchObject({ epsilon: 0 });
  expect(Object.is(aggregateEpsilon(1, 1, 0.5).epsilon, 0)).toBe(true);
  for (const answers of ANSWERS) expect(aggregateEpsilon(1, 1, 0.99, answers).epsilon).toBe(0);
});

it("of what releases and hijacked reports reveal", () => {
  for (const setting of settings()) {
    const { devices, answers, localEpsilon } = setting;
    const named = (name: string, at: number) => () => `${name}(${JSON.stringify(setting)}, ${at})`;
    const hijacked = hijackedCharge(devices - 1, localEpsilon, answers, 1, 0.01);
    for (const epsilon of EPSILONS) {
      const { delta } = aggregateDelta(devices, localEpsilon, epsilon, answers, 0.1);
      expectSound(named("aggregateDelta", epsilon), delta, 1);
      expectSound(named("hijackedCharge", epsilon), hijacked.delta(epsilon), 1);
    }
    for (const delta of DELTAS) {
      const { epsilon } = aggregateEpsilon(devices, localEpsilon, delta, answers, 0.1);
      expectSound(named("aggregateEpsilon", delta), epsilon, localEpsilon);
    }
    expectSound(named("boundedEpsilon", 1e-6), boundedEpsilon([hijacked], 1e-6));
    expectSound(named("localEpsilonFor", 0.5), localEpsilonFor(devices, localEpsilon, 0.5, answers, 0.1), 40);
  }
});

it("of means, clamped or not, and of noise at the servers", () => {
  for (const devices of DEVICES) {
    for (const sigma of [0.05, 2, 60]) {
      const limit = 3;
      const { sigma2 } = createDiscreteGaussian(sigma);
      const sum = { sigma2, sensitivity: limit, devices };
      const clamped = { ...sum, clamp: clampOf(sum) };
      const counted = { statistic: "mean", limit } as const;
      const named = (name: string, at: number) => () => `${name}(${devices}, ${sigma}, ${at})`;
      for (const epsilon of EPSILONS) {
        expectSound(named("gaussianDelta", epsilon), gaussianDelta(sum, epsilon), 1);
        expectSound(named("clampedDelta", epsilon), clampedDelta(clamped, epsilon), 1);
        expectSound(named("hijackedMeanCharge", epsilon), hijackedMeanCharge(clamped).delta(epsilon), 1);
        const noise = serverNoise(counted, sigma);
        expectSound(named("serverNoiseDelta", epsilon), serverNoiseDelta(counted, noise, epsilon), 1);
      }
      for (const delta of DELTAS.slice(1)) {
        expectSound(named("gaussianEpsilon", delta), gaussianEpsilon(sum, delta));
        expectSound(named("clampedEpsilon", delta), clampedEpsilon(clamped, delta));
        expectSound(
          named("serverNoiseEpsilon", delta),
          serverNoiseEpsilon(counted, serverNoise(counted, sigma), delta),
        );
        expectSound(named("sigmaFor", delta), sigmaFor(sigma, delta, limit, devices));
      }
    }
  }
});

it("of what adds up", () => {
  for (const localEpsilon of LOCAL) {
    for (const times of [1, 2, 1000]) {
      const charges: Charge[] = [pureCharge(localEpsilon, times), pureCharge(0.05)];
      const named = (name: string, at: number) => () => `${name}(${times} × ${localEpsilon}, ${at})`;
      for (const epsilon of EPSILONS) {
        expectSound(named("repeatedDelta", epsilon), repeatedDelta(times, localEpsilon, epsilon), 1);
        expectSound(named("composedDelta", epsilon), composedDelta(charges, epsilon), 1);
      }
      for (const delta of DELTAS) expectSound(named("composedEpsilon", delta), composedEpsilon(charges, delta));
    }
  }
  expect(figures).toBeGreaterThan(1000);
});
