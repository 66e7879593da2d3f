import { bytesToNumberLE, numberToBytesLE } from "@noble/curves/utils.js";
import { describe, expect, it } from "vitest";
import { createSlotForger, keysOf, multiple, sealedBy, wrapSlots } from "../../test/shared-slots.ts";
import {
  deviceNumber,
  MASTERS,
  ROLES,
  randomBytes,
  randomElement,
  type Servers,
  startServers,
  VERIFY_KEY,
  WINDOW,
  type WrappedReport,
} from "../../test/two-server.ts";
import { join, split } from "../bytes.ts";
import { BASE, decodePoint, decodePointOrStandIn, ORDER } from "../encryption/elgamal/ristretto.ts";
import type { ServerRole } from "../sharing/shared-bit.ts";
import { SHARED_SLOT_BYTES } from "../sharing/shared-slot.ts";
import { createTwoServerStatistic } from "../statistic/create-two-server.ts";
import type { TwoServerStatistic } from "../statistic/two-server.ts";
import { prepareReport } from "./aggregator.ts";
import { verdictOnSlots } from "./slot-verification.ts";
import { deriveWrappingKeys, WRAPPING_BYTES } from "./wrapping.ts";

/**
 * Reports that no honest device sends, of two occurrences and a histogram of three buckets. Both servers must refuse them
 * and count "no event" in their place. At ε₀ = 20 a draw is something else once in 10⁸; all of these tests make about 80.
 */
const COMMON = { noise: "device", collusion: "one-server", ticks: 1 } as const;
const STATISTICS = [
  createTwoServerStatistic({ ...COMMON, statistic: "occurrence", localEpsilons: [20, 20] }),
  createTwoServerStatistic({ ...COMMON, statistic: "histogram", edges: [0, 1, 2], localEpsilon: 20 }),
] as const;
const HONEST = [1n, 0n, 0n, 0n, 1n] as const;
const NO_EVENT = [0, 0, 1, 0, 0] as const;
const SLOTS = HONEST.length;
const A = deviceNumber(1);
const B = deviceNumber(2);
const forger = createSlotForger(A);
const honest = forger.values(...HONEST);

async function requireVerdict(report: WrappedReport, valid: boolean, answers: readonly number[]): Promise<void> {
  const servers = await startServers(STATISTICS);
  expect(await servers.decide(report)).toEqual({ leader: valid, helper: valid });
  expect(servers.leader.unfinished()).toEqual(servers.helper.unfinished());
  expect(servers.sums()).toEqual(answers);
}

/** Both servers refuse the report, and count the same: "no event". */
const refuse = (report: WrappedReport): Promise<void> => requireVerdict(report, false, NO_EVENT);
const accept = (report: WrappedReport): Promise<void> => requireVerdict(report, true, HONEST.map(Number));

/** The slots with one of the four elements of one of them replaced. */
function withPoint(slots: Uint8Array, i: number, point: number, replacement: Uint8Array): Uint8Array {
  const copy = slots.slice();
  copy.set(replacement, SHARED_SLOT_BYTES * i + 32 * point);
  return copy;
}
const pointAt = (slots: Uint8Array, i: number, point: number): Uint8Array =>
  slots.slice(SHARED_SLOT_BYTES * i + 32 * point, SHARED_SLOT_BYTES * i + 32 * point + 32);

it("what the following tests alter is valid before", async () => {
  await accept(await wrapSlots(A, honest));
  const sealed = join([
    sealedBy(STATISTICS[0], A, (recorder) => recorder.record(0)),
    sealedBy(STATISTICS[1], A, (recorder) => recorder.record(0, 2)),
  ]);
  await accept(await wrapSlots(A, sealed));
});

