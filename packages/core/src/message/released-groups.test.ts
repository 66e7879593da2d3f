import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { planTask } from "../plan/index.ts";
import { aggregateDelta } from "../privacy/index.ts";
import { createTwoServerStatistic } from "../statistic/create-two-server.ts";
import { layoutOf, parseTask, type Release, releasedFigures, withheldGroups } from "./index.ts";
import type { GroupSums } from "./released-groups.ts";
import { twoServerStatisticsOf } from "./two-server-statistics.ts";

const GROUPS = ["stable", "beta", "canary"];
const TASK = parseTask(
  JSON.stringify({
    ...{ version: 1, task: "editor-health", tickSeconds: 60, ticks: 3, graceSeconds: 10, mode: "one-server" },
    ...{ scheme: "elgamal", minimumDevices: 100, groups: GROUPS },
    metrics: [
      { name: "crashed", statistic: "occurrence", localEpsilon: 1 },
      { name: "saves", statistic: "histogram", edges: [0, 1, 5], localEpsilon: 1 },
      { name: "tabs", statistic: "mean", limit: 10, sigma: 2 },
    ],
  }),
);
const statistics = layoutOf(TASK).map(({ spec, metrics, server }) => ({ ...spec, metrics, estimates: server }));
const cost = planTask({ task: TASK, devices: 1000, delta: 1e-6, windows: 1 });
const sumsOf = (crashed: number, saves: readonly number[], tabs: number): number[][] => [[crashed], [...saves], [tabs]];
const stable: GroupSums = { enrolled: 500, received: 400, sums: sumsOf(150, [200, 120, 80], 1200) };
const beta: GroupSums = { enrolled: 300, received: 100, sums: sumsOf(60, [30, 30, 40], 500) };
const canary: GroupSums = { enrolled: 120, received: 99, sums: sumsOf(50, [33, 33, 33], 99) };

const figures = (counted: readonly GroupSums[], task = TASK): ReturnType<typeof releasedFigures> =>
  releasedFigures(task, statistics, counted, cost);
const alone = ({ groups: _, ...task }: typeof TASK, counted: GroupSums): Release["metrics"] =>
  figures([counted], task).metrics;

describe("the figures of a release with groups", () => {
  const released = figures([stable, beta, canary]);

  it("are, of each group, those of a release of its devices alone", () => {
    expect(released.groups).toEqual([
      { group: "stable", status: "released", enrolled: 500, received: 400, metrics: alone(TASK, stable) },
      { group: "beta", status: "released", enrolled: 300, received: 100, metrics: alone(TASK, beta) },
      { group: "canary", status: "not-enough", enrolled: 120, received: 99, missing: 1 },
    ]);
  });

  it("are, in total, those of a release of all devices of the released groups", () => {
    const sums = sumsOf(210, [230, 150, 120], 1700);
    expect(released.metrics).toEqual(alone(TASK, { enrolled: 800, received: 500, sums }));
    expect(released.devices).toBe(500);
  });

  it("compare each pair of released groups: shares of devices, and means", () => {
    expect(released.differences?.map(({ group, minus }) => [group, minus])).toEqual([["beta", "stable"]]);
    const [crashed, saves, tabs] = released.differences?.[0]?.metrics ?? [];
    const [ofStable, ofBeta] = [alone(TASK, stable), alone(TASK, beta)] as const;
    if (crashed?.statistic !== "occurrence" || tabs?.statistic !== "mean") throw new TypeError("not in order");
    if (saves?.statistic !== "histogram") throw new TypeError("not in order");
    if (ofStable[0]?.statistic !== "occurrence" || ofBeta[0]?.statistic !== "occurrence") throw new TypeError("none");
    const share = [ofBeta[0].estimate / 100, ofStable[0].estimate / 400] as const;
    expect(crashed.estimate).toBeCloseTo(share[0] - share[1], 12);
    const variance = [
      (ofBeta[0].standardError / 100) ** 2 + (share[0] * (1 - share[0])) / 100,
      (ofStable[0].standardError / 400) ** 2 + (share[1] * (1 - share[1])) / 400,
    ] as const;
    expect(crashed.standardError).toBeCloseTo(Math.sqrt(variance[0] + variance[1]), 12);
    expect(saves.buckets.map(({ bucket }) => bucket)).toEqual(["0", "1–4", "5+"]);
    expect(saves.buckets.reduce((sum, { estimate }) => sum + estimate, 0)).toBeCloseTo(0, 9);
    expect(tabs.estimate).toBeCloseTo(500 / 100 - 1200 / 400, 12);
    // Values from 0 to 10, of mean 5 and 3.
    const noise = 20 ** 2;
    expect(tabs.standardError).toBeCloseTo(Math.sqrt((noise + 25) / 100 + (noise + 21) / 400), 6);
  });

  it("have all pairs of three groups, the later one minus the earlier one", () => {
    const { differences } = figures([stable, beta, { ...canary, received: 100 }]);
    expect(differences?.map(({ group, minus }) => `${group} ${minus}`)).toEqual([
      "beta stable",
      "canary stable",
      "canary beta",
    ]);
  });

  it("are those of the one group if only one is released, and without comparison", () => {
    const only = figures([{ ...stable, received: 99 }, beta, canary]);
    expect(only.metrics).toEqual(alone(TASK, beta));
    expect([only.devices, only.differences]).toEqual([100, []]);
  });
});

