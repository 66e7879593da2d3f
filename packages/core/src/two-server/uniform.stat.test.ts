import { beforeAll, describe, expect, it } from "vitest";
import { chiSquare, chiSquareAlarm } from "../../test/chi-square.ts";
import {
  bitsApart,
  deviceNumber,
  issueKeys,
  openBits,
  ROLES,
  random,
  randomBytes,
  readElement,
  reportOf,
  VERIFY_KEY,
  verify,
  WINDOW,
  writeElement,
} from "../../test/two-server.ts";
import { join } from "../bytes.ts";
import { prio3Count } from "../sharing/create-prio3-count.ts";
import { createSharedBits, type ServerRole, sharingContext } from "../sharing/shared-bit.ts";
import { createTwoServerStatistic } from "../statistic/create-two-server.ts";
import { prepareHalf } from "./verification.ts";

/**
 * The shares that one server opens are uniform, whatever the device answers: the leader six elements of the field, of
 * which there are 2⁶⁴ − 2³² + 1, so that bits and bytes are uniform but for 2⁻³²; the helper 32 bytes. Unseeded: every
 * figure alarms falsely once in 10⁸, all of them together about once in 10⁶ runs.
 */
const SAMPLES = 400;
/**
 * This number goes the whole way through a device; the rest are shared and opened, which takes a quarter of the time.
 */
const METRICS = 50;

type Shares = Readonly<Record<ServerRole, readonly Uint8Array[]>>;

/** What both servers open of a device to which everything happened, or nothing; at ε = 20 it tells the truth. */
function openedOf(answer: 0 | 1): Shares {
  const device = deviceNumber(answer);
  const statistic = createTwoServerStatistic({
    statistic: "occurrence",
    noise: "device",
    ticks: 1,
    localEpsilons: new Array<number>(METRICS).fill(20),
  });
  const reported = reportOf(statistic, device, (recorder) => {
    for (let metric = 0; metric < answer * METRICS; metric++) recorder.record(metric);
  });
  const scheme = createSharedBits(sharingContext(WINDOW));
  const keys = scheme.decodePublicKey(issueKeys(device));
  const shared = Array.from({ length: SAMPLES - METRICS }, () => scheme.encode(scheme.encrypt(keys, answer, random)));
  const opened = openBits(device, join([reported, ...shared]));
  const { valid, answers } = verify([bitsApart(SAMPLES)], opened);
  expect(valid).toBe(true);
  expect(answers()).toEqual(new Array<number>(SAMPLES).fill(answer));
  return { leader: opened.leader.map(({ share }) => share), helper: opened.helper.map(({ share }) => share) };
}

/** Shares of a device that draws the randomness of its sharings in its own way, or tells the bit outright. */
function openedOfBad(answer: 0 | 1, rand: (i: number) => Uint8Array): Shares {
  const opened: Record<ServerRole, Uint8Array[]> = { leader: [], helper: [] };
  for (let i = 0; i < SAMPLES; i++) {
    const { inputShares } = prio3Count.shard(sharingContext(WINDOW), answer, new Uint8Array(16), rand(i));
    for (const [aggregator, role] of ROLES.entries()) opened[role].push(inputShares[aggregator] as Uint8Array);
  }
  return opened;
}

interface Figure {
  readonly name: string;
  readonly value: number;
  readonly alarm: number;
}

const counts = (shares: readonly Uint8Array[]): number[] => {
  const found = new Array<number>(256).fill(0);
  for (const share of shares) for (const byte of share) found[byte] = (found[byte] as number) + 1;
  return found;
};

