import { describe, expect, it } from "vitest";
import { type DeviceKeyContext, secret } from "../encryption/index.ts";
import { LetheError } from "../error.ts";
import { type Randomness, seededRandomnessForTests } from "../randomness/index.ts";
import { createStatistic } from "./create.ts";
import type { Recorder } from "./recorder.ts";
import type { SchemeName, StatisticSpec } from "./spec.ts";

const TICKS = 4;
const HIDES = 3;
const WRITES = TICKS + HIDES;
const HEADER = 10;
const master = secret(new Uint8Array(32).fill(3));
const contextOf = (byte: number): DeviceKeyContext => ({
  task: "recorder-test",
  window: 7,
  device: new Uint8Array(16).fill(byte),
  role: "tally",
  index: 0,
});

const histogram = {
  statistic: "histogram",
  ticks: TICKS,
  hides: HIDES,
  eventsPerTick: 2,
  edges: [0, 1, 3],
  localEpsilon: 1,
} as const;
const SPECS: readonly StatisticSpec[] = [
  { statistic: "occurrence", ticks: TICKS, hides: HIDES, localEpsilons: [1, 1, 2] },
  { ...histogram, mechanism: "kary" },
  { ...histogram, mechanism: "unary" },
  { ...histogram, mechanism: "per-bucket" },
  { statistic: "mean", ticks: TICKS, hides: HIDES, eventsPerTick: 2, limit: 3, sigma: 1 },
];

/** Stored bytes after each write, with an event in every tick, or in none. */
function live(recorder: Recorder, withEvents: boolean): Uint8Array[] {
  return Array.from({ length: TICKS }, () => {
    if (withEvents) recorder.record();
    return recorder.write() as Uint8Array;
  });
}

/**
 * At ε = 8 the mechanism all but never puts a decoy, which would be valid and say nothing, in the state's place. Unary
 * encoding does so with every second bucket at any ε, but not with all of 30.
 */
function withFewDecoys(spec: StatisticSpec): StatisticSpec {
  if (spec.statistic === "occurrence") return { ...spec, localEpsilons: spec.localEpsilons.map(() => 8) };
  if (spec.statistic !== "histogram") return spec;
  const edges = spec.mechanism === "unary" ? Array.from({ length: 30 }, (_, edge) => edge) : spec.edges;
  return { ...spec, localEpsilon: 8, edges };
}

function equalBytes(left: Uint8Array, right: Uint8Array): number {
  return left.reduce((sum, byte, i) => sum + (byte === right[i] ? 1 : 0), 0) / left.length;
}

for (const scheme of ["lattice", "elgamal"] as const) {
  for (const spec of SPECS) {
    const name = `${scheme} ${spec.statistic}${"mechanism" in spec ? ` ${spec.mechanism}` : ""}`;
    describe(name, () => rules(scheme, spec));
  }
}

