import { describe, expect, it } from "vitest";
import {
  bitsApart,
  createForger,
  deviceNumber,
  issueKeys,
  MODULUS,
  openBits,
  random,
  randomBytes,
  randomElement,
  type Servers,
  startServers,
  VERIFY_KEY,
  verify,
  WINDOW,
  type WrappedReport,
  wrap,
} from "../../test/two-server.ts";
import { join, split } from "../bytes.ts";
import { embed } from "../encryption/elgamal/embedding.ts";
import {
  BASE,
  decodePoint,
  decodePointOrStandIn,
  IDENTITY,
  type RistrettoPoint,
  randomScalar,
  STAND_IN,
} from "../encryption/elgamal/ristretto.ts";
import { createSharedBits, type OpenedShare, type ServerRole, sharingContext } from "../sharing/shared-bit.ts";
import { createTwoServerStatistic } from "../statistic/create-two-server.ts";
import { isValidReport, prepareHalf } from "./verification.ts";
import { WRAPPING_BYTES } from "./wrapping.ts";

/**
 * Reports that no honest device sends. Both servers must refuse them and count "no event" in their place, which shows
 * in sums without noise: at σ = 0.05 it is 0 but for a chance of 10⁻⁸⁶.
 */
const STATISTICS = [
  createTwoServerStatistic({ statistic: "occurrence", noise: "servers", ticks: 1, sigmas: [0.05, 0.05] }),
  createTwoServerStatistic({
    statistic: "histogram",
    noise: "servers",
    ticks: 1,
    eventsPerTick: 2,
    edges: [0, 1, 2],
    sigma: 0.05,
  }),
];
const HONEST = [1, 0, 0, 0, 1] as const;
const NO_EVENT = [0, 0, 1, 0, 0] as const;
const BITS = HONEST.length;
const A = deviceNumber(1);
const B = deviceNumber(2);
const VALID = deviceNumber(99);
const forger = createForger(A);
const valid = await wrap(VALID, createForger(VALID).honest(...HONEST));
const honest = forger.honest(...HONEST);

/** The report is refused by both servers, and the sums are those of the valid reports and "no event" for this one. */
async function refuse(report: WrappedReport, servers?: Servers): Promise<void> {
  const both = servers ?? (await startServers(STATISTICS));
  expect(await both.decide(valid)).toEqual({ leader: true, helper: true });
  expect(await both.decide(report)).toEqual({ leader: false, helper: false });
  expect(both.sums()).toEqual(HONEST.map((bit, i) => bit + (NO_EVENT[i] as number)));
}

async function accept(report: WrappedReport): Promise<void> {
  const both = await startServers(STATISTICS);
  expect(await both.decide(report)).toEqual({ leader: true, helper: true });
  expect(both.sums()).toEqual(HONEST);
}

const slot = (bits: Uint8Array, i: number): Uint8Array => split(bits, bits.length / 128)[i] as Uint8Array;
/** The shared bits with one of them replaced. */
function withSlot(bits: Uint8Array, i: number, replacement: Uint8Array): Uint8Array {
  const copy = bits.slice();
  copy.set(replacement, 128 * i);
  return copy;
}
/** The shared bits with one of the four elements of one of them replaced. */
function withPoint(bits: Uint8Array, i: number, point: number, replacement: Uint8Array): Uint8Array {
  const copy = bits.slice();
  copy.set(replacement, 128 * i + 32 * point);
  return copy;
}

it("what the following tests alter is valid before", async () => {
  await accept(await wrap(A, honest));
});