/** Both wires of every bit at one point, as both servers learn them when they add their verifiers. */
function wiresOf({ leader, helper }: Shares): Uint8Array[] {
  const [report, ctx] = [randomBytes(16), sharingContext(WINDOW)];
  return leader.map((share, i) => {
    const verifiers = [share, helper[i] as Uint8Array].map((each, aggregator) => {
      const role = ROLES[aggregator] as ServerRole;
      return prepareHalf([bitsApart(1)], { role, verifyKey: VERIFY_KEY, ctx }, report, [{ share: each, intact: true }])
        .verifier;
    }) as [Uint8Array, Uint8Array];
    const wires = new Uint8Array(16);
    for (const at of [0, 8])
      writeElement(wires, at, readElement(verifiers[0], 8 + at) + readElement(verifiers[1], 8 + at));
    return wires;
  });
}

/** For every bit of a share, in how many it is 1. */
function onesOf(shares: readonly Uint8Array[]): number[] {
  return Array.from({ length: 8 * (shares[0] as Uint8Array).length }, (_, bit) =>
    shares.reduce((sum, share) => sum + (((share[bit >> 3] as number) >> (bit & 7)) & 1), 0),
  );
}

/**
 * In standard deviations; bytes that stay equal to their mean do not correlate with anything, but then χ² sees them.
 */
function correlation(shares: readonly Uint8Array[], lag: number): number {
  const bytes = shares.flatMap((share) => Array.from(share, (byte) => byte - 127.5));
  let sum = 0;
  for (let i = lag; i < bytes.length; i++) sum += (bytes[i] as number) * (bytes[i - lag] as number);
  // A byte's variance is (256² − 1)/12.
  return Math.abs(sum / ((65_535 / 12) * Math.sqrt(bytes.length - lag)));
}

/** 10⁻⁸ for a normal figure, on both sides together. */
const NORMAL_ALARM = 5.731;

/** Of the shares that a server gets of devices which answer 0, and of others which answer 1. */
function examine(zeros: readonly Uint8Array[], ones: readonly Uint8Array[]): Figure[] {
  const length = (zeros[0] as Uint8Array).length;
  const half = zeros.length / 2;
  const ofEach = [zeros, ones].flatMap((shares, answer): Figure[] => {
    const expected = new Array<number>(256).fill((shares.length * length) / 256);
    const bits = onesOf(shares).reduce((sum, count) => sum + (count - half) ** 2 / (half / 2), 0);
    return [
      { name: `bytes, ${answer}`, value: chiSquare(counts(shares), expected), alarm: chiSquareAlarm(255, 1e-8) },
      { name: `bits by place, ${answer}`, value: bits, alarm: chiSquareAlarm(8 * length, 1e-8) },
      { name: `next byte, ${answer}`, value: correlation(shares, 1), alarm: NORMAL_ALARM },
      { name: `next element, ${answer}`, value: correlation(shares, 8), alarm: NORMAL_ALARM },
      { name: `next share, ${answer}`, value: correlation(shares, length), alarm: NORMAL_ALARM },
    ];
  });
  const [told0, told1] = [counts(zeros), counts(ones)];
  const bytes = told0.reduce((sum, count, byte) => {
    const both = count + (told1[byte] as number);
    return both === 0 ? sum : sum + (count - (told1[byte] as number)) ** 2 / both;
  }, 0);
  const [at0, at1] = [onesOf(zeros), onesOf(ones)];
  const places = at0.reduce((sum, count, bit) => sum + (count - (at1[bit] as number)) ** 2 / half, 0);
  return [
    ...ofEach,
    { name: "bytes, 0 against 1", value: bytes, alarm: chiSquareAlarm(255, 1e-8) },
    { name: "bits by place, 0 against 1", value: places, alarm: chiSquareAlarm(8 * length, 1e-8) },
  ];
}

const raised = (figures: readonly Figure[]): string[] =>
  figures.filter(({ value, alarm }) => !(value < alarm)).map(({ name }) => name);