function rules(scheme: SchemeName, spec: StatisticSpec): void {
  const random = seededRandomnessForTests(`${scheme} ${JSON.stringify(spec)}`);
  const { device, server } = createStatistic(scheme, spec);
  const publicKey = server.issueKey(master, contextOf(1));

  it("states, reports and keys have one size, whatever happens", () => {
    expect(publicKey.length).toBe(device.bytes.publicKey);
    for (const withEvents of [false, true]) {
      const recorder = device.start(publicKey, random);
      const states = live(recorder, withEvents);
      for (const state of states) expect(state.length).toBe(device.bytes.state);
      const report = recorder.seal(states.at(-1) as Uint8Array);
      expect(report.length).toBe(device.bytes.report);
      expect(server.open(master, contextOf(1), report, random).valid).toBe(true);
    }
  });

  it("each stored state differs from the one before, and from memory, in essentially every ciphertext byte", () => {
    for (const withEvents of [false, true]) {
      const recorder = device.start(publicKey, random);
      let before = recorder.inspect().ciphertexts;
      for (let tick = 0; tick < TICKS; tick++) {
        if (withEvents) recorder.record();
        const dump = recorder.inspect().ciphertexts;
        const stored = (recorder.write() as Uint8Array).subarray(HEADER);
        const after = recorder.inspect().ciphertexts;
        // Two independent bytes are equal with probability 1/256; six standard deviations above that at 192 bytes.
        const chance = 1 / 256 + 6 * Math.sqrt(1 / 256 / stored.length);
        for (const other of [before, dump, after]) expect(equalBytes(stored, other)).toBeLessThan(chance);
        expect(equalBytes(dump, after)).toBeLessThan(chance);
        before = stored;
      }
    }
  });

  it("allows ticks + hides writes in all, then no more; later events touch no ciphertext", () => {
    const recorder = device.start(publicKey, random);
    for (let i = 0; i < WRITES; i++) {
      expect(recorder.left.writes).toBe(WRITES - i);
      expect(recorder.write()).toBeInstanceOf(Uint8Array);
    }
    expect(recorder.left).toEqual({ events: 0, writes: 0, hides: 0 });
    const { ciphertexts } = recorder.inspect();
    expect(recorder.write()).toBeUndefined();
    expect(recorder.record()).toBe(false);
    expect(recorder.inspect().ciphertexts).toEqual(ciphertexts);
  });

  it("keeps a write for every tick that has not ended, and gives hides what ticks did not use", () => {
    const recorder = device.start(publicKey, random);
    const hide = (from: Recorder): Uint8Array | undefined => from.write({ endsTick: false });
    for (let i = HIDES; i > 0; i--) {
      expect(recorder.left.hides).toBe(i);
      expect(hide(recorder)).toBeInstanceOf(Uint8Array);
    }
    expect(hide(recorder)).toBeUndefined();
    let stored = new Uint8Array();
    for (let tick = 0; tick < TICKS; tick++) {
      expect(hide(recorder)).toBeUndefined();
      stored = recorder.write() as Uint8Array<ArrayBuffer>;
    }
    expect(recorder.left.writes).toBe(0);
    expect(() => recorder.seal(stored)).not.toThrow();

    // Closed and opened in another tick each time: no write at the end of a tick was needed.
    let [session, hides] = [device.start(publicKey, random), 0];
    for (let kept = hide(session); kept; kept = hide(session)) {
      hides++;
      session = device.resume(publicKey, kept, false, random);
    }
    expect(hides).toBe(WRITES);
  });

  it("seals once; nothing can be recorded, written or sealed afterwards", () => {
    const recorder = device.start(publicKey, random);
    const stored = recorder.write() as Uint8Array;
    recorder.seal(stored);
    expect(() => recorder.seal(stored)).toThrow(TypeError);
    expect(() => recorder.record()).toThrow("sealed");
    expect(() => recorder.write()).toThrow("sealed");
  });

  it("goes on from what was stored, and refuses what is not a state", () => {
    const first = device.start(publicKey, random);
    first.record();
    const stored = first.write() as Uint8Array;
    const second = device.resume(publicKey, stored, false, random);
    const again = second.write() as Uint8Array;
    expect([again[2], again[6]]).toEqual([2, 2]);
    const opened = server.open(master, contextOf(1), second.seal(again), random);
    expect(opened.valid).toBe(true);

    const altered = (change: (copy: Uint8Array) => void): Uint8Array => {
      const copy = stored.slice();
      change(copy);
      return copy;
    };
    const bad = [
      stored.subarray(1),
      new Uint8Array(device.bytes.state),
      altered((copy) => copy.fill(9, 0, 1)),
      altered((copy) => copy.fill(9, 1, 2)),
      altered((copy) => copy.fill(0, 2, 6)),
      altered((copy) => copy.fill(255, 2, 6)),
      altered((copy) => copy.fill(0, 6, 10)),
      altered((copy) => copy.fill(255, 6, 10)),
    ];
    for (const bytes of bad) {
      expect(() => device.resume(publicKey, bytes, false, random)).toThrow(LetheError);
      expect(() => device.start(publicKey, random).seal(bytes)).toThrow(LetheError);
    }
  });

  it("a captured state rerandomized and sent under another device id is rejected", () => {
    const { device, server } = createStatistic(scheme, withFewDecoys(spec));
    const publicKey = server.issueKey(master, contextOf(1));
    const victim = device.start(publicKey, random);
    const captured = live(victim, true).at(-1) as Uint8Array;
    // The intruder enrols, and rerandomizes the captured state under the new key by going on from it.
    const otherKey = server.issueKey(master, contextOf(2));
    const copier = device.resume(otherKey, captured, false, random);
    const copy = copier.seal(copier.write() as Uint8Array);
    const replayed = device.resume(publicKey, captured, false, random);
    const verbatim = replayed.seal(replayed.write() as Uint8Array);
    for (const report of [copy, verbatim]) {
      expect(server.open(master, contextOf(2), report, random).valid).toBe(false);
    }
  });

  it("random, truncated, empty and extended reports are invalid, never an exception", () => {
    const noise = new Uint8Array(device.bytes.report);
    random(noise);
    for (const report of [noise, noise.subarray(1), new Uint8Array(), new Uint8Array(device.bytes.report + 1)]) {
      expect(server.open(master, contextOf(1), report, random).valid).toBe(false);
    }
  });

  it("refuses metrics that do not exist", () => {
    const recorder = device.start(publicKey, random);
    const metrics = spec.statistic === "occurrence" ? spec.localEpsilons.length : 1;
    for (const metric of [-1, metrics, 0.5]) expect(() => recorder.record(metric)).toThrow(RangeError);
  });
}