describe("a mauled ciphertext", () => {
  const ELEMENTS = ["the ephemeral", "the leader's first", "the leader's second", "the helper's"];

  it.each(ELEMENTS.map((name, point) => [name, point] as const))("%s element replaced by another", async (_, point) => {
    await refuse(await wrap(A, withPoint(honest, 0, point, randomElement().toBytes())));
  });

  it.each(ELEMENTS.map((name, point) => [name, point] as const))(
    "%s element taken from another slot",
    async (_, point) => {
      // Both bits are 0.
      await refuse(await wrap(A, withPoint(honest, 1, point, slot(honest, 2).subarray(32 * point, 32 * point + 32))));
    },
  );

  it("an element to which a known one was added", async () => {
    for (const point of [1, 2, 3]) {
      const before = decodePoint(slot(honest, 4).subarray(32 * point, 32 * point + 32));
      await refuse(await wrap(A, withPoint(honest, 4, point, before.add(BASE).toBytes())));
    }
  });

  it("bytes that are no element, in every place", async () => {
    for (let point = 0; point < 4; point++) {
      await refuse(await wrap(A, withPoint(honest, 3, point, new Uint8Array(32).fill(255))));
    }
  });

  it("without encryption: the ephemeral element is 0·G", async () => {
    const open = [new Uint8Array(24), new Uint8Array(24).fill(1)].map((part) => embed(part).toBytes());
    await refuse(await wrap(A, withSlot(honest, 1, join([new Uint8Array(32), ...open, BASE.toBytes()]))));
    await refuse(await wrap(A, new Uint8Array(BITS * 128)));
  });
});

describe("halves that do not belong together", () => {
  const mix = async (leader: Uint8Array, helper: Uint8Array): Promise<WrappedReport> => {
    const report = randomBytes(16);
    const [first, second] = [await wrap(A, leader, { report }), await wrap(A, helper, { report })];
    return { ...first, helper: second.helper };
  };

  it("the leader's of one slot with the helper's of another, both of the same bit", async () => {
    const [first, second, third, fourth, last] = split(honest, BITS) as [
      Uint8Array,
      Uint8Array,
      Uint8Array,
      Uint8Array,
      Uint8Array,
    ];
    await refuse(await mix(honest, join([first, second, fourth, third, last])));
    await refuse(await mix(honest, join([last, second, third, fourth, first])));
  });

  it("of two moments: the same bits, shared again", async () => {
    await refuse(await mix(honest, forger.honest(...HONEST)));
    await refuse(await mix(honest, withSlot(honest, 0, forger.honest(1))));
  });

  it("of two devices, exchanged as they were wrapped", async () => {
    const [ofA, ofB] = [await wrap(A, honest), await wrap(B, createForger(B).honest(...HONEST))];
    await refuse({ ...ofA, helper: ofB.helper });
    await refuse({ ...ofB, helper: ofA.helper });
    await refuse({ ...ofA, leader: ofB.leader });
  });

  it("of two devices that conspire and wrap each other's", async () => {
    const ofB = createForger(B).honest(...HONEST);
    await refuse(await mix(honest, ofB));
    await refuse(await mix(ofB, honest));
    await refuse(await wrap(A, ofB));
  });

  it("but two rerandomizations of one report are the same shares, so any two of their halves fit", async () => {
    const scheme = createSharedBits(sharingContext(WINDOW));
    const keys = scheme.decodePublicKey(issueKeys(A));
    const bits = split(honest, BITS).map(scheme.decode);
    const again = join(bits.map((bit) => scheme.encode(scheme.rerandomize(keys, bit, random))));
    await accept(await mix(honest, again));
  });
});

describe("a replay", () => {
  it("under another device's id", async () => {
    await refuse({ ...(await wrap(A, honest)), device: B });
  });

  it("under another report's id", async () => {
    await refuse({ ...(await wrap(A, honest)), report: randomBytes(16) });
  });

  it("in another window or task, as it was wrapped, wrapped again, and with sharings of that window", async () => {
    for (const at of [
      { ...WINDOW, window: WINDOW.window + 1 },
      { ...WINDOW, task: "another" },
    ]) {
      const elsewhere = async (report: WrappedReport): Promise<void> => {
        const servers = await startServers(STATISTICS, at);
        expect(await servers.decide(report)).toEqual({ leader: false, helper: false });
        expect(servers.sums()).toEqual(NO_EVENT);
      };
      await elsewhere(await wrap(A, honest));
      await elsewhere(await wrap(A, honest, { at }));
      // Keys of one window and sharings of the other.
      await elsewhere(await wrap(A, createForger(A, at, sharingContext(WINDOW)).honest(...HONEST), { at }));
      await refuse(await wrap(A, createForger(A, WINDOW, sharingContext(at)).honest(...HONEST)));
    }
  });

  it("at the other server", async () => {
    const { leader, helper, ...rest } = await wrap(A, honest);
    await refuse({ ...rest, leader: helper, helper: leader });
    await refuse({ ...rest, leader, helper: leader });
    await refuse({ ...rest, leader: helper, helper });
  });
});

