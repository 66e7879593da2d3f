import { describe, expect, it } from "vitest";
import { chiSquare, chiSquareAlarm } from "../../test/chi-square.ts";
import { transparent } from "../../test/transparent.ts";
import { type DeviceKeyContext, secret } from "../encryption/index.ts";
import { createDiscreteGaussian, type DiscreteGaussian } from "../privacy/index.ts";
import { type Randomness, randomnessFrom, seededRandomnessForTests } from "../randomness/index.ts";
import { createStatistic, type Statistic } from "./create.ts";
import { histogramDevice, histogramServer } from "./histogram/automaton.ts";
import { type HistogramMechanismName, type HistogramSpec, histogramMechanism } from "./histogram/histogram.ts";
import { latticeServer } from "./lattice/lattice-machine.ts";
import { meanDevice, meanServer } from "./mean/automaton.ts";
import { occurrenceDevice, occurrenceServer } from "./occurrence/automaton.ts";
import { ledgerDevice, planLedger } from "./occurrence/ledger.ts";

/**
 * What the server opens has the distribution of the mechanism and no other. The transparent scheme shows the paper's
 * algorithms without the cost of encryption; the lattice runs are real, with randomness from the platform (seeding it
 * would take most of the time). χ² alarms falsely once in 10⁸, so all of them together less than once in 10⁶ runs.
 */
const master = secret(new Uint8Array(32).fill(5));
const context: DeviceKeyContext = { task: "opened", window: 0, device: new Uint8Array(16), role: "tally", index: 0 };
const platform = randomnessFrom(globalThis.crypto);

/** Answers of `runs` devices with this many events, one in a tick. */
function answersOf(
  { device, server }: Statistic,
  { runs, ticks, events, random }: { runs: number; ticks: number; events: number; random: Randomness },
): (readonly number[])[] {
  const publicKey = server.issueKey(master, context);
  let accepted = 0;
  const all = Array.from({ length: runs }, () => {
    const recorder = device.start(publicKey, random);
    let stored: Uint8Array | undefined;
    for (let tick = 0; tick < ticks; tick++) {
      if (tick < events) recorder.record();
      stored = recorder.write();
    }
    const { valid, answers } = server.open(master, context, recorder.seal(stored as Uint8Array), random);
    if (valid) accepted++;
    return answers;
  });
  expect(accepted).toBe(runs);
  return all;
}

function expectDistribution(observed: readonly number[], probabilities: readonly number[]): void {
  const total = observed.reduce((sum, count) => sum + count, 0);
  // Outcomes are taken together until they are expected 25 times.
  const classes: [observed: number, expected: number][] = [];
  let open: [number, number] = [0, 0];
  for (const [i, probability] of probabilities.entries()) {
    if (probability === 0) expect(observed[i]).toBe(0);
    open = [open[0] + (observed[i] as number), open[1] + total * probability];
    if (open[1] < 25) continue;
    classes.push(open);
    open = [0, 0];
  }
  const last = classes.at(-1) as [number, number];
  last[0] += open[0];
  last[1] += open[1];
  expect(
    chiSquare(
      classes.map(([count]) => count),
      classes.map(([, count]) => count),
    ),
  ).toBeLessThan(chiSquareAlarm(classes.length - 1, 1e-8));
}

/** Values with discrete Gaussian noise around `centre`. */
function expectGaussian(values: readonly number[], centre: number, { sigma2, reach }: DiscreteGaussian): void {
  const observed = new Array<number>(2 * reach + 1).fill(0);
  for (const value of values) {
    const at = value - centre + reach;
    observed[at] = (observed[at] as number) + 1;
  }
  const weights = observed.map((_, i) => Math.exp(-((i - reach) ** 2) / (2 * sigma2)));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  expectDistribution(
    observed,
    weights.map((weight) => weight / total),
  );
}

const HISTOGRAM = { ticks: 2, hides: 0, eventsPerTick: 1, edges: [0, 1, 2], localEpsilon: 1 };

