import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fastRandomness } from "../../test/fast-randomness.ts";
import {
  CATEGORY_CASES,
  inTheClear,
  type NamedCase,
  NUMBER_CASE,
  storedAfter,
  WRITES,
} from "../../test/named-cases.ts";
import { type DeviceKeyContext, secret } from "../encryption/index.ts";
import type { AutomatonNoise } from "./automaton/device.ts";
import { createStatistic } from "./create.ts";
import type { AnyShape, StatisticSpec } from "./spec.ts";
import type { DeviceSide, ServerSide } from "./statistic.ts";
import type { EventStream } from "./stream.ts";
import { entryOf } from "./table.ts";

/*
 * The reports of real devices against the true answers. The noise is so weak that an answer differs from the truth once
 * in 10⁷ runs or less.
 */
const master = secret(new Uint8Array(32).fill(7));
const context: DeviceKeyContext = { task: "named", window: 0, device: new Uint8Array(16), role: "tally", index: 0 };
const random = fastRandomness("named statistics");

/** What the server reads in the report of a device on which this happened. */
function reported({ device, server }: { device: DeviceSide; server: ServerSide }, stream: EventStream) {
  const publicKey = server.issueKey(master, context);
  const stored = storedAfter(device, publicKey, stream, random);
  const report = device.resume(publicKey, stored, false, random).seal(stored);
  return server.open(master, context, report, random);
}

function truthOf({ statistic, settings }: NamedCase, stream: EventStream): readonly number[] {
  return entryOf(statistic).answers.answer({ ...(settings as AnyShape), ...WRITES }, stream);
}

const ELEVEN: EventStream = [0, 1, 1, 2, 3, 3, 4, 5, 6, 6, 6].map((tick, i) => ({
  tick,
  event: i % 3 === 1 ? "b" : "a",
}));
const streamsFor = ({ automaton }: NamedCase): fc.Arbitrary<EventStream> =>
  fc
    .array(fc.record({ tick: fc.nat(WRITES.ticks - 1), event: fc.constantFrom(...automaton.events) }), { maxLength: 6 })
    .map((events) => events.toSorted((one, other) => one.tick - other.tick));

const WEAK: readonly AutomatonNoise[] = [
  { localEpsilon: 20, mechanism: "kary" },
  { localEpsilon: 40, mechanism: "per-bucket" },
];
const NUMBERS: AutomatonNoise = { sigma: 0.02 };

describe.each([
  ...CATEGORY_CASES.flatMap((each) => WEAK.map((noise) => ({ ...each, noise }))),
  { ...NUMBER_CASE, noise: NUMBERS },
])("$statistic, $noise", ({ noise, ...named }) => {
  it("reports the truth, without encryption", () => {
    const halves = inTheClear(named.automaton, noise);
    const property = fc.property(streamsFor(named), (stream) => {
      expect(reported(halves, stream)).toEqual({ valid: true, answers: truthOf(named, stream) });
    });
    fc.assert(property, { numRuns: 200 });
  });

  it("reports the truth on ElGamal", () => {
    const spec = { statistic: named.statistic, ...named.settings, ...noise, ...WRITES } as StatisticSpec;
    const halves = createStatistic("elgamal", spec);
    const some = ELEVEN.filter(({ event }) => named.automaton.events.includes(event));
    for (const stream of [[], some.slice(0, 1), some.slice(0, 4), some]) {
      expect(reported(halves, stream)).toEqual({ valid: true, answers: truthOf(named, stream) });
    }
  });
});

it("with K-ary response a report is one ciphertext, whatever the statistic", () => {
  for (const { statistic, settings } of CATEGORY_CASES) {
    const spec = { statistic, ...settings, localEpsilon: 1, mechanism: "kary", ...WRITES } as StatisticSpec;
    expect(createStatistic("elgamal", spec).device.bytes.report).toBe(64);
  }
});

it("a device that was off since the window began, and reports, counts as one without events", () => {
  for (const named of CATEGORY_CASES) {
    const { device, server } = inTheClear(named.automaton, { localEpsilon: 20, mechanism: "kary" });
    const publicKey = server.issueKey(master, context);
    const stored = device.start(publicKey, random).write() as Uint8Array;
    const report = device.resume(publicKey, stored, false, random).seal(stored);
    expect(server.open(master, context, report, random).answers).toEqual(truthOf(named, []));
  }
});
