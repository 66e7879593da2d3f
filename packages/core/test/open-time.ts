import { describe, expect, it } from "vitest";
import { type DeviceKeyContext, type RistrettoGroup, secret } from "../src/encryption/index.ts";
import { randomnessFrom, uniformBelow } from "../src/randomness/index.ts";
import { createStatistic } from "../src/statistic/create.ts";
import type { SchemeName, StatisticSpec } from "../src/statistic/spec.ts";

/**
 * The time of opening must not show if a report is valid. Every sweep opens one report of each kind in a random
 * order. If time does not depend on the kind, then, whatever the machine was doing, an invalid report takes more than
 * 1.2 times as long as the valid one in a sweep with probability at most 1/2, independently of other sweeps: exchange
 * the two, and it takes less. The same for less than 1/1.2. An alarm is three quarters of the sweeps, which by
 * Hoeffding happens with probability at most e^{−n/8} = 2e-9 for n = 160; 13 statistics, 4 kinds, 2 sides: below
 * 3e-7.
 */
const SWEEPS = 160;
const SLACK = 1.2;

const random = randomnessFrom(globalThis.crypto);
const master = secret(new Uint8Array(32).fill(6));
const contextOf = (byte: number): DeviceKeyContext => ({
  task: "open-time",
  window: 0,
  device: new Uint8Array(16).fill(byte),
  role: "tally",
  index: 0,
});

/** A statistic whose opening is timed. */
export type OpenTimeCase = readonly [scheme: SchemeName, name: string, spec: StatisticSpec, ciphertexts: number];

const occurrence = (metrics: number): StatisticSpec => ({
  statistic: "occurrence",
  ticks: 2,
  hides: 0,
  localEpsilons: new Array<number>(metrics).fill(1),
});
const histogram = {
  statistic: "histogram",
  ticks: 2,
  hides: 0,
  eventsPerTick: 1,
  edges: [0, 1, 2, 5],
  localEpsilon: 1,
} as const;
const mean = { statistic: "mean", ticks: 2, hides: 0, eventsPerTick: 1, limit: 10, sigma: 2 } as const;

/** All schemes, with one ciphertext and with several. */
export const OPEN_TIME_CASES: readonly OpenTimeCase[] = [
  ["lattice", "one ciphertext of counters", occurrence(1000), 1],
  ["lattice", "two ciphertexts of counters", occurrence(1500), 2],
  ["lattice", "a K-ary histogram", { ...histogram, mechanism: "kary" }, 1],
  ["lattice", "a unary histogram", { ...histogram, mechanism: "unary" }, 1],
  ["lattice", "a mean", mean, 1],
  ["elgamal", "three counters", occurrence(3), 3],
  ["elgamal", "a histogram", histogram, 4],
  ["elgamal", "a mean", mean, 1],
  ["elgamal", "a mean found in giant steps", { ...mean, sigma: 1000 }, 1],
];

/** Opening takes as long for invalid reports as for valid ones; ElGamal runs on `group`. */
export function testOpenTime(cases: readonly OpenTimeCase[], group?: RistrettoGroup): void {
  describe.each(cases)("%s, %s", (scheme, _, spec, ciphertexts) => {
    const { device, server } = createStatistic(scheme, spec, group);
    const sealed = (byte: number): Uint8Array => {
      const recorder = device.start(server.issueKey(master, contextOf(byte)), random);
      return recorder.seal(recorder.write() as Uint8Array);
    };
    const noise = new Uint8Array(device.bytes.report);
    random(noise);
    const size = device.bytes.report / ciphertexts;
    const valid = sealed(1);
    const withNoise = (from: number): Uint8Array => {
      const changed = valid.slice();
      changed.set(noise.subarray(from, from + size), from);
      return changed;
    };
    const kinds: readonly Uint8Array[] = [
      valid,
      noise,
      sealed(2), // opened with another key
      withNoise(0), // one bad ciphertext, the first or the last
      withNoise(device.bytes.report - size),
    ];

    it("opening takes as long for an invalid report as for a valid one", () => {
      const longer = kinds.map(() => 0);
      const shorter = kinds.map(() => 0);
      for (let sweep = 0; sweep < SWEEPS; sweep++) {
        const times = timesOf(kinds);
        const unit = times[0] as number;
        for (const [kind, time] of times.entries()) {
          if (time > SLACK * unit) longer[kind] = (longer[kind] as number) + 1;
          if (time < unit / SLACK) shorter[kind] = (shorter[kind] as number) + 1;
        }
      }
      expect(Math.max(...longer, ...shorter)).toBeLessThan(0.75 * SWEEPS);
    });

    /** Opened in a random order. */
    function timesOf(reports: readonly Uint8Array[]): number[] {
      const left = [...reports.entries()];
      const times = reports.map(() => 0);
      while (left.length > 0) {
        const [[kind, report]] = left.splice(uniformBelow(random, left.length), 1) as [[number, Uint8Array]];
        const start = performance.now();
        const opened = server.open(master, contextOf(1), report, random);
        times[kind] = performance.now() - start;
        expect(opened.valid).toBe(kind === 0);
      }
      return times;
    }
  });
}