describe("a group of which too few devices reported", () => {
  const sum = fc.integer({ min: 0, max: 1000 });
  const anySums = fc
    .tuple(sum, fc.tuple(sum, sum, sum), sum)
    .map(([crashed, saves, tabs]) => sumsOf(crashed, saves, tabs));

  it("changes nothing that is published but its own counts, whatever its devices answered", () => {
    fc.assert(
      fc.property(anySums, anySums, fc.integer({ min: 0, max: 99 }), (one, other, received) => {
        const publishedWith = (sums: GroupSums["sums"]) =>
          figures([{ ...stable, received, sums }, beta, { ...canary, sums: [] }]);
        expect(publishedWith(one)).toEqual(publishedWith(other));
      }),
    );
  });

  it("is not even looked at", () => {
    const sums = new Proxy([], {
      get: () => {
        throw new TypeError("the sums of a withheld group were read");
      },
    }) as unknown as GroupSums["sums"];
    expect(figures([stable, beta, { ...canary, sums }]).groups?.[2]?.status).toBe("not-enough");
  });

  it("is released from minimumDevices on", () => {
    expect(figures([stable, beta, { ...canary, received: 100 }]).groups?.[2]?.status).toBe("released");
  });
});

describe("what a release with groups reveals of a device, over all outcomes and all answers of six devices", () => {
  const SIZES = [2, 3, 1];
  const LOCAL = 1;
  const task = parseTask(
    JSON.stringify({
      ...TASK,
      minimumDevices: 2,
      metrics: [{ name: "m", statistic: "occurrence", localEpsilon: LOCAL }],
    }),
  );
  const layout = layoutOf(task).map(({ spec, metrics, server }) => ({ ...spec, metrics, estimates: server }));
  const price = planTask({ task, devices: 6, delta: 1e-6, windows: 1 });
  const published = new Map<string, string>();
  /** Everything that is published if these numbers of devices per group answer 1. */
  const releaseOf = (told: readonly number[]): string => {
    const known = published.get(told.join());
    if (known !== undefined) return known;
    const counted = SIZES.map((received, g) => ({ enrolled: received, received, sums: [[told[g] as number]] }));
    const text = JSON.stringify(releasedFigures(task, layout, counted, price));
    published.set(told.join(), text);
    return text;
  };

  /** How many of devices that hold these bits tell a 1, by randomized response. */
  function toldBy(bits: readonly number[]): number[] {
    const flip = 1 / (1 + Math.exp(LOCAL));
    let sums = [1];
    for (const bit of bits) {
      const one = bit === 1 ? 1 - flip : flip;
      sums = sums.concat(0).map((same, told) => same * (1 - one) + (sums[told - 1] ?? 0) * one);
    }
    return sums;
  }

  function distributionOf(bits: readonly (readonly number[])[]): Map<string, number> {
    const [a, b, c] = bits.map(toldBy) as [number[], number[], number[]];
    const found = new Map<string, number>();
    for (const [i, p] of a.entries())
      for (const [j, q] of b.entries())
        for (const [k, r] of c.entries()) {
          const release = releaseOf([i, j, k]);
          found.set(release, (found.get(release) ?? 0) + p * q * r);
        }
    return found;
  }

  const deltaAt = (epsilon: number, one: Map<string, number>, other: Map<string, number>): number =>
    [...one].reduce((sum, [release, p]) => sum + Math.max(0, p - Math.exp(epsilon) * (other.get(release) ?? 0)), 0);

  const datasets = Array.from({ length: 64 }, (_, n) => {
    const bits = Array.from({ length: 6 }, (_, i) => (n >> i) & 1);
    return [bits.slice(0, 2), bits.slice(2, 5), bits.slice(5)];
  });

  it.each([0, 1, 2])(
    "in group %i: never more than a release of minimumDevices alone, nothing in a small group",
    (g) => {
      for (const epsilon of [0, 0.25, 0.5, 0.9]) {
        const most = g === 2 ? 0 : aggregateDelta(2, LOCAL, epsilon).delta;
        let reached = 0;
        for (const bits of datasets) {
          const changed = bits.with(g, (bits[g] as number[]).with(0, 1 - ((bits[g] as number[])[0] as number)));
          reached = Math.max(reached, deltaAt(epsilon, distributionOf(bits), distributionOf(changed)));
        }
        expect(reached).toBeLessThanOrEqual(most + 1e-12);
        // With exactly minimumDevices it is the least that holds.
        if (g === 0) expect(reached).toBeGreaterThan(most - 1e-9);
      }
    },
  );

  it("would be more if the total had all groups: the control", () => {
    const leaking = (bits: readonly (readonly number[])[]): Map<string, number> => {
      const found = new Map<string, number>();
      const [a, b, c] = bits.map(toldBy) as [number[], number[], number[]];
      for (const [i, p] of a.entries())
        for (const [j, q] of b.entries())
          for (const [k, r] of c.entries()) found.set(`${i} ${j} ${i + j + k}`, p * q * r);
      return found;
    };
    const [none, one] = [0, 1].map((bit) => leaking([[0, 0], [0, 0, 0], [bit]])) as [
      Map<string, number>,
      Map<string, number>,
    ];
    // Subtraction leaves the one device's answer, with its local guarantee and no better one.
    expect(deltaAt(0.9, none, one)).toBeGreaterThan(aggregateDelta(2, LOCAL, 0.9).delta);
    expect(deltaAt(LOCAL, none, one)).toBeCloseTo(0, 12);
  });
});

