import { describe, expect, it } from "vitest";
import { coordinatesOf } from "../../test/coordinates.ts";
import { refusal } from "../../test/refusal.ts";
import {
  bitsApart,
  deviceNumber,
  issueKeys,
  openBits,
  random,
  reportOf,
  verify,
  WINDOW,
} from "../../test/two-server.ts";
import { split } from "../bytes.ts";
import { createSharedBits, sharingContext } from "../sharing/shared-bit.ts";
import { createTwoServerStatistic } from "../statistic/create-two-server.ts";
import { bucketOf } from "../statistic/histogram/histogram.ts";
import type { Recorder } from "../statistic/recorder.ts";

const POINTS = 4;
const HEADER = 10;
const device = deviceNumber(1);
const scheme = createSharedBits(sharingContext(WINDOW));
const publicKey = issueKeys(device);
const keys = scheme.decodePublicKey(publicKey);
const encryptBit = (bit: number, under = keys): Uint8Array => scheme.encode(scheme.encrypt(under, bit, random));
const rerandomize = (bytes: Uint8Array, under = keys): Uint8Array =>
  scheme.encode(scheme.rerandomize(under, scheme.decode(bytes), random));
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");

/** The bits of a report, if every proof holds. */
function bitsIn(sharedBits: Uint8Array): number[] {
  const bits = sharedBits.length / scheme.ciphertextBytes;
  const { valid, answers } = verify([bitsApart(bits)], openBits(device, sharedBits));
  expect(valid).toBe(true);
  return answers();
}

const record =
  (events: number, metric?: number) =>
  (recorder: Recorder): void => {
    for (let i = 0; i < events; i++) recorder.record(metric);
  };

describe("rerandomizing a shared bit", () => {
  it("300 times leaves the proof as it was made, and repeats no group element", () => {
    const seen = new Set<string>();
    let shared = encryptBit(1);
    const before = openBits(device, shared);
    for (let i = 0; i < 300; i++) {
      for (const point of split(shared, POINTS)) seen.add(hex(point));
      shared = rerandomize(shared);
    }
    expect(seen.size).toBe(300 * POINTS);
    expect(openBits(device, shared)).toEqual(before);
    expect(bitsIn(shared)).toEqual([1]);
  });

  it("shares a bit afresh at every encryption: no part of what opens is the same", () => {
    const [first, second] = [1, 1].map((bit) => openBits(device, encryptBit(bit)));
    expect(first?.leader[0]?.share).not.toEqual(second?.leader[0]?.share);
    expect(first?.helper[0]?.share).not.toEqual(second?.helper[0]?.share);
  });

  it("under other keys, or with the two keys of the leader exchanged, opens to nothing", () => {
    const shared = encryptBit(1);
    const [first, second, third] = keys as [(typeof keys)[0], (typeof keys)[0], (typeof keys)[0]];
    const elsewhere = scheme.decodePublicKey(issueKeys(deviceNumber(2)));
    for (const others of [elsewhere, [second, first, third], [first, third, second]]) {
      const opened = openBits(device, rerandomize(shared, others));
      expect(verify([bitsApart(1)], opened).valid).toBe(false);
      expect(verify([bitsApart(1)], openBits(device, encryptBit(1, others))).valid).toBe(false);
    }
  });
});