describe("what is no bit, with the best proof a cheat can make", () => {
  it.each([2n, -1n, 1_000_000n, MODULUS / 2n])("%s as an occurrence and as a bucket", async (value) => {
    for (const i of [0, 1, 4]) await refuse(await wrap(A, withSlot(honest, i, forger.value(value))));
  });

  it("values that cancel: 2 and −1 add up to one, and so do 1, 1 and −1", async () => {
    const [occurrences, zero, one] = [forger.honest(0, 1), forger.honest(0), forger.honest(1)];
    const [two, minusOne] = [forger.value(2n), forger.value(-1n)];
    await refuse(await wrap(A, join([occurrences, two, minusOne, zero])));
    await refuse(await wrap(A, join([occurrences, one, forger.honest(1), minusOne])));
    await refuse(await wrap(A, join([occurrences, minusOne, one, forger.honest(1)])));
  });

  it("the same value made by hand is accepted if it is a bit, so it is the value that is refused", async () => {
    await accept(await wrap(A, withSlot(honest, 1, forger.value(0n))));
  });

  it.each([[[1, 1, 0]], [[0, 0, 0]], [[1, 1, 1]]])(
    "a histogram of bits %j, each proven, but not one of them 1",
    async (bits) => {
      await refuse(await wrap(A, forger.honest(1, 0, ...bits)));
    },
  );

  const parts = (fill: number): RistrettoPoint[] => [1, 2].map(() => embed(new Uint8Array(24).fill(fill)));

  it("a share of the leader that is no field elements, or all zero", async () => {
    for (const fill of [255, 0]) {
      await refuse(await wrap(A, withSlot(honest, 1, forger.elements([...parts(fill), randomElement()]))));
    }
  });

  it("elements in which nothing is embedded", async () => {
    const elements = Array.from({ length: 3 }, randomElement);
    await refuse(await wrap(A, withSlot(honest, 1, forger.elements(elements))));
  });
});

describe("a slot whose shares and proof are right, in a form that no honest device sends", () => {
  const NO_ELEMENT = new Uint8Array(32).fill(255);
  const [first, second, third] = forger.keys;
  const share = (helper: RistrettoPoint): [Uint8Array, Uint8Array] =>
    split(forger.leaderShare(1, helper), 2) as [Uint8Array, Uint8Array];

  /** The servers must find that the form is wrong, since the proof holds. */
  async function refuseForm(bit: Uint8Array): Promise<void> {
    const opened = openBits(A, bit);
    expect([...opened.leader, ...opened.helper].some(({ intact }) => !intact)).toBe(true);
    const regardless = (role: ServerRole): OpenedShare[] => opened[role].map((each) => ({ ...each, intact: true }));
    const { valid, answers } = verify([bitsApart(1)], { leader: regardless("leader"), helper: regardless("helper") });
    expect([valid, answers()]).toEqual([true, [1]]);
    await refuse(await wrap(A, withSlot(honest, 1, bit)));
  }

  it("the helper's element is none: what stands for it is known to anyone who knows r", async () => {
    const r = randomScalar(random);
    const helper = STAND_IN.subtract(third.multiply(r));
    const [left, right] = share(helper).map(embed) as [RistrettoPoint, RistrettoPoint];
    const masked = [left.add(first.multiply(r)), right.add(second.multiply(r))];
    await refuseForm(join([...[BASE.multiply(r), ...masked].map((point) => point.toBytes()), NO_ELEMENT]));
  });

  it.each([
    ["0·G, which masks nothing", new Uint8Array(32), () => IDENTITY],
    ["none, and the masks are those of what stands for it", NO_ELEMENT, (key: RistrettoPoint) => key.double()],
  ])("the ephemeral element is %s", async (_, ephemeral, maskOf) => {
    const helper = randomElement();
    const [left, right] = share(helper).map(embed) as [RistrettoPoint, RistrettoPoint];
    const masked = [left.add(maskOf(first)), right.add(maskOf(second)), helper.add(maskOf(third))];
    await refuseForm(join([ephemeral, ...masked.map((point) => point.toBytes())]));
  });

  it("one of the leader's elements has something other than zeros after the share", async () => {
    for (const place of [0, 1]) {
      const helper = randomElement();
      const embedded = share(helper).map((part, i) => (i === place ? withTail(part) : embed(part)));
      await refuseForm(forger.elements([...embedded, helper]));
    }
  });

  /** The same bytes in an element, followed by a 1. */
  function withTail(part: Uint8Array): RistrettoPoint {
    for (let counter = 0; ; counter += 2) {
      const { point, decoded } = decodePointOrStandIn(Uint8Array.of(counter, counter >> 8, ...part, 1, 0, 0, 0, 0, 0));
      if (decoded) return point;
    }
  }
});