describe("a vector that is no answer is refused", () => {
  const half = (ORDER + 1n) / 2n;
  it.each<readonly [what: string, values: readonly bigint[]]>([
    ["two categories", [1n, 0n, 1n, 1n, 0n]],
    ["all categories", [1n, 0n, 1n, 1n, 1n]],
    ["no category", [1n, 0n, 0n, 0n, 0n]],
    ["a negative one, with a sum of 1", [1n, 0n, 1n, 1n, -1n]],
    ["a pair that cancels", [1n, 0n, 1n, 5n, -5n]],
    ["a huge one and its opposite", [1n, 0n, 1n + 2n ** 200n, -(2n ** 200n), 0n]],
    ["a huge one", [1n, 0n, 2n ** 200n, 0n, 0n]],
    ["halves", [1n, 0n, half, half, 0n]],
    ["a square root of 1 that is not 1", [1n, 0n, -1n, 0n, 0n]],
    ["a 2 in an occurrence", [2n, 0n, 0n, 0n, 1n]],
    ["a −1 in an occurrence", [0n, -1n, 0n, 0n, 1n]],
    ["2^200 in an occurrence", [2n ** 200n, 0n, 0n, 0n, 1n]],
    ["a pair in two occurrences", [3n, -3n, 0n, 0n, 1n]],
    ["a pair across statistics", [2n, 0n, -1n, 0n, 1n]],
  ])("%s", async (_, values) => {
    await refuse(await wrapSlots(A, forger.values(...values)));
  });

  it("any sum of 1 with other elements: random multiples that cancel, whatever the shares have in common", async () => {
    const [element, other] = [randomElement(), randomElement()];
    const zero = forger.elements(element, element.negate());
    const correlated = [
      forger.elements(element, BASE),
      forger.elements(other.subtract(element), other.negate()),
      forger.elements(element.negate(), element),
    ];
    await refuse(await wrapSlots(A, join([forger.values(1n), zero, ...correlated])));
  });

  it("nothing else about the shares matters: known ones, the same ones for all slots", async () => {
    const element = randomElement();
    const same = HONEST.map((bit) => forger.elements(element, multiple(bit).subtract(element)));
    await accept(await wrapSlots(A, join(same)));
    await accept(await wrapSlots(A, join(HONEST.map((bit) => forger.elements(multiple(7n), multiple(bit - 7n))))));
    await accept(await wrapSlots(A, join(HONEST.map((bit) => forger.elements(multiple(0n), multiple(bit))))));
  });
});

describe("a mauled ciphertext", () => {
  const ELEMENTS = ["the leader's ephemeral", "the leader's masked", "the helper's ephemeral", "the helper's masked"];

  it.each(ELEMENTS.map((name, point) => [name, point] as const))(
    "%s element replaced, or another slot's",
    async (_, point) => {
      await refuse(await wrapSlots(A, withPoint(honest, 0, point, randomElement().toBytes())));
      await refuse(await wrapSlots(A, withPoint(honest, 1, point, pointAt(honest, 2, point))));
    },
  );

  it("an element to which one was added; if the other's is less by as much, the slot is what it was", async () => {
    const added = (slots: Uint8Array, point: number, by: bigint): Uint8Array =>
      withPoint(
        slots,
        2,
        point,
        decodePoint(pointAt(slots, 2, point))
          .add(multiple(by))
          .toBytes(),
      );
    await refuse(await wrapSlots(A, added(honest, 1, 1n)));
    await refuse(await wrapSlots(A, added(honest, 3, 1n)));
    await refuse(await wrapSlots(A, added(honest, 3, -1n)));
    await accept(await wrapSlots(A, added(added(honest, 1, 5n), 3, -5n)));
  });

  it("without encryption: the ephemeral element is 0·G", async () => {
    const [w, bit] = [randomElement(), HONEST[0]];
    const none = new Uint8Array(32);
    const open = [none, w.toBytes(), none, multiple(bit).subtract(w).toBytes()];
    await refuse(await wrapSlots(A, join([...open, honest.subarray(SHARED_SLOT_BYTES)])));
    for (const point of [0, 2]) await refuse(await wrapSlots(A, withPoint(honest, 0, point, none)));
    await refuse(await wrapSlots(A, new Uint8Array(SLOTS * SHARED_SLOT_BYTES)));
  });

  it("bytes that are no element, or another encoding of the same, in every place", async () => {
    const prime = 2n ** 255n - 19n;
    for (let point = 0; point < 4; point++) {
      const s = bytesToNumberLE(pointAt(honest, 3, point));
      // The negative square root, the unreduced number if it fits, the top bit, and no number below the prime at all.
      const others = [prime - s, s + prime, s + 2n ** 255n, 2n ** 256n - 1n].filter((n) => n < 2n ** 256n);
      for (const other of others) {
        const bytes = numberToBytesLE(other, 32);
        expect(decodePointOrStandIn(bytes).decoded).toBe(false);
        await refuse(await wrapSlots(A, withPoint(honest, 3, point, bytes)));
      }
    }
  });
});