describe("stored bytes", () => {
  const shared = encryptBit(1);

  it("are decoded as they were encoded", () => {
    expect(scheme.encode(scheme.decode(shared))).toEqual(shared);
  });

  it("are decoded into the coordinates that memory held: these do not show which operation made a shared bit", () => {
    const coordinates = (bit: typeof fresh): unknown => [bit.ephemeral, ...bit.masked].map(coordinatesOf);
    const fresh = scheme.encrypt(keys, 1, random);
    for (const bit of [fresh, scheme.rerandomize(keys, fresh, random)]) {
      expect(coordinates(bit)).toEqual(coordinates(scheme.decode(scheme.encode(bit))));
    }
  });

  it("with one altered byte are refused, unless they happen to encode another element", () => {
    let refused = 0;
    for (let at = 0; at < shared.length; at++) {
      for (const change of [1, 2, 0x80]) {
        const altered = shared.with(at, (shared[at] as number) ^ change);
        try {
          // One in four even numbers below the prime is an element; then it must be kept as it is.
          expect(scheme.encode(scheme.decode(altered))).toEqual(altered);
        } catch {
          expect(refusal(() => scheme.decode(altered))).toContain("group element");
          refused++;
        }
      }
    }
    // Eight changes make an odd number or one above the prime; of the other 376 three in four are refused, with
    // standard deviation 8.4:
    // 290 in all, and 250 or fewer less than once in 10⁶.
    expect(refused).toBeGreaterThan(250);
    expect(refused).toBeLessThan(384);
  });

  it("that are not canonical are refused: odd numbers, the prime and above, wrong lengths", () => {
    const prime = 2n ** 255n - 19n;
    for (const number of [1n, prime, prime + 1n, prime + 2n, 2n ** 255n - 1n, 2n ** 256n - 2n]) {
      const point = Uint8Array.from({ length: 32 }, (_, i) => Number((number >> BigInt(8 * i)) & 255n));
      for (let i = 0; i < POINTS; i++) {
        const altered = shared.slice();
        altered.set(point, 32 * i);
        refusal(() => scheme.decode(altered));
      }
    }
    for (const bytes of [shared.subarray(1), new Uint8Array(0), new Uint8Array(129)])
      refusal(() => scheme.decode(bytes));
  });

  it("of a recorder that were altered are refused when it is resumed or sealed", () => {
    const side = createTwoServerStatistic({
      statistic: "occurrence",
      noise: "servers",
      ticks: 2,
      sigmas: [1, 1],
    }).device(sharingContext(WINDOW));
    const recorder = side.start(publicKey, random);
    const stored = recorder.write() as Uint8Array;
    for (const at of [HEADER, HEADER + 32, HEADER + 128 + 96]) {
      const odd = stored.with(at, (stored[at] as number) ^ 1);
      refusal(() => side.resume(publicKey, odd, false, random));
      refusal(() => recorder.seal(odd));
    }
    expect(bitsIn(recorder.seal(stored))).toEqual([0, 0]);
  });

  it("public keys of the wrong length, and the identity as one of them, are refused", () => {
    refusal(() => scheme.decodePublicKey(publicKey.subarray(1)));
    for (let i = 0; i < POINTS - 1; i++) {
      const altered = publicKey.slice();
      altered.fill(0, 32 * i, 32 * (i + 1));
      expect(refusal(() => scheme.decodePublicKey(altered))).toContain("identity");
    }
  });
});

describe("what is stored", () => {
  it("has the same size whatever happened, and no group element in common with what was stored or in memory before", () => {
    for (const [spec, most] of [
      [{ statistic: "occurrence", noise: "device", ticks: 3, localEpsilons: [1, 2] }, 2],
      [{ statistic: "histogram", noise: "servers", ticks: 3, eventsPerTick: 2, edges: [0, 1, 2], sigma: 1 }, 2],
      [{ statistic: "mean", noise: "servers", ticks: 3, eventsPerTick: 2, limit: 2, sigma: 1 }, 2],
    ] as const) {
      const statistic = createTwoServerStatistic(spec);
      for (const events of [0, most]) {
        const recorder = statistic.device(sharingContext(WINDOW)).start(publicKey, random);
        const seen = new Set<string>();
        let shown = 0;
        const see = (bytes: Uint8Array): void => {
          for (const point of split(bytes, bytes.length / 32)) seen.add(hex(point));
          shown += bytes.length / 32;
        };
        see(recorder.inspect().ciphertexts);
        let stored: Uint8Array | undefined;
        for (let tick = 0; tick < 3; tick++) {
          record(events)(recorder);
          stored = recorder.write() as Uint8Array;
          expect(stored.length).toBe(statistic.bytes.state);
          see(stored.subarray(HEADER));
          see(recorder.inspect().ciphertexts);
        }
        const report = recorder.seal(stored as Uint8Array);
        expect(report.length).toBe(statistic.bytes.report);
        see(report);
        expect(seen.size).toBe(shown);
      }
    }
  });
});

