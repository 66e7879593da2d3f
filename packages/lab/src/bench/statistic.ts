import { type DeviceKeyContext, secret } from "@lethe/core/encryption";
import { randomnessFrom } from "@lethe/core/randomness";
import {
  type Automaton,
  automatonStatistic,
  createStatistic,
  type Recorder,
  SCHEME_TABLE,
  SCHEMES,
  type SchemeName,
  type Statistic,
  type StatisticSpec,
} from "@lethe/core/statistic";
import { loadRistretto } from "@lethe/server/ristretto";
import { type Measurement, microsecondsAfter } from "./stopwatch.ts";

const random = randomnessFrom(globalThis.crypto);
/** As the service opens. */
const group = await loadRistretto();
/** A day of five-minute ticks. */
const TICKS = 288;
/** A task's default. */
const HIDES = 1000;
/** Rotations have room for one event per tick of a day, but not for 1,000 page hides as well. */
const ROTATIONS = { ticks: TICKS, hides: 0, eventsPerTick: 1 } as const;

type Spec = readonly [name: string, spec: (scheme: SchemeName) => StatisticSpec];
const writesOn = (scheme: SchemeName) =>
  SCHEME_TABLE[scheme].hasLimitedRoom ? ROTATIONS : { ticks: TICKS, hides: HIDES };
const SPECS: readonly Spec[] = [
  [
    "1,000 counters",
    () => ({ statistic: "occurrence", ticks: TICKS, hides: HIDES, localEpsilons: new Array<number>(1000).fill(1) }),
  ],
  [
    "histogram 0,1,2,5",
    (scheme) => ({ statistic: "histogram", ...writesOn(scheme), edges: [0, 1, 2, 5], localEpsilon: 1 }),
  ],
  ["mean up to 10", (scheme) => ({ statistic: "mean", ...writesOn(scheme), limit: 10, sigma: 2 })],
];

/** An automaton whose event moves its first state to the second, which empties one slot. All slots are kept. */
const SIXTEEN_STATES: Automaton = {
  states: 16,
  start: 0,
  events: ["step"],
  periods: 1,
  periodTicks: TICKS,
  onEvent: (_, state) => Math.max(state, 1),
  onEnd: (state) => state,
  output: { kind: "category", categories: 16, categoryOf: (state) => state },
};

/**
 * A device's write and seal, and the server's opening, for each scheme and statistic, with 288 ticks and 1,000 page
 * hides. Histograms and means on lattices have no page hides, because there is no room for them. The same for an
 * automaton, on ElGamal.
 */
export function benchStatistics(unit: () => number, report: (row: Measurement) => void): void {
  for (const scheme of SCHEMES) {
    for (const [name, spec] of SPECS)
      benchStatistic(scheme, name, createStatistic(scheme, spec(scheme), group), unit, report);
  }
  const writes = { ticks: TICKS, hides: HIDES };
  const automaton = automatonStatistic(SIXTEEN_STATES, { localEpsilon: 1, mechanism: "kary" }, writes, group);
  benchStatistic("elgamal", "automaton of 16 states, kary", automaton, unit, report);
}

/** More than there are tables of directly drawn sums in memory: who seals them in turn never finds the right one. */
const EARLY_STATES = 10;

/** What a device stores at its first writes. */
function firstStates(recorder: Recorder): Uint8Array[] {
  return Array.from({ length: EARLY_STATES }, () => (recorder.write() as Uint8Array).slice());
}

function benchStatistic(
  scheme: SchemeName,
  name: string,
  { device, server }: Statistic,
  unit: () => number,
  report: (row: Measurement) => void,
): void {
  const master = secret(crypto.getRandomValues(new Uint8Array(32)));
  const context: DeviceKeyContext = { task: "bench", window: 1, device: new Uint8Array(16), role: "tally", index: 0 };
  const publicKey = server.issueKey(master, context);
  const start = (): Recorder => device.start(publicKey, random);
  const time = <T>(what: string, prepare: () => T, task: (prepared: T) => void): void => {
    const value = microsecondsAfter(prepare, task);
    report({ name: `${scheme} ${name}: ${what}`, value, unit: "µs", ratio: value / unit() });
  };

  let recorder = start();
  let writes = 0;
  let stored = new Uint8Array();
  const early = firstStates(start());
  const write = (): void => {
    // No write is left for a tick.
    if (writes === TICKS) {
      recorder = start();
      writes = 0;
    }
    stored = recorder.write() as Uint8Array<ArrayBuffer>;
    writes++;
  };
  // After a write there is room for an event again.
  time("record", write, () => recorder.record());
  time("write (two encryptions)", () => undefined, write);
  // Like a device that was always on and never closed: sealing makes up for all page hides. ElGamal makes up for none.
  if (SCHEME_TABLE[scheme].hasLimitedRoom) while (writes < TICKS) write();
  time("seal", start, (fresh) => fresh.seal(stored));
  if (SCHEME_TABLE[scheme].hasLimitedRoom) {
    time("seal, all but one write missing", start, (fresh) => fresh.seal(early[0] as Uint8Array));
    let turn = 0;
    const next = () => ({ fresh: start(), state: early[turn++ % early.length] as Uint8Array });
    time("seal, all but a few writes missing, no tables built", next, ({ fresh, state }) => fresh.seal(state));
  }
  const sealed = start().seal(stored);
  time(
    "open, key derivation included",
    () => undefined,
    () => server.open(master, context, sealed, random),
  );
  for (const [what, value] of Object.entries(device.bytes)) {
    report({ name: `${scheme} ${name}: ${what}`, value, unit: "bytes" });
  }
}