describe("if all groups are too small", () => {
  it("there is nothing to release, and each says what it lacked", () => {
    const counts = [stable, beta, canary].map((group) => ({ ...group, received: 40 }));
    expect(() => figures(counts)).toThrow("too few devices of each group");
    expect(withheldGroups(TASK, counts)).toEqual([
      { group: "stable", status: "not-enough", enrolled: 500, received: 40, missing: 60 },
      { group: "beta", status: "not-enough", enrolled: 300, received: 40, missing: 60 },
      { group: "canary", status: "not-enough", enrolled: 120, received: 40, missing: 60 },
    ]);
  });

  it("which they are not if one has enough", () => {
    expect(withheldGroups(TASK, [canary, beta, canary])).toBeUndefined();
  });
});

it("with noise of the servers, which each group has its own of, the errors of the total are those of all noises", () => {
  const { scheme: _, ...rest } = TASK;
  const task = parseTask(
    JSON.stringify({
      ...rest,
      mode: "two-server",
      metrics: [
        { name: "crashed", statistic: "occurrence", noise: "servers", sigma: 20 },
        { name: "saves", statistic: "histogram", edges: [0, 1, 2, 3, 4], noise: "servers", sigma: 20 },
        { name: "tabs", statistic: "mean", limit: 10, sigma: 20 },
      ],
    }),
  );
  const parts = twoServerStatisticsOf(task).map(({ spec, metrics }) => ({
    ...spec,
    metrics,
    estimates: createTwoServerStatistic(spec),
  }));
  const price = planTask({ task, devices: 1000, delta: 1e-6, windows: 1 });
  const group = { enrolled: 400, received: 400, sums: [[100], [20, 80, 200, 80, 20], [800]] };
  const { metrics, groups } = releasedFigures(task, parts, [group, group, group], price);
  const errorsOf = (found: Release["metrics"]) =>
    found.map((each) => ("standardError" in each ? each.standardError : 0));
  const [first] = groups ?? [];
  if (first?.status !== "released") throw new TypeError("not released");
  const [count, , mean] = errorsOf(first.metrics) as [number, number, number];
  const [total, , meanOfAll] = errorsOf(metrics) as [number, number, number];
  expect(total).toBeCloseTo(Math.sqrt(3) * count, 9);
  // Of three times the devices.
  expect(meanOfAll).toBeCloseTo(mean / Math.sqrt(3), 9);
  const intervals = (noises: number) =>
    parts
      .find(({ statistic }) => statistic === "histogram")
      ?.estimates.quantiles?.([60, 240, 600, 240, 60], 1200, [0.2], noises);
  const saves = metrics.find(({ name }) => name === "saves");
  const [quantile] = (saves && "buckets" in saves && saves.quantiles) || [];
  // The median is sure either way; nearer to an edge the noise of three groups leaves more open than that of one.
  expect(quantile).toMatchObject({ q: 0.5, low: "2", high: "2" });
  expect(intervals(60)).not.toEqual(intervals(1));
});