describe("the slots of a histogram shift with their proofs", () => {
  const told = (edges: readonly number[], events: number): number[] => {
    const statistic = createTwoServerStatistic({
      statistic: "histogram",
      noise: "servers",
      ticks: 1,
      eventsPerTick: 1000,
      edges,
      sigma: 1,
    });
    const opened = openBits(device, reportOf(statistic, device, record(events)));
    const { valid, answers } = verify([statistic], opened);
    expect(valid).toBe(true);
    return answers();
  };

  it.each([[[0, 1]], [[0, 1, 2]], [[0, 2, 3]], [[0, 1, 3, 5]]])(
    "edges %j: every count from 0 to beyond the last is in its bucket alone",
    (edges) => {
      for (let count = 0; count <= (edges.at(-1) as number) + 2; count++) {
        expect(told(edges, count)).toEqual(edges.map((_, bucket) => Number(bucket === bucketOf(edges, count))));
      }
    },
  );

  it("thirty events are beyond the last edge", () => {
    expect(told([0, 1, 2], 30)).toEqual([0, 0, 1]);
  });

  it("every bit by itself is a bucket, whichever of its counts it is", () => {
    const spec = {
      statistic: "histogram",
      noise: "servers",
      ticks: 1,
      eventsPerTick: 9,
      edges: [0, 3],
      sigma: 1,
    } as const;
    const statistic = createTwoServerStatistic(spec);
    for (const [events, bits] of [
      [0, [1, 0]],
      [2, [1, 0]],
      [3, [0, 1]],
      [7, [0, 1]],
    ] as const) {
      expect(bitsIn(reportOf(statistic, device, record(events)))).toEqual(bits);
    }
  });

  it("over ticks, restarts and writes in between, with any number of events", () => {
    const statistic = createTwoServerStatistic({
      statistic: "histogram",
      noise: "servers",
      ticks: 3,
      edges: [0, 1, 2, 7],
      sigma: 1,
    });
    const side = statistic.device(sharingContext(WINDOW));
    let recorder = side.start(publicKey, random);
    record(5)(recorder);
    let stored = recorder.write() as Uint8Array;
    recorder = side.resume(publicKey, stored, false, random);
    stored = recorder.write() as Uint8Array;
    expect(verify([statistic], openBits(device, recorder.seal(stored))).answers()).toEqual([0, 0, 1, 0]);
    recorder = side.resume(publicKey, stored, false, random);
    record(1)(recorder);
    stored = recorder.write({ endsTick: false }) as Uint8Array;
    recorder = side.resume(publicKey, stored, true, random);
    record(1)(recorder);
    stored = recorder.write({ endsTick: false }) as Uint8Array;
    record(1)(recorder); // after the last write: not in the report
    expect(verify([statistic], openBits(device, recorder.seal(stored))).answers()).toEqual([0, 0, 0, 1]);
  });

  it("with K-ary response at ε = 20 the true bucket is told, also where buckets hold several counts", () => {
    const edges = [0, 1, 3];
    const spec = {
      statistic: "histogram",
      noise: "device",
      ticks: 1,
      eventsPerTick: 9,
      edges,
      localEpsilon: 20,
    } as const;
    const statistic = createTwoServerStatistic(spec);
    expect([statistic.mechanism, statistic.isOneHot]).toEqual(["kary", true]);
    for (const count of [0, 2, 4]) {
      const { valid, answers } = verify([statistic], openBits(device, reportOf(statistic, device, record(count))));
      expect(valid).toBe(true);
      expect(answers()).toEqual(edges.map((_, bucket) => Number(bucket === bucketOf(edges, count))));
    }
  });

  it("with responses of any mechanism and little ε, all proofs hold and the answers are bits", () => {
    for (const mechanism of ["kary", "unary", "per-bucket"] as const) {
      const statistic = createTwoServerStatistic({
        statistic: "histogram",
        noise: "device",
        ticks: 1,
        eventsPerTick: 9,
        edges: [0, 1, 3],
        localEpsilon: 0.1,
        mechanism,
      });
      expect(statistic.isOneHot).toBe(mechanism === "kary");
      for (let run = 0; run < 3; run++) {
        const { valid, answers } = verify([statistic], openBits(device, reportOf(statistic, device, record(run))));
        expect(valid).toBe(true);
        expect(answers().every((answer) => answer === 0 || answer === 1)).toBe(true);
        if (mechanism === "kary") expect(answers().reduce((sum, answer) => sum + answer, 0)).toBe(1);
      }
    }
  });
});
