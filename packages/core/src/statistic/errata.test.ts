import { describe, expect, it } from "vitest";
import { transparent } from "../../test/transparent.ts";
import { type DeviceKeyContext, secret } from "../encryption/index.ts";
import { estimateFromResponses } from "../estimate/index.ts";
import { createDiscreteGaussian, createRandomizedResponse, gaussianDelta } from "../privacy/index.ts";
import { seededRandomnessForTests } from "../randomness/index.ts";
import { histogramDevice, histogramServer } from "./histogram/automaton.ts";
import { type HistogramMechanism, histogramMechanism } from "./histogram/histogram.ts";
import { meanDevice, meanServer } from "./mean/automaton.ts";
import { meanNoise } from "./mean/mean.ts";
import type { DeviceSide, ServerSide } from "./statistic.ts";

/** Each slip of docs/errata.md: what the paper prints fails the check that our version passes. */
const master = secret(new Uint8Array(32));
const context: DeviceKeyContext = { task: "errata", window: 0, device: new Uint8Array(16), role: "tally", index: 0 };

function openAfter({ device, server }: { device: DeviceSide; server: ServerSide }, ticks: number, events: number) {
  const random = seededRandomnessForTests(events);
  const recorder = device.start(server.issueKey(master, context), random);
  let stored: Uint8Array | undefined;
  for (let tick = 0; tick < ticks; tick++) {
    if (tick < events) recorder.record();
    stored = recorder.write();
  }
  return server.open(master, context, recorder.seal(stored as Uint8Array), random).answers;
}

describe("1: randomized response on every bucket", () => {
  /** The largest log-ratio of any vector of bits between two one-hot inputs. */
  function largestLogRatio(flip: number, buckets: number): number {
    let largest = 0;
    for (let code = 0; code < 2 ** buckets; code++) {
      const probability = (hot: number): number =>
        Array.from({ length: buckets }, (_, b) => ((code >> b) & 1) === Number(b === hot)).reduce(
          (product, same) => product * (same ? 1 - flip : flip),
          1,
        );
      for (let hot = 1; hot < buckets; hot++) largest = Math.max(largest, Math.log(probability(0) / probability(hot)));
    }
    return largest;
  }

  it("costs 2ε as printed, and ε as we do it", () => {
    for (const epsilon of [0.5, 2]) {
      for (const buckets of [2, 3, 4]) {
        const printed = 1 / (1 + Math.exp(epsilon));
        expect(largestLogRatio(printed, buckets)).toBeCloseTo(2 * epsilon, 9);
        const edges = Array.from({ length: buckets }, (_, b) => b);
        const ours = histogramMechanism({
          ticks: 9,
          hides: 0,
          eventsPerTick: 1,
          edges,
          localEpsilon: epsilon,
          mechanism: "per-bucket",
        });
        const { flip, localEpsilon } = ours as HistogramMechanism & { name: "per-bucket" };
        expect(largestLogRatio(flip, buckets)).toBeLessThanOrEqual(epsilon);
        expect(localEpsilon).toBeCloseTo(largestLogRatio(flip, buckets), 9);
      }
    }
  });
});

describe("2: the noise and the truncation of the mean", () => {
  it("variance k·σ² does not give what σ promises at sensitivity 1; k²·σ² does", () => {
    const sigma = Math.sqrt(17.899489772326323); // (1, 1e-6) at sensitivity 1
    for (const limit of [4, 10, 25]) {
      const ours = meanNoise({ limit, sigma });
      expect(ours.sigma2).toBeCloseTo(limit * limit * sigma * sigma, 4);
      const delta = ({ sigma2 }: { sigma2: number }): number =>
        gaussianDelta({ sigma2, sensitivity: limit, devices: 1 }, 1);
      expect(delta(ours)).toBeLessThan(1.01e-6);
      const printed = createDiscreteGaussian(Math.sqrt(limit) * sigma);
      expect(delta(printed)).toBeGreaterThan(1e-3);
    }
  });

  it("Σ i·c_i is 0 again above k; ours is min(count, k)", () => {
    const k = 3;
    const printed = (events: number): number => [0, 1, 2, 3].reduce((sum, i) => sum + i * Number(events === i), 0);
    const spec = { ticks: 6, hides: 0, eventsPerTick: 1, limit: k, sigma: 0.02 };
    const statistic = { device: meanDevice(transparent, spec), server: meanServer(transparent, spec) };
    for (const events of [0, 1, 3, 4, 6]) expect(openAfter(statistic, 6, events)).toEqual([Math.min(events, k)]);
    expect(printed(5)).toBe(0);
  });
});

