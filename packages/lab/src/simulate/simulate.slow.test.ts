import { describe, expect, it } from "vitest";
import { type SimulationOptions, simulate } from "./simulate.ts";

const COMMON = {
  mode: "one-server",
  ticks: 4,
  rate: 0.1,
  localEpsilon: 1,
  metrics: 1,
  edges: [0, 1, 2],
  limit: 3,
} as const;

const TWO = { ...COMMON, mode: "two-server", scheme: "elgamal", ticks: 2 } as const;

/** How far each figure of many runs is from the truth, in its own standard errors. */
async function deviations(runs: number, options: SimulationOptions): Promise<number[]> {
  const found: number[] = [];
  for (let run = 0; run < runs; run++) {
    const { truth, estimate, standardError, valid, devices } = await simulate(options);
    expect(valid).toBe(devices);
    found.push(...truth.map((value, i) => ((estimate[i] as number) - value) / (standardError[i] as number)));
  }
  return found;
}

/** Mean 0 and variance 1, each within six of its standard errors (correlation between buckets at most doubles them). */
function expectStandard(z: readonly number[]): void {
  const mean = z.reduce((sum, x) => sum + x, 0) / z.length;
  const variance = z.reduce((sum, x) => sum + x * x, 0) / z.length;
  console.log(`${z.length} figures: mean ${mean.toFixed(3)}, variance ${variance.toFixed(3)}`);
  expect(Math.abs(mean)).toBeLessThan((6 * 1.5) / Math.sqrt(z.length));
  expect(Math.abs(variance - 1)).toBeLessThan(6 * 1.5 * Math.sqrt(2 / z.length));
}

describe("encrypted runs deviate from the truth as the standard errors say", () => {
  it("lattice: 1,000 counters of 2,000 devices", async () => {
    expectStandard(
      await deviations(1, { ...COMMON, statistic: "occurrence", scheme: "lattice", devices: 2000, metrics: 1000 }),
    );
  });

  for (const mechanism of ["kary", "unary", "per-bucket"] as const) {
    it(`lattice: histogram by ${mechanism}, 300 runs of 300 devices`, async () => {
      expectStandard(
        await deviations(300, { ...COMMON, statistic: "histogram", scheme: "lattice", devices: 300, mechanism }),
      );
    });
  }

  it("lattice: mean, 300 runs of 200 devices", async () => {
    expectStandard(await deviations(300, { ...COMMON, statistic: "mean", scheme: "lattice", devices: 200, sigma: 1 }));
  });

  it("elgamal: 20 counters of 400 devices, 3 runs", async () => {
    expectStandard(
      await deviations(3, {
        ...COMMON,
        statistic: "occurrence",
        scheme: "elgamal",
        devices: 400,
        metrics: 20,
        ticks: 2,
      }),
    );
  });

  it("elgamal: histogram and mean, 150 runs of 20 devices each", async () => {
    expectStandard(
      await deviations(150, { ...COMMON, statistic: "histogram", scheme: "elgamal", devices: 20, ticks: 2, rate: 0.4 }),
    );
    expectStandard(
      await deviations(150, { ...COMMON, statistic: "mean", scheme: "elgamal", devices: 20, ticks: 2, sigma: 1 }),
    );
  });

  it("two servers: 20 counters of 60 devices by either noise, 3 runs", async () => {
    for (const noise of ["device", "servers"] as const) {
      const options = { ...TWO, statistic: "occurrence", devices: 60, metrics: 20, noise } as const;
      expectStandard(await deviations(3, options));
    }
  });

  it("two servers: histogram by either noise and mean, 60 runs of 10 devices each", async () => {
    for (const noise of ["device", "servers"] as const) {
      expectStandard(await deviations(60, { ...TWO, statistic: "histogram", devices: 10, rate: 0.4, noise }));
    }
    expectStandard(await deviations(60, { ...TWO, statistic: "mean", devices: 10, rate: 0.4 }));
  });
});