describe("what is no half", () => {
  it("one bit too few or too many, no bits at all, or no whole number of bits", async () => {
    for (const bits of [honest.subarray(128), join([honest, forger.honest(0)]), new Uint8Array()]) {
      await refuse(await wrap(A, bits));
    }
    const report = await wrap(A, honest);
    for (const role of ["leader", "helper"] as const) {
      await refuse({ ...report, [role]: report[role].subarray(0, -1) });
      await refuse({ ...report, [role]: join([report[role], Uint8Array.of(0)]) });
    }
  });

  it("an empty half, and one of less than the wrapping", async () => {
    const report = await wrap(A, honest);
    for (const half of [new Uint8Array(), new Uint8Array(WRAPPING_BYTES - 1), new Uint8Array(WRAPPING_BYTES)]) {
      await refuse({ ...report, leader: half });
      await refuse({ ...report, helper: half });
      await refuse({ ...report, leader: half, helper: half });
    }
  });

  it("random bytes, wrapped or not", async () => {
    for (let i = 0; i < 2; i++) {
      await refuse(await wrap(A, randomBytes(honest.length)));
      const report = await wrap(A, honest);
      await refuse({ ...report, leader: randomBytes(report.leader.length) });
      await refuse({ ...report, helper: randomBytes(report.helper.length) });
    }
  });

  it("an ephemeral wrapping key of small order, which leads to no shared secret", async () => {
    const report = await wrap(A, honest);
    for (const point of [
      "00".repeat(32),
      `01${"00".repeat(31)}`,
      `ec${"ff".repeat(30)}7f`,
      `ed${"ff".repeat(30)}7f`,
      "ff".repeat(32),
    ]) {
      const half = report.leader.slice();
      half.set(Buffer.from(point, "hex"));
      await refuse({ ...report, leader: half });
    }
  });
});

describe("a device's noise instead of an invalid report", () => {
  it("is drawn as the mechanism does on no event, at the leader alone", async () => {
    // At ε = 20 the draw is the truth.
    const statistics = [
      createTwoServerStatistic({ statistic: "occurrence", noise: "device", ticks: 1, localEpsilons: [20] }),
      createTwoServerStatistic({
        statistic: "histogram",
        noise: "device",
        ticks: 1,
        eventsPerTick: 1,
        edges: [0, 1],
        localEpsilon: 20,
      }),
    ];
    const servers = await startServers(statistics);
    for (let i = 0; i < 20; i++) {
      const garbage = {
        device: deviceNumber(i),
        report: randomBytes(16),
        leader: new Uint8Array(),
        helper: new Uint8Array(),
      };
      expect(await servers.decide(garbage)).toEqual({ leader: false, helper: false });
    }
    expect(servers.helper.close()).toEqual(new Uint8Array(3 * 8));
    expect(servers.sums()).toEqual([0, 20, 0]);
  });
});

it("servers with different verify keys find no report valid, instead of counting what they cannot check", async () => {
  const opened = openBits(A, honest);
  const [ctx, report] = [sharingContext(WINDOW), randomBytes(16)];
  const leader = prepareHalf(STATISTICS, { role: "leader", verifyKey: VERIFY_KEY, ctx }, report, opened.leader);
  const helper = prepareHalf(STATISTICS, { role: "helper", verifyKey: randomBytes(32), ctx }, report, opened.helper);
  expect(isValidReport(STATISTICS, leader.verifier, helper.verifier)).toBe(false);
});