describe("3: the exact total variation of Bin(T, p) and Bin(T−1, p) + Ber(1−p)", () => {
  function binomial(n: number, p: number): number[] {
    let row = [1];
    for (let i = 0; i < n; i++) {
      row = Array.from({ length: row.length + 1 }, (_, m) => (row[m] ?? 0) * (1 - p) + (row[m - 1] ?? 0) * p);
    }
    return row;
  }

  it("is (1−2p)·Pr[Bin(T−1, p) = ⌈Tp⌉−1]; the printed value is twice that, and above its own bound", () => {
    for (const [T, p] of [
      [2, 1 / 3],
      [10, 0.2],
      [16, 0.25],
      [50, 0.27],
      [97, 0.4],
    ] as const) {
      const zero = binomial(T, p);
      const shorter = binomial(T - 1, p);
      const one = zero.map((_, m) => (shorter[m] ?? 0) * p + (shorter[m - 1] ?? 0) * (1 - p));
      const exact = zero.reduce((sum, mass, m) => sum + Math.abs(mass - (one[m] as number)), 0) / 2;
      const top = Math.ceil(T * p - 1e-12);
      const right = (1 - 2 * p) * (shorter[top - 1] as number);
      const printed = 2 * (1 - 2 * p) * (top / (T * p)) * (zero[top] as number);
      expect(right).toBeCloseTo(exact, 12);
      expect(printed / exact).toBeCloseTo(2, 9);
      const bound = (1 - 2 * p) / Math.sqrt(4 * p * (1 - p) * T);
      expect(exact).toBeLessThanOrEqual(bound);
      expect(printed).toBeGreaterThan(bound);
    }
  });
});

describe("4: the error of randomized response", () => {
  it("grows without bound as ε falls, which the printed formula does not", () => {
    const ours = (epsilon: number): number =>
      estimateFromResponses(createRandomizedResponse(epsilon), 500, 1000).standardError;
    const printed = (epsilon: number): number =>
      Math.sqrt(1000 * (1 + Math.exp(epsilon) / (1 + Math.exp(epsilon)) ** 2));
    expect(ours(0.01)).toBeCloseTo(Math.sqrt(1000 * Math.exp(0.01)) / Math.expm1(0.01), 3);
    expect(ours(0.01)).toBeGreaterThan(80 * printed(0.01));
    expect(printed(0.01)).toBeLessThan(1.12 * Math.sqrt(1000));
  });
});

describe("5: the shift", () => {
  it("run upwards in place smears one slot over all; ours leaves one hot bucket", () => {
    const wrong = [1, 0, 0, 0];
    for (let i = 1; i <= 3; i++) wrong[i] = wrong[i - 1] as number;
    expect(wrong).toEqual([1, 1, 1, 1]);

    const spec = {
      ticks: 4,
      hides: 0,
      eventsPerTick: 1,
      edges: [0, 1, 2, 3],
      localEpsilon: 20,
      mechanism: "kary",
    } as const;
    const statistic = {
      device: histogramDevice(transparent, spec),
      server: histogramServer(transparent, spec),
    };
    for (const events of [0, 1, 2, 3, 4]) {
      const bucket = Math.min(events, 3);
      expect(openAfter(statistic, 4, events)).toEqual([0, 1, 2, 3].map((b) => Number(b === bucket)));
    }
  });
});
