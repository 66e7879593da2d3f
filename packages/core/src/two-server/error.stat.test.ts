import { describe, expect, it } from "vitest";
import {
  deviceNumber,
  ROLES,
  random,
  randomBytes,
  reportOf,
  shareOf,
  startServers,
  verify,
  wrap,
} from "../../test/two-server.ts";
import { join } from "../bytes.ts";
import type { Estimate } from "../estimate/index.ts";
import { type DiscreteGaussian, discreteGaussianVariance } from "../privacy/discrete-gaussian.ts";
import { createRandomizedResponse, respond } from "../privacy/randomized-response.ts";
import { type Randomness, withBufferedRandomness } from "../randomness/index.ts";
import { MISSING_SHARE, type OpenedShare, type ServerRole } from "../sharing/shared-bit.ts";
import { createTwoServerStatistic } from "../statistic/create-two-server.ts";
import { respondHistogram } from "../statistic/histogram/answer.ts";
import { bucketOf, histogramMechanism } from "../statistic/histogram/histogram.ts";
import type { TwoServerStatistic } from "../statistic/two-server.ts";
import { addAggregateShares, createAggregateShare } from "./aggregate-share.ts";

/** The errors of all estimates of one kind. Unseeded: the limits of each are left once in 10⁸ runs. */
interface Errors {
  sum: number;
  squares: number;
  stated: number;
}

/** 10⁻⁸ for a normal figure, on both sides together. */
const NORMAL_ALARM = 5.731;

/**
 * The range of a sum of squares of this number of normal errors, in units of their variance (Wilson and Hilferty's
 * approximation).
 */
function squaresBetween(runs: number): [number, number] {
  const limit = (z: number): number => runs * (1 - 2 / (9 * runs) + z * Math.sqrt(2 / (9 * runs))) ** 3;
  return [limit(-NORMAL_ALARM), limit(NORMAL_ALARM)];
}

/** Estimates of several runs: unbiased, and as far off as their standard error says. */
function expectErrors(truth: readonly number[], runs: readonly (readonly Estimate[])[]): void {
  const errors = truth.map((): Errors => ({ sum: 0, squares: 0, stated: 0 }));
  for (const run of runs) {
    for (const [i, { estimate, standardError }] of run.entries()) {
      const error = estimate - (truth[i] as number);
      const sums = errors[i] as Errors;
      sums.sum += error;
      sums.squares += error ** 2;
      sums.stated += standardError ** 2;
    }
  }
  const [low, high] = squaresBetween(runs.length);
  for (const { sum, squares, stated } of errors) {
    const variance = stated / runs.length;
    const bias = sum / Math.sqrt(runs.length * variance);
    expect(Math.abs(bias)).toBeLessThan(NORMAL_ALARM);
    expect(squares / variance).toBeGreaterThan(low);
    expect(squares / variance).toBeLessThan(high);
  }
}

/** The opened shares of these bits, or of a report that cannot be opened. */
function sharesOf(bits: readonly number[] | undefined): Record<ServerRole, OpenedShare[]> {
  if (!bits) return { leader: [MISSING_SHARE.leader], helper: [MISSING_SHARE.helper] };
  const shares = bits.map((bit) => shareOf(bit));
  return { leader: shares.map(({ leader }) => leader), helper: shares.map(({ helper }) => helper) };
}

/** Both servers' shares of the sums over devices that tell these bits, without noise of the servers. */
function addUp(
  statistic: TwoServerStatistic,
  devices: readonly (readonly number[] | undefined)[],
  random: Randomness,
): Record<ServerRole, Uint8Array> {
  const shares = { leader: createAggregateShare(statistic.answers), helper: createAggregateShare(statistic.answers) };
  for (const bits of devices) {
    const { valid, outShares } = verify([statistic], sharesOf(bits));
    if (valid !== (bits !== undefined)) throw new Error("two servers find otherwise");
    if (valid) for (const role of ROLES) shares[role].add(outShares[role]);
    else shares.leader.addConstant(statistic.onNoEvent(random));
  }
  return { leader: shares.leader.encode(), helper: shares.helper.encode() };
}