/** Of the vector of bits, as a number, if the count is in `bucket`. */
function exactDistribution(name: HistogramMechanismName, bucket: number): number[] {
  const mechanism = histogramMechanism({ ...HISTOGRAM, mechanism: name });
  return Array.from({ length: 8 }, (_, code) => {
    const bits = [0, 1, 2].map((b) => (code >> b) & 1);
    if (mechanism.name === "kary") {
      if ((bits[0] as number) + (bits[1] as number) + (bits[2] as number) !== 1) return 0;
      return (1 - mechanism.keep) / 3 + (bits[bucket] === 1 ? mechanism.keep : 0);
    }
    return bits.reduce((product, bit, b) => {
      const one =
        mechanism.name === "unary"
          ? b === bucket
            ? 0.5
            : mechanism.noise
          : b === bucket
            ? 1 - mechanism.flip
            : mechanism.flip;
      return product * (bit === 1 ? one : 1 - one);
    }, 1);
  });
}

describe("histograms: the joint distribution of all buckets, for counts in every bucket", () => {
  function check(statistic: Statistic, name: HistogramMechanismName, runs: number, random: Randomness): void {
    for (const events of [0, 1, 2]) {
      const observed = new Array<number>(8).fill(0);
      for (const bits of answersOf(statistic, { runs, ticks: HISTOGRAM.ticks, events, random })) {
        const code = bits.reduce((sum, bit, b) => sum + (bit << b), 0);
        observed[code] = (observed[code] as number) + 1;
      }
      expectDistribution(observed, exactDistribution(name, events));
    }
  }

  for (const name of ["kary", "unary", "per-bucket"] as const) {
    const full: HistogramSpec = { ...HISTOGRAM, mechanism: name };
    it(`${name}: Algorithm 3, corrected`, () => {
      const statistic = {
        device: histogramDevice(transparent, full),
        server: histogramServer(transparent, full),
      };
      check(statistic, name, 10_000, seededRandomnessForTests(name));
    });
    it(`${name}: rotation and bucket polynomial`, () => {
      check(createStatistic("lattice", { statistic: "histogram", ...full }), name, 500, platform);
    });
  }
});

describe("occurrence", () => {
  it("Algorithm 2: randomized response of whether it happened at all", () => {
    const spec = { ticks: 3, hides: 0, localEpsilons: [1] };
    const statistic = {
      device: occurrenceDevice(transparent, spec),
      server: occurrenceServer(transparent, spec),
    };
    const flip = 1 / (1 + Math.E);
    for (const events of [0, 1, 3]) {
      const random = seededRandomnessForTests(events);
      const ones = answersOf(statistic, { runs: 20_000, ticks: 3, events, random }).filter(([bit]) => bit === 1).length;
      const one = events > 0 ? 1 - flip : flip;
      expectDistribution([20_000 - ones, ones], [1 - one, one]);
    }
  });

  it("the ledger: the full opened value of every slot, with and without events", () => {
    const METRICS = 1000;
    const plan = planLedger({ ticks: 1, hides: 0, localEpsilons: new Array<number>(METRICS).fill(1) });
    const device = ledgerDevice(plan);
    const first = plan.canary.slots.length;
    // A server that reads the values themselves instead of the bits.
    const { issueKey, open } = latticeServer(plan, {
      read: ([slots]) => Array.from(slots?.subarray(first, first + METRICS) ?? []),
      onNoEvent: () => [],
    });
    const t = 2 ** plan.choice.plaintextBits;
    const { size } = plan.responses[0] as { size: number };
    const publicKey = issueKey(master, context);
    const never = new Array<number>(t).fill(0);
    const often = new Array<number>(t).fill(0);
    for (let run = 0; run < 200; run++) {
      const recorder = device.start(publicKey, platform);
      // Every second metric happens: once, twice, or many times.
      for (let metric = 0; metric < METRICS; metric += 2) {
        for (let i = 0; i <= (metric / 2) % 5; i++) recorder.record(metric);
      }
      const values = open(master, context, recorder.seal(recorder.write() as Uint8Array), platform).answers;
      expect(values.length).toBe(METRICS);
      for (const [metric, value] of values.entries()) {
        const counts = metric % 2 === 0 ? often : never;
        counts[value] = (counts[value] as number) + 1;
      }
    }
    expectDistribution(often, new Array<number>(t).fill(1 / t));
    expectDistribution(
      never,
      Array.from({ length: t }, (_, value) => (value < size ? (t - size) / (t * size) : size / (t * (t - size)))),
    );
  });
});