/** At ε = 15 the mechanism tells the truth but for a chance of 1e-6. */
function bucketReader(scheme: SchemeName, spec: Extract<StatisticSpec, { statistic: "histogram" }>) {
  const { device, server } = createStatistic(scheme, { ...spec, localEpsilon: 15 });
  const random: Randomness = seededRandomnessForTests("in-tick");
  const publicKey = server.issueKey(master, contextOf(1));
  const bucketOfReport = (stored: Uint8Array): number => {
    const { valid, answers } = server.open(master, contextOf(1), device.start(publicKey, random).seal(stored), random);
    expect(valid).toBe(true);
    return answers.indexOf(1);
  };
  return { device, publicKey, random, bucketOfReport };
}

const recordMany = (recorder: Recorder): void => {
  for (let i = 0; i < 10; i++) recorder.record();
};

describe("on lattices every segment has room for eventsPerTick events", () => {
  const M = 2 * WRITES;
  const { device, publicKey, random, bucketOfReport } = bucketReader("lattice", {
    ...histogram,
    edges: [0, 1, 3, 5, M],
  });

  it("what does not fit is dropped before it touches the ciphertext, and said; the number is zeroed at every write", () => {
    const recorder = device.start(publicKey, random);
    expect([recorder.record(), recorder.record(0, 2)]).toEqual([true, false]);
    const full = recorder.inspect();
    expect([full.eventsInTick, full.left.events]).toEqual([2, 0]);
    expect(recorder.record()).toBe(false);
    expect(recorder.inspect().ciphertexts).toEqual(full.ciphertexts);
    const stored = recorder.write() as Uint8Array;
    expect(recorder.inspect().eventsInTick).toBe(0);
    expect(bucketOfReport(stored)).toBe(1);
  });

  it("counts on after a write within the tick, in this session and the next", () => {
    const recorder = device.start(publicKey, random);
    recordMany(recorder);
    const closed = recorder.write({ endsTick: false }) as Uint8Array;
    recordMany(recorder);
    expect(bucketOfReport(recorder.write({ endsTick: false }) as Uint8Array)).toBe(2);
    const reopened = device.resume(publicKey, closed, true, random);
    recordMany(reopened);
    recordMany(device.resume(publicKey, closed, true, random)); // lost: nothing of it was stored
    reopened.write({ endsTick: false });
    recordMany(reopened);
    expect(bucketOfReport(reopened.write() as Uint8Array)).toBe(3);
  });

  it("counts M events, in as many segments as there are writes, and never more", () => {
    for (const endsTick of [true, false]) {
      let resumed = device.start(publicKey, random);
      let bytes = new Uint8Array();
      for (let write = 0; write < WRITES; write++) {
        recordMany(resumed);
        bytes = resumed.write({ endsTick }) as Uint8Array<ArrayBuffer>;
        resumed = device.resume(publicKey, bytes, false, random);
      }
      recordMany(resumed);
      expect(resumed.write()).toBeUndefined();
      expect(bucketOfReport(bytes)).toBe(4);
    }
  });
});