describe("noise of the devices", () => {
  const RUNS = 300;
  const DEVICES = 100;
  /** Of ten devices one sends what cannot be opened, which counts as a device without events. */
  const isInvalid = (device: number): boolean => device % 10 === 9;

  it("occurrence: √(n·e^ε)/(e^ε − 1), also with invalid reports among them", () => {
    const localEpsilons = [0.5, 2];
    const statistic = createTwoServerStatistic({ statistic: "occurrence", noise: "device", ticks: 1, localEpsilons });
    const responses = localEpsilons.map(createRandomizedResponse);
    const truth = (device: number): (0 | 1)[] => (isInvalid(device) ? [0, 0] : [device % 3 === 0 ? 1 : 0, 1]);
    const runs = withBufferedRandomness(random, (buffered) =>
      Array.from({ length: RUNS }, () => {
        const told = Array.from({ length: DEVICES }, (_, device) =>
          isInvalid(device)
            ? undefined
            : truth(device).map((bit, metric) => respond(responses[metric] as (typeof responses)[0], bit, buffered)),
        );
        const { leader, helper } = addUp(statistic, told, buffered);
        return statistic.estimate(addAggregateShares(leader, helper), DEVICES);
      }),
    );
    const devices = Array.from({ length: DEVICES }, (_, device) => truth(device));
    expectErrors(
      [0, 1].map((metric) => devices.filter((bits) => bits[metric] === 1).length),
      runs,
    );
    for (const [metric, epsilon] of localEpsilons.entries()) {
      const stated = Math.sqrt(DEVICES * Math.exp(epsilon)) / (Math.exp(epsilon) - 1);
      expect(runs[0]?.[metric]?.standardError).toBeCloseTo(stated, 3);
    }
  });

  it.each(["kary", "unary", "per-bucket"] as const)(
    "histogram, %s, with a bucket of several counts and invalid reports",
    (name) => {
      const edges = [0, 1, 3];
      const spec = {
        statistic: "histogram",
        noise: "device",
        ticks: 1,
        eventsPerTick: 9,
        edges,
        localEpsilon: 1.5,
        mechanism: name,
      } as const;
      const statistic = createTwoServerStatistic(spec);
      const mechanism = histogramMechanism(spec);
      const bucket = (device: number): number => (isInvalid(device) ? 0 : device % 4 === 0 ? 2 : device % 2);
      const runs = withBufferedRandomness(random, (buffered) =>
        Array.from({ length: RUNS }, () => {
          const told = Array.from({ length: DEVICES }, (_, device) =>
            isInvalid(device) ? undefined : respondHistogram(mechanism, bucket(device), buffered),
          );
          const { leader, helper } = addUp(statistic, told, buffered);
          return statistic.estimate(addAggregateShares(leader, helper), DEVICES);
        }),
      );
      const buckets = Array.from({ length: DEVICES }, (_, device) => bucket(device));
      expectErrors(
        edges.map((_, b) => buckets.filter((each) => each === b).length),
        runs,
      );
    },
  );
});

describe("noise of the servers", () => {
  const RUNS = 2000;
  const DEVICES = 12;

  it.each([
    [
      "occurrence",
      createTwoServerStatistic({ statistic: "occurrence", noise: "servers", ticks: 1, sigmas: [0.7, 30] }),
      (device: number) => [device % 2, Number(device < 5)],
      [6, 5],
    ],
    [
      "histogram",
      createTwoServerStatistic({
        statistic: "histogram",
        noise: "servers",
        ticks: 1,
        eventsPerTick: 9,
        edges: [0, 1, 3],
        sigma: 4.5,
      }),
      (device: number) => [0, 1, 2].map((bucket) => Number(bucket === bucketOf([0, 1, 3], device % 4))),
      [3, 6, 3],
    ],
    [
      "mean",
      createTwoServerStatistic({ statistic: "mean", noise: "servers", ticks: 1, eventsPerTick: 9, limit: 3, sigma: 2 }),
      (device: number) => [1, 2, 3].map((j) => Number(device % 4 >= j)),
      [18 / DEVICES],
    ],
  ] as const)("%s: twice one server's variance, whatever the number of devices", (name, statistic, bits, truth) => {
    const noise = statistic.serverNoise as readonly DiscreteGaussian[];
    const exact = addUp(
      statistic,
      Array.from({ length: DEVICES }, (_, device) => bits(device)),
      random,
    );
    const runs = withBufferedRandomness(random, (buffered) =>
      Array.from({ length: RUNS }, () => {
        const [leader, helper] = ROLES.map((role) => {
          const share = createAggregateShare(statistic.answers, exact[role]);
          share.addNoise(noise, buffered);
          return share.encode();
        }) as [Uint8Array, Uint8Array];
        return statistic.estimate(addAggregateShares(leader, helper), DEVICES);
      }),
    );
    expectErrors(truth, runs);
    const unit = name === "mean" ? DEVICES : 1;
    for (const [i, each] of noise.entries()) {
      expect(runs[0]?.[i]?.standardError).toBeCloseTo(Math.sqrt(2 * discreteGaussianVariance(each)) / unit, 10);
    }
  });
});

