import { expect, it } from "vitest";
import { type DeviceKeyContext, type RistrettoGroup, secret } from "../src/encryption/index.ts";
import { randomnessFrom } from "../src/randomness/index.ts";
import { createStatistic } from "../src/statistic/create.ts";
import type { SchemeName, StatisticSpec } from "../src/statistic/spec.ts";
import { ALARM_SHARE, compareTimes, figuresOf, LEAK_T, spin, timed } from "./leak.ts";

const random = randomnessFrom(globalThis.crypto);
const master = secret(new Uint8Array(32).fill(6));
const contextOf = (byte: number): DeviceKeyContext => ({
  task: "opening-leak",
  window: 0,
  device: new Uint8Array(16).fill(byte),
  role: "tally",
  index: 0,
});

const occurrence = (metrics: number): StatisticSpec => ({
  statistic: "occurrence",
  ticks: 2,
  hides: 0,
  localEpsilons: new Array<number>(metrics).fill(1),
});

/** A statistic, and which difference in the time of opening would be an alarm: a share of that time. */
export interface OpeningLeakCase {
  readonly scheme: SchemeName;
  readonly spec: StatisticSpec;
  readonly pairs: number;
  readonly bound: number;
}

/** The commonest task of each scheme; `times` as many pairs as the short test. */
export function openingLeakCases(times: number): readonly OpeningLeakCase[] {
  return [
    { scheme: "lattice", spec: occurrence(1000), pairs: 1200 * times, bound: 0.1 },
    { scheme: "elgamal", spec: occurrence(1), pairs: 240 * times, bound: 0.1 },
  ];
}

/**
 * Compares the times of opening a valid report and three kinds of invalid ones, and finds a planted difference of the
 * bound in the same way. It asserts on what three quarters of the blocks show, which noise does not reach (leak.ts); t
 * is for the log.
 */
export function testOpeningLeak(cases: readonly OpeningLeakCase[], group?: RistrettoGroup): void {
  it.each(cases)(
    "$scheme: opening an invalid report takes as long as opening a valid one, within $bound of it; as much more is found",
    ({ scheme, spec, pairs, bound }) => {
      const { device, server } = createStatistic(scheme, spec, group);
      const sealed = (byte: number): Uint8Array => {
        const recorder = device.start(server.issueKey(master, contextOf(byte)), random);
        return recorder.seal(recorder.write() as Uint8Array);
      };
      const open = (report: Uint8Array): number => timed(() => server.open(master, contextOf(1), report, random));
      const valid = [sealed(1), sealed(1), sealed(1)];
      const noise = new Uint8Array(device.bytes.report);
      random(noise);
      const flipped = sealed(1);
      flipped[flipped.length >> 1] = (flipped[flipped.length >> 1] as number) ^ 1;
      let turn = 0;
      const openValid = (): number => open(valid[turn++ % valid.length] as Uint8Array);
      const kinds = { "random bytes": noise, "another key": sealed(2), "one bit flipped": flipped };
      for (const [kind, report] of Object.entries(kinds)) {
        const found = compareTimes(openValid, () => open(report), { pairs, random });
        console.log(figuresOf(`${scheme}: ${kind}`, found));
        const share = Math.max(found.shareAbove(bound * found.median), 1 - found.shareAbove(-bound * found.median));
        expect(share).toBeLessThan(ALARM_SHARE);
      }
      const { median } = compareTimes(openValid, openValid, { pairs: 240, random });
      const planted = compareTimes(openValid, () => openValid() + timed(() => spin(2 * bound * median)), {
        pairs,
        random,
      });
      console.log(figuresOf(`${scheme}: planted`, planted));
      expect(planted.t).toBeGreaterThan(LEAK_T);
      expect(planted.shareAbove(bound * planted.median)).toBeGreaterThanOrEqual(ALARM_SHARE);
    },
  );
}

/** How often a planted difference must be found for a power of at least 0.9, with confidence 0.95: 0.9³⁰ < 0.05. */
const RUNS = 30;

/** A planted share of the time of opening is found in every run: the power of the test, for a difference of this size. */
export function testPower({ scheme, spec, pairs }: OpeningLeakCase, share: number, group?: RistrettoGroup): void {
  it(`${scheme}: ${100 * share}% more is found in ${pairs} pairs with probability at least 0.9`, () => {
    const { device, server } = createStatistic(scheme, spec, group);
    const recorder = device.start(server.issueKey(master, contextOf(1)), random);
    const report = recorder.seal(recorder.write() as Uint8Array);
    const open = (): number => timed(() => server.open(master, contextOf(1), report, random));
    const { median } = compareTimes(open, open, { pairs: 240, random });
    const openLonger = (): number => open() + timed(() => spin(share * median));
    const found = Array.from({ length: RUNS }, () => compareTimes(open, openLonger, { pairs, random }).t);
    const lowest = Math.round(10 * Math.min(...found)) / 10;
    console.log(JSON.stringify({ scheme, share, plantedUs: (share * median) / 1000, runs: RUNS, lowestT: lowest }));
    expect(found.filter((t) => t > LEAK_T)).toHaveLength(RUNS);
  });
}