describe("what one server opens does not show the answers", () => {
  let zeros: Shares;
  let ones: Shares;
  beforeAll(() => {
    [zeros, ones] = [openedOf(0), openedOf(1)];
  });

  it.each(ROLES)("the %s", (role) => {
    const figures = examine(zeros[role], ones[role]);
    expect(figures.length).toBe(12);
    expect(raised(figures)).toEqual([]);
    expect(new Set([...zeros[role], ...ones[role]].map((share) => share.join())).size).toBe(2 * SAMPLES);
  });

  it("and what both tell each other about a bit does not show it: its wires, at the same point for all", () => {
    const [ofZeros, ofOnes] = [wiresOf(zeros), wiresOf(ones)];
    const figures = examine(ofZeros, ofOnes);
    expect(raised(figures)).toEqual([]);
  });

  it("each element of the leader by itself is uniform, too, and the first does not tell the bit", () => {
    const element = (shares: Shares, i: number): Uint8Array[] =>
      shares.leader.map((share) => share.subarray(8 * i, 8 * i + 8));
    for (let i = 0; i < 6; i++) expect(raised(examine(element(zeros, i), element(ones, i)))).toEqual([]);
  });
});

describe("the same figures catch", () => {
  const catches = (role: ServerRole, zeros: Shares, ones: Shares): string[] => raised(examine(zeros[role], ones[role]));

  it("nobody who shares honestly", () => {
    const [zeros, ones] = [openedOfBad(0, () => randomBytes(64)), openedOfBad(1, () => randomBytes(64))];
    for (const role of ROLES) expect(catches(role, zeros, ones)).toEqual([]);
  });

  it("a device that shares with the same seeds every time", () => {
    const fixed = randomBytes(64);
    const [zeros, ones] = [openedOfBad(0, () => fixed), openedOfBad(1, () => fixed)];
    for (const role of ROLES) {
      expect(catches(role, zeros, ones)).toEqual(
        expect.arrayContaining(["bytes, 0", "bits by place, 1", "next share, 0"]),
      );
    }
    // Of the leader's shares the answers are plain to see.
    expect(catches("leader", zeros, ones)).toContain("bits by place, 0 against 1");
  });

  it("a device whose helper's seed alone is the same every time: the leader's measurement is the bit but for a constant", () => {
    const fixed = randomBytes(32);
    const rand = (): Uint8Array => Uint8Array.from([...fixed, ...randomBytes(32)]);
    const [zeros, ones] = [openedOfBad(0, rand), openedOfBad(1, rand)];
    expect(catches("leader", zeros, ones)).toContain("bits by place, 0 against 1");
    expect(catches("helper", zeros, ones)).toContain("bytes, 0");
  });

  it("a device whose proofs are made with the same randomness every time: the wires are the bit but for a constant", () => {
    const fixed = randomBytes(32);
    const rand = (): Uint8Array => Uint8Array.from([...randomBytes(32), ...fixed]);
    const [zeros, ones] = [openedOfBad(0, rand), openedOfBad(1, rand)];
    for (const role of ROLES) expect(catches(role, zeros, ones)).toEqual([]);
    expect(raised(examine(wiresOf(zeros), wiresOf(ones)))).toContain("bits by place, 0 against 1");
  });

  it("a device whose leader's share is the bit itself", () => {
    const bare = (bit: number): Uint8Array[] =>
      openedOfBad(0, () => randomBytes(64)).leader.map((share) =>
        Uint8Array.from([bit, 0, 0, 0, 0, 0, 0, 0, ...share.subarray(8)]),
      );
    const found = raised(examine(bare(0), bare(1)));
    expect(found).toEqual(expect.arrayContaining(["bytes, 0", "bytes, 1", "bits by place, 0 against 1"]));
  });

  it("a device that tells one bit of a share in a quarter of them", () => {
    const leaning = (bit: number): Uint8Array[] =>
      openedOfBad(0, () => randomBytes(64)).leader.map((share, i) =>
        i % 4 === 0 ? share.map((byte) => (byte & 0xfe) | bit) : share,
      );
    expect(raised(examine(leaning(0), leaning(1)))).toContain("bits by place, 0 against 1");
  });
});