describe("with ElGamal events have no limit", () => {
  const { device, publicKey, random, bucketOfReport } = bucketReader("elgamal", { ...histogram, edges: [0, 1, 3, 40] });

  it.each([
    [2, 1],
    [3, 2],
    [39, 2],
    [40, 3],
    [1e9, 3],
  ])("%d events at once are in bucket %d", (times, bucket) => {
    const recorder = device.start(publicKey, random);
    expect(recorder.record(0, times)).toBe(true);
    expect(recorder.inspect()).toMatchObject({ eventsInTick: 0, left: { events: Number.POSITIVE_INFINITY } });
    expect(bucketOfReport(recorder.write() as Uint8Array)).toBe(bucket);
  });
});

describe("a task from before there were segments has room in every tick, and none after a write that does not end it", () => {
  const spec = { ...histogram, hides: TICKS, roomPerTick: true, edges: [0, 1, 3, 8] };
  const { device, publicKey, random, bucketOfReport } = bucketReader("lattice", spec);

  it("leaves no room after a write that does not end the tick, in this session or the next", () => {
    const recorder = device.start(publicKey, random);
    recordMany(recorder);
    const closed = recorder.write({ endsTick: false }) as Uint8Array;
    recordMany(recorder);
    expect(bucketOfReport(recorder.write() as Uint8Array)).toBe(1);
    const reopened = device.resume(publicKey, closed, true, random);
    recordMany(reopened);
    expect(bucketOfReport(reopened.write() as Uint8Array)).toBe(1);
    reopened.record();
    expect(bucketOfReport(reopened.write() as Uint8Array)).toBe(2);
  });

  it("counts no more than M = 8 however many writes are said to end a tick, and however often it is resumed", () => {
    const recorder = device.start(publicKey, random);
    let stored: Uint8Array | undefined;
    for (let write = 0; write < 2 * TICKS; write++) {
      recordMany(recorder);
      stored = recorder.write();
    }
    expect(bucketOfReport(stored as Uint8Array)).toBe(3);

    let resumed = device.start(publicKey, random);
    let bytes = resumed.write() as Uint8Array;
    for (let write = 1; write < 2 * TICKS; write++) {
      resumed = device.resume(publicKey, bytes, false, random);
      recordMany(resumed);
      bytes = resumed.write() as Uint8Array;
    }
    // The first tick was spent without events: 6 of 8 are left.
    expect(bucketOfReport(bytes)).toBe(2);
  });
});

describe("occurrence has no limit on events", () => {
  for (const scheme of ["lattice", "elgamal"] as const) {
    it(`${scheme}: counts after a write within the tick, after a resumption, and after the last tick`, () => {
      const { device, server } = createStatistic(scheme, {
        statistic: "occurrence",
        ticks: 2,
        localEpsilons: [8, 8, 8, 8],
      });
      const random = seededRandomnessForTests(scheme);
      const publicKey = server.issueKey(master, contextOf(1));
      const recorder = device.start(publicKey, random);
      recorder.write({ endsTick: false });
      recorder.record(0);
      const reopened = device.resume(publicKey, recorder.write({ endsTick: false }) as Uint8Array, true, random);
      reopened.record(1);
      reopened.write();
      reopened.record(2);
      const stored = reopened.write() as Uint8Array;
      // ε = 8 tells the truth but for a chance of 3e-4; the seed is one for which it does.
      expect(server.open(master, contextOf(1), reopened.seal(stored), random).answers).toEqual([1, 1, 1, 0]);
    });
  }
});