describe("mean: min(count, limit) plus discrete Gaussian noise of standard deviation sigma·limit", () => {
  const spec = { ticks: 4, hides: 0, eventsPerTick: 1, limit: 2, sigma: 1.5 };
  const gaussian = createDiscreteGaussian(3);

  function check(statistic: Statistic, runs: number, random: Randomness): void {
    for (const events of [0, 1, 4]) {
      const answers = answersOf(statistic, { runs, ticks: 4, events, random });
      expectGaussian(answers.flat(), Math.min(events, 2), gaussian);
    }
  }

  it("Algorithm 4, corrected", () => {
    const statistic = { device: meanDevice(transparent, spec), server: meanServer(transparent, spec) };
    check(statistic, 10_000, seededRandomnessForTests("mean"));
  });

  it("rotation and weights", () => {
    check(createStatistic("lattice", { statistic: "mean", ...spec }), 500, platform);
  });
});

describe("a report that fails the check counts as a draw of the mechanism on no event", () => {
  const RUNS = 10_000;
  const random = seededRandomnessForTests("invalid");
  /** What comes out of `RUNS` reports of no bytes at all. */
  const answersOfInvalid = ({ server }: Pick<Statistic, "server">): (readonly number[])[] => {
    let accepted = 0;
    const all = Array.from({ length: RUNS }, () => {
      const { valid, answers } = server.open(master, context, new Uint8Array(), random);
      if (valid) accepted++;
      return answers;
    });
    expect(accepted).toBe(0);
    return all;
  };

  for (const scheme of ["lattice", "elgamal"] as const) {
    it(`${scheme} occurrence`, () => {
      const statistic = createStatistic(scheme, { statistic: "occurrence", ticks: 2, hides: 0, localEpsilons: [1, 2] });
      const sums = answersOfInvalid(statistic).reduce<number[]>(
        (sum, bits) => bits.map((bit, i) => bit + (sum[i] ?? 0)),
        [],
      );
      const exact = statistic.server.estimate([0, 0], 1);
      for (const [i, ones] of sums.entries()) {
        // (0 − flip)/(1 − 2·flip) is the estimate from one device that told 0.
        const { estimate } = exact[i] as { estimate: number };
        const flip = estimate / (2 * estimate - 1);
        expectDistribution([RUNS - ones, ones], [1 - flip, flip]);
      }
    });

    for (const name of ["kary", "unary", "per-bucket"] as const) {
      it(`${scheme} histogram ${name}`, () => {
        const statistic = createStatistic(scheme, { statistic: "histogram", ...HISTOGRAM, mechanism: name });
        const observed = new Array<number>(8).fill(0);
        for (const bits of answersOfInvalid(statistic)) {
          const code = bits.reduce((sum, bit, b) => sum + (bit << b), 0);
          observed[code] = (observed[code] as number) + 1;
        }
        expectDistribution(observed, exactDistribution(name, 0));
      });
    }

    it(`${scheme} mean`, () => {
      const statistic = createStatistic(scheme, {
        statistic: "mean",
        ticks: 2,
        hides: 0,
        eventsPerTick: 1,
        limit: 2,
        sigma: 1.5,
      });
      expectGaussian(answersOfInvalid(statistic).flat(), 0, createDiscreteGaussian(3));
    });
  }
});