describe("halves that do not belong together", () => {
  const mix = async (leader: Uint8Array, helper: Uint8Array): Promise<WrappedReport> => {
    const report = randomBytes(16);
    const [one, other] = [await wrapSlots(A, leader, { report }), await wrapSlots(A, helper, { report })];
    return { device: A, report, leader: one.leader, helper: other.helper };
  };

  it("of two sharings of the same answer", async () => {
    await refuse(await mix(honest, forger.values(...HONEST)));
  });

  it("for another device, another window, under another report's id, or for the other server", async () => {
    const others = createSlotForger(B);
    const ofB = others.values(...HONEST);
    await refuse(await wrapSlots(A, ofB));
    await refuse(await mix(honest, ofB));
    const report = await wrapSlots(A, honest);
    const another = await wrapSlots(B, ofB);
    for (const role of ROLES) {
      await refuse({ ...report, [role]: another[role] });
      await refuse({ ...report, [role]: report[role === "leader" ? "helper" : "leader"] });
      await refuse({ ...report, [role]: (await wrapSlots(A, honest))[role] });
    }
    await refuse({ ...report, report: randomBytes(16) });
    const at = { ...WINDOW, window: WINDOW.window + 1 };
    await refuse(await wrapSlots(A, createSlotForger(A, at).values(...HONEST), { at }));
    await refuse(await wrapSlots(A, createSlotForger(A, at).values(...HONEST)));
  });

  it("the leader's second key, which this mode does not use, opens nothing", () => {
    expect(keysOf(A).leader.point.equals(keysOf(A).helper.point)).toBe(false);
  });
});

describe("what is no half", () => {
  it("slots too few or too many, or no whole number of them, or random bytes, wrapped or not", async () => {
    for (const slots of [honest.subarray(SHARED_SLOT_BYTES), join([honest, forger.values(0n)]), new Uint8Array()]) {
      await refuse(await wrapSlots(A, slots));
    }
    await refuse(await wrapSlots(A, randomBytes(honest.length)));
    const report = await wrapSlots(A, honest);
    for (const role of ROLES) {
      for (const bytes of [
        report[role].subarray(0, -1),
        join([report[role], Uint8Array.of(0)]),
        randomBytes(report[role].length),
        new Uint8Array(),
        new Uint8Array(WRAPPING_BYTES),
      ]) {
        await refuse({ ...report, [role]: bytes });
      }
    }
  });
});

describe("a server that cheats", () => {
  const verifiers = async (servers: Servers, { device, report, ...halves }: WrappedReport) => ({
    leader: await servers.leader.prepare(device, report, halves.leader),
    helper: await servers.helper.prepare(device, report, halves.helper),
  });

  it("has a report refused by the other if it sends anything but what it opened", async () => {
    const report = await wrapSlots(A, honest);
    const right = await verifiers(await startServers(STATISTICS), report);
    const another = await verifiers(
      await startServers(STATISTICS),
      await wrapSlots(B, createSlotForger(B).values(...HONEST)),
    );
    for (const role of ROLES) {
      const other = role === "leader" ? "helper" : "leader";
      const wrong: readonly Uint8Array[] = [
        randomBytes(right[role].length - 1),
        another[role].subarray(0, -1),
        // The hash of one vector for another, and the other's own sent back.
        join(split(right[role].subarray(0, -1), 3).toReversed()),
        right[other].subarray(0, -1),
      ];
      for (const hashes of wrong) {
        const servers = await startServers(STATISTICS);
        await verifiers(servers, report);
        expect(servers[other].conclude(A, join([hashes, Uint8Array.of(1)]))).toBe(false);
      }
      const servers = await startServers(STATISTICS);
      await verifiers(servers, report);
      expect(() => servers[other].conclude(A, right[role].subarray(1))).toThrow(
        expect.objectContaining({ code: "bad-encoding" }),
      );
      expect(servers[other].conclude(A, right[role])).toBe(true);
    }
  });

  it("that has another verify key finds no report valid, and neither does the other", async () => {
    const { report, ...halves } = await wrapSlots(A, honest);
    const prepared = async (role: ServerRole, verifyKey: Uint8Array) =>
      prepareReport(
        {
          ...WINDOW,
          role,
          statistics: STATISTICS as readonly TwoServerStatistic[],
          master: MASTERS[role],
          wrapping: await deriveWrappingKeys(MASTERS[role], { ...WINDOW, role }),
          verifyKey,
        },
        { device: A, report },
        halves[role],
      );
    const [leader, helper] = [await prepared("leader", VERIFY_KEY), await prepared("helper", randomBytes(32))];
    expect(verdictOnSlots(STATISTICS, leader, helper.verifier).valid).toBe(false);
    expect(verdictOnSlots(STATISTICS, helper, leader.verifier).valid).toBe(false);
  });

  it("learns of a report that is not valid no answer, of any statistic that another slot spoils for itself", async () => {
    // The histogram is valid, an occurrence is not: each vector shows by itself, none of them counts.
    const servers = await startServers(STATISTICS);
    expect(await servers.decide(await wrapSlots(A, forger.values(5n, 0n, 0n, 1n, 0n)))).toEqual({
      leader: false,
      helper: false,
    });
    expect(servers.sums()).toEqual(NO_EVENT);
  });
});
