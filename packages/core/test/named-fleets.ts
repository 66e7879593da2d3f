import { expect } from "vitest";
import { type DeviceKeyContext, secret } from "../src/encryption/index.ts";
import { type Figure, figuresOf, type ReleasedMetric, summaryOf } from "../src/message/index.ts";
import { releasedMetrics } from "../src/message/released-metrics.ts";
import { type Randomness, uniformBelow, withBufferedRandomness } from "../src/randomness/index.ts";
import type { AutomatonNoise } from "../src/statistic/automaton/device.ts";
import type { AnyShape } from "../src/statistic/spec.ts";
import type { EventStream, StreamEvent } from "../src/statistic/stream.ts";
import { entryOf } from "../src/statistic/table.ts";
import { fastRandomness } from "./fast-randomness.ts";
import { inTheClear, type NamedCase, storedAfter, WRITES } from "./named-cases.ts";

const master = secret(new Uint8Array(32).fill(7));
const context: DeviceKeyContext = { task: "fleets", window: 0, device: new Uint8Array(16), role: "tally", index: 0 };

/** In every tick every event happens with this probability. */
const RATE = 0.15;

function drawStream({ automaton }: NamedCase, random: Randomness): EventStream {
  const stream: StreamEvent[] = [];
  for (let tick = 0; tick < WRITES.ticks; tick++) {
    for (const event of automaton.events) if (uniformBelow(random, 1000) < 1000 * RATE) stream.push({ tick, event });
  }
  return stream;
}

/** A window of a fleet: what a service would release, and the true figures in the same order. */
interface Window {
  readonly released: readonly Figure[];
  readonly truth: readonly number[];
}

function runWindow(named: NamedCase, noise: AutomatonNoise, devices: number, random: Randomness): Window {
  const { statistic, settings, automaton } = named;
  const shape = { ...(settings as AnyShape), ...WRITES };
  const { device, server } = inTheClear(automaton, noise);
  const { answers } = entryOf(statistic);
  const publicKey = server.issueKey(master, context);
  let [sums, truth]: (readonly number[])[] = [];
  const added = (all: readonly number[] | undefined, own: readonly number[]): readonly number[] =>
    own.map((value, i) => value + (all?.[i] ?? 0));
  for (let i = 0; i < devices; i++) {
    const stream = drawStream(named, random);
    const stored = storedAfter(device, publicKey, stream, random, WRITES.ticks);
    const report = device.resume(publicKey, stored, false, random).seal(stored);
    const { valid, answers: told } = server.open(master, context, report, random);
    expect(valid).toBe(true);
    sums = added(sums, told);
    truth = added(truth, answers.answer(shape, stream));
  }
  const [sum = [], right = []] = [sums, truth];
  const price = { mechanism: "", localEpsilon: 1, epsilon: 1, delta: 0, bound: "upper" } as const;
  const part = { ...shape, statistic, metrics: ["m"], estimates: server, sums: sum };
  const cost = { metrics: [{ name: "m", ...price }], reporting: devices } as unknown as Parameters<
    typeof releasedMetrics
  >[3];
  const [metric] = releasedMetrics([{ name: "m" }], [part], devices, cost) as [ReleasedMetric];
  const { isShare = false, figures = [] } = answers.summary?.(shape) ?? {};
  const summed = figures.map(({ categories }) => categories.reduce((total, k) => total + (right[k] as number), 0));
  return {
    released: [...figuresOf(metric), ...Object.values(summaryOf(metric)).flat()].map(({ figure }) => figure),
    truth: [
      ...right.map((value) => (answers.output(shape) === "average" ? value / devices : value)),
      ...summed.map((value) => (isShare ? value / devices : value)),
    ],
  };
}

/**
 * Over many fleets, with new events in each, every figure of a statistic that a release has is unbiased, deviates as its
 * standard error says, and is covered by its interval as often as it says. `tolerance` is in standard deviations of what
 * an honest estimator shows: six are exceeded once in 10⁸ figures.
 */
export function checkFleets(named: NamedCase, noise: AutomatonNoise, fleets: number, devices: number): void {
  const sums: { z: number; square: number; covered: number }[] = [];
  withBufferedRandomness(fastRandomness(`${named.statistic} ${JSON.stringify(noise)}`), (random) => {
    for (let i = 0; i < fleets; i++) {
      const { released, truth } = runWindow(named, noise, devices, random);
      expect(released).toHaveLength(truth.length);
      for (const [j, { estimate, standardError, interval }] of released.entries()) {
        const right = truth[j] as number;
        sums[j] ??= { z: 0, square: 0, covered: 0 };
        const z = (estimate - right) / standardError;
        sums[j].z += z;
        sums[j].square += z * z;
        if (interval[0] <= right && right <= interval[1]) sums[j].covered++;
      }
    }
  });
  const TOLERANCE = 6;
  for (const { z, square, covered } of sums) {
    expect(Math.abs(z) / fleets).toBeLessThan(TOLERANCE / Math.sqrt(fleets));
    // A squared z has mean 1 and variance 2.
    expect(Math.abs(square / fleets - 1)).toBeLessThan(TOLERANCE * Math.sqrt(2 / fleets));
    expect(Math.abs(covered / fleets - 0.95)).toBeLessThan(TOLERANCE * Math.sqrt((0.95 * 0.05) / fleets));
  }
}