describe("with ElGamal and HPKE, from events to estimates, at noise too small to see", () => {
  const occurrence = createTwoServerStatistic({
    statistic: "occurrence",
    noise: "servers",
    ticks: 1,
    sigmas: [0.05, 0.05],
  });
  const histogram = { statistic: "histogram", ticks: 1, eventsPerTick: 9, edges: [0, 1, 2] } as const;
  const EVENTS = [0, 1, 1, 4];
  /** The bits of a device with this number of events. */
  const bitsOf = (statistic: TwoServerStatistic, number: number): Uint8Array =>
    reportOf(statistic, deviceNumber(number), (recorder) => {
      for (let i = 0; i < (EVENTS[number] as number); i++) recorder.record();
    });

  async function estimatesOf(statistics: readonly TwoServerStatistic[]): Promise<number[][]> {
    const servers = await startServers(statistics);
    for (const number of EVENTS.keys()) {
      const report = await wrap(deviceNumber(number), join(statistics.map((statistic) => bitsOf(statistic, number))));
      expect(await servers.decide(report)).toEqual({ leader: true, helper: true });
    }
    const sums = servers.sums();
    return statistics.map(({ answers, estimate, consistent }) => {
      const estimates = estimate(sums.splice(0, answers), EVENTS.length).map(({ estimate }) => estimate);
      for (const [i, value] of consistent(estimates, EVENTS.length).entries())
        expect(value).toBeCloseTo(estimates[i] as number, 5);
      return estimates.map((value) => Math.round(1e5 * value) / 1e5 + 0);
    });
  }

  it.each([
    [
      "occurrence, noise of the devices",
      createTwoServerStatistic({ statistic: "occurrence", noise: "device", ticks: 1, localEpsilons: [20, 20] }),
      [3, 0],
    ],
    ["occurrence, noise of the servers", occurrence, [3, 0]],
    [
      "histogram, noise of the devices",
      createTwoServerStatistic({ ...histogram, noise: "device", localEpsilon: 20 }),
      [1, 2, 1],
    ],
    [
      "histogram, noise of the servers",
      createTwoServerStatistic({ ...histogram, noise: "servers", sigma: 0.05 }),
      [1, 2, 1],
    ],
    [
      "mean",
      createTwoServerStatistic({
        statistic: "mean",
        noise: "servers",
        ticks: 1,
        eventsPerTick: 9,
        limit: 2,
        sigma: 0.02,
      }),
      [1],
    ],
  ] as const)("%s", async (_name, statistic, truth) => {
    expect(await estimatesOf([statistic])).toEqual([truth]);
  });

  it("several statistics in one report, one of whose bits being forged invalidates all", async () => {
    const mean = createTwoServerStatistic({
      statistic: "mean",
      noise: "servers",
      ticks: 1,
      eventsPerTick: 9,
      limit: 2,
      sigma: 0.02,
    });
    const buckets = createTwoServerStatistic({ ...histogram, noise: "servers", sigma: 0.05 });
    const statistics = [occurrence, buckets, mean];
    expect(await estimatesOf(statistics)).toEqual([[3, 0], [1, 2, 1], [1]]);
    const servers = await startServers(statistics);
    const bits = join(statistics.map((statistic) => bitsOf(statistic, 3)));
    bits.set(randomBytes(128), bits.length - 128);
    expect(await servers.decide(await wrap(deviceNumber(3), bits))).toEqual({ leader: false, helper: false });
    expect(servers.sums()).toEqual([0, 0, 1, 0, 0, 0]);
  });
});
