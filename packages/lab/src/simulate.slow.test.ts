import { describe, expect, it } from "vitest";
import { type SimulationOptions, simulate } from "./simulate.ts";

const COMMON = { ticks: 4, rate: 0.1, localEpsilon: 1, metrics: 1, edges: [0, 1, 2], limit: 3 } as const;

/** How far each figure of many runs is from the truth, in its own standard errors. */
function deviations(runs: number, options: SimulationOptions): number[] {
  return Array.from({ length: runs }, () => simulate(options)).flatMap(
    ({ truth, estimate, standardError, valid, devices }) => {
      expect(valid).toBe(devices);
      return truth.map((value, i) => ((estimate[i] as number) - value) / (standardError[i] as number));
    },
  );
}

/** Mean 0, variance 1, each within six of its own standard errors (correlation between buckets at most doubles them). */
function expectStandard(z: readonly number[]): void {
  const mean = z.reduce((sum, x) => sum + x, 0) / z.length;
  const variance = z.reduce((sum, x) => sum + x * x, 0) / z.length;
  console.log(`${z.length} figures: mean ${mean.toFixed(3)}, variance ${variance.toFixed(3)}`);
  expect(Math.abs(mean)).toBeLessThan((6 * 1.5) / Math.sqrt(z.length));
  expect(Math.abs(variance - 1)).toBeLessThan(6 * 1.5 * Math.sqrt(2 / z.length));
}

describe("encrypted runs deviate from the truth as the standard errors say", () => {
  it("lattice: 1,000 counters of 2,000 devices", () => {
    expectStandard(
      deviations(1, { ...COMMON, statistic: "occurrence", scheme: "lattice", devices: 2000, metrics: 1000 }),
    );
  });

  for (const mechanism of ["kary", "unary", "per-bucket"] as const) {
    it(`lattice: histogram by ${mechanism}, 300 runs of 300 devices`, () => {
      expectStandard(
        deviations(300, { ...COMMON, statistic: "histogram", scheme: "lattice", devices: 300, mechanism }),
      );
    });
  }

  it("lattice: mean, 300 runs of 200 devices", () => {
    expectStandard(deviations(300, { ...COMMON, statistic: "mean", scheme: "lattice", devices: 200, sigma: 1 }));
  });

  it("elgamal: 20 counters of 400 devices, 3 runs", () => {
    expectStandard(
      deviations(3, { ...COMMON, statistic: "occurrence", scheme: "elgamal", devices: 400, metrics: 20, ticks: 2 }),
    );
  });

  it("elgamal: histogram and mean, 150 runs of 20 devices each", () => {
    expectStandard(
      deviations(150, { ...COMMON, statistic: "histogram", scheme: "elgamal", devices: 20, ticks: 2, rate: 0.4 }),
    );
    expectStandard(
      deviations(150, { ...COMMON, statistic: "mean", scheme: "elgamal", devices: 20, ticks: 2, sigma: 1 }),
    );
  });
});
