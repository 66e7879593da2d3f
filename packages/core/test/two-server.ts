import { join, split } from "../src/bytes.ts";
import { elgamalGroup } from "../src/encryption/elgamal/elgamal.ts";
import { embed } from "../src/encryption/elgamal/embedding.ts";
import { nobleGroup } from "../src/encryption/elgamal/noble-group.ts";
import { BASE, type RistrettoPoint, randomScalar } from "../src/encryption/elgamal/ristretto.ts";
import { deriveDeviceSecretKey, type Secret, secret } from "../src/encryption/index.ts";
import { randomnessFrom } from "../src/randomness/index.ts";
import { prio3Count } from "../src/sharing/create-prio3-count.ts";
import { KEYS } from "../src/sharing/share-keys.ts";
import {
  createSharedBits,
  HALF_BYTES,
  type OpenedShare,
  openShare,
  type ServerRole,
  sharingContext,
  splitSharedBits,
  type TaskWindow,
} from "../src/sharing/shared-bit.ts";
import type { Recorder } from "../src/statistic/recorder.ts";
import type { TwoServerStatistic } from "../src/statistic/two-server.ts";
import { addAggregateShares } from "../src/two-server/aggregate-share.ts";
import { type Aggregator, createAggregator, issueShareKeys } from "../src/two-server/aggregator.ts";
import { isValidReport, prepareHalf } from "../src/two-server/verification.ts";
import { deriveWrappingKeys, type Split, wrapReport } from "../src/two-server/wrapping.ts";
import { xof } from "../src/xof.ts";

export const ROLES: readonly ServerRole[] = ["leader", "helper"];
export const random = randomnessFrom(globalThis.crypto);

export function randomBytes(length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  random(bytes);
  return bytes;
}

/** A device's 16 bytes; different numbers, different devices. */
export const deviceNumber = (number: number): Uint8Array => new Uint8Array(16).fill(number);

export const MASTERS: Readonly<Record<ServerRole, Secret<Uint8Array>>> = {
  leader: secret(new Uint8Array(32).fill(1)),
  helper: secret(new Uint8Array(32).fill(2)),
};
export const VERIFY_KEY: Uint8Array = new Uint8Array(32).fill(3);
export const WINDOW: TaskWindow = { task: "two-servers", window: 5 };

/** The public keys of both servers for a device, as it is given them. */
export function issueKeys(device: Uint8Array, at: TaskWindow = WINDOW): Uint8Array {
  return join(ROLES.map((role) => issueShareKeys(role, MASTERS[role], at, device)));
}

/** What both servers get of one report. */
export interface WrappedReport extends Readonly<Record<ServerRole, Uint8Array>> {
  readonly device: Uint8Array;
  readonly report: Uint8Array;
}

/** Shared bits, wrapped for the servers of a window under a report id, fresh unless told. */
export async function wrap(
  device: Uint8Array,
  sharedBits: Uint8Array,
  {
    at = WINDOW,
    report = randomBytes(16),
    split: splitOf,
  }: { at?: TaskWindow; report?: Uint8Array; split?: Split } = {},
): Promise<WrappedReport> {
  const [leader, helper] = await Promise.all(
    ROLES.map((role) => deriveWrappingKeys(MASTERS[role], { ...at, role }).then(({ publicKey }) => publicKey)),
  );
  const publicKeys = { leader: leader as Uint8Array, helper: helper as Uint8Array };
  return { device, report, ...(await wrapReport(publicKeys, { ...at, device, report }, sharedBits, random, splitOf)) };
}

/** Both servers of a window. Their secrets are always the same: what is wrapped for one pair opens at another. */
export interface Servers extends Readonly<Record<ServerRole, Aggregator>> {
  /** What each server says of a report. */
  decide(report: WrappedReport): Promise<Record<ServerRole, boolean>>;
  /** Of all reports so far, with both servers' noise. Closes the window. */
  sums(): number[];
}

export async function startServers(
  statistics: readonly TwoServerStatistic[],
  at: TaskWindow = WINDOW,
): Promise<Servers> {
  const start = async (role: ServerRole): Promise<Aggregator> =>
    createAggregator({
      ...at,
      role,
      statistics,
      master: MASTERS[role],
      wrapping: await deriveWrappingKeys(MASTERS[role], { ...at, role }),
      verifyKey: VERIFY_KEY,
      random,
    });
  const [leader, helper] = [await start("leader"), await start("helper")];
  return {
    leader,
    helper,
    decide: async ({ device, report, ...halves }) => {
      const verifiers = {
        leader: await leader.prepare(device, report, halves.leader),
        helper: await helper.prepare(device, report, halves.helper),
      };
      return {
        leader: leader.conclude(device, verifiers.helper),
        helper: helper.conclude(device, verifiers.leader),
      };
    },
    sums: () => addAggregateShares(leader.close(), helper.close()),
  };
}

/**
 * An honest device; `events[i]` times metric i, in separate ticks if `eventsPerTick` is 1. Gives the shared bits of its
 * report.
 */
export function reportOf(
  statistic: TwoServerStatistic,
  device: Uint8Array,
  use: (recorder: Recorder) => void,
  at: TaskWindow = WINDOW,
): Uint8Array {
  const recorder = statistic.device(sharingContext(at)).start(issueKeys(device, at), random);
  use(recorder);
  return recorder.seal(recorder.write() as Uint8Array);
}

/** What the servers' keys open, without HPKE. */
export function openBits(
  device: Uint8Array,
  sharedBits: Uint8Array,
  at: TaskWindow = WINDOW,
): Record<ServerRole, OpenedShare[]> {
  const halves = splitSharedBits(sharedBits);
  const open = (role: ServerRole): OpenedShare[] => {
    const keys = Array.from({ length: KEYS[role] }, (_, index) =>
      deriveDeviceSecretKey(elgamalGroup, MASTERS[role], { ...at, device, role, index }),
    );
    return split(halves[role], halves[role].length / HALF_BYTES[role]).map((half) =>
      openShare(role, keys, half, nobleGroup),
    );
  };
  return { leader: open("leader"), helper: open("helper") };
}

export type Layout = Pick<TwoServerStatistic, "answerOf" | "answers" | "isOneHot">;

/** Every bit is a separate answer. */
export const bitsApart = (bits: number): Layout => ({
  answerOf: Array.from({ length: bits }, (_, i) => i),
  answers: bits,
  isOneHot: false,
});

export interface Verified {
  readonly valid: boolean;
  /** What the two shares of the answers add up to, valid or not. */
  readonly answers: () => number[];
  readonly outShares: Readonly<Record<ServerRole, Uint8Array>>;
}

/** What two servers find that have opened these shares. */
export function verify(
  statistics: readonly Layout[],
  opened: Readonly<Record<ServerRole, readonly OpenedShare[]>>,
  ctx: Uint8Array = sharingContext(WINDOW),
): Verified {
  const report = randomBytes(16);
  const [leader, helper] = ROLES.map((role) =>
    prepareHalf(statistics, { role, verifyKey: VERIFY_KEY, ctx }, report, opened[role]),
  ) as [ReturnType<typeof prepareHalf>, ReturnType<typeof prepareHalf>];
  return {
    valid: isValidReport(statistics, leader.verifier, helper.verifier),
    answers: () => addAggregateShares(leader.outShare, helper.outShare),
    outShares: { leader: leader.outShare, helper: helper.outShare },
  };
}

/** Shares of a bit as the servers would open them, without ElGamal. */
export function shareOf(bit: number, ctx: Uint8Array = sharingContext(WINDOW)): Record<ServerRole, OpenedShare> {
  const [leader, helper] = prio3Count.shard(ctx, bit, new Uint8Array(16), randomBytes(64)).inputShares as [
    Uint8Array,
    Uint8Array,
  ];
  return { leader: { share: leader, intact: true }, helper: { share: helper, intact: true } };
}

/** Integers modulo the prime of Prio3Count's field. */
export const MODULUS = 2n ** 64n - 2n ** 32n + 1n;
export const modulo = (value: bigint): bigint => ((value % MODULUS) + MODULUS) % MODULUS;
export const readElement = (bytes: Uint8Array, at = 0): bigint => {
  return new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(at, true);
};
export function writeElement(bytes: Uint8Array, at: number, value: bigint): void {
  new DataView(bytes.buffer, bytes.byteOffset).setBigUint64(at, modulo(value), true);
}

/** Makes shared bits without a device, as someone can who has a device's public keys. */
export interface Forger {
  /** Two of the leader, one of the helper. */
  readonly keys: readonly [RistrettoPoint, RistrettoPoint, RistrettoPoint];
  /** The leader's share of a bit, 48 bytes, if the helper's element is this. */
  leaderShare(bit: number, helper: RistrettoPoint): Uint8Array;
  /** Shared bits of honest values, one after another. */
  honest(...bits: readonly number[]): Uint8Array;
  /**
   * A value that need not be a bit, with the proof of a 0 but for the measurement and the product at −1: the best a
   * cheat can do.
   */
  value(value: bigint): Uint8Array;
  /** Any three elements, encrypted for the leader, twice, and the helper. */
  elements(elements: readonly RistrettoPoint[]): Uint8Array;
}

export function createForger(
  device: Uint8Array,
  at: TaskWindow = WINDOW,
  ctx: Uint8Array = sharingContext(at),
): Forger {
  const scheme = createSharedBits(ctx);
  const publicKeys = scheme.decodePublicKey(issueKeys(device, at));
  const keys = publicKeys.map(({ point }) => point) as [RistrettoPoint, RistrettoPoint, RistrettoPoint];
  const elements: Forger["elements"] = (points) => {
    const r = randomScalar(random);
    const masked = points.map((point, i) => point.add((keys[i] as RistrettoPoint).multiply(r)));
    return join([BASE.multiply(r), ...masked].map((point) => point.toBytes()));
  };
  const leaderShare: Forger["leaderShare"] = (bit, helper) => {
    const rand = join([seedOf(helper), randomBytes(32)]);
    return prio3Count.shard(ctx, bit, new Uint8Array(16), rand).inputShares[0] as Uint8Array;
  };
  return {
    keys,
    leaderShare,
    elements,
    honest: (...bits) => join(bits.map((bit) => scheme.encode(scheme.encrypt(publicKeys, bit, random)))),
    value: (value) => {
      const helper = randomElement();
      const leader = leaderShare(0, helper);
      for (const at of [0, 40]) writeElement(leader, at, readElement(leader, at) + value);
      return elements([...split(leader, 2).map(embed), helper]);
    },
  };
}

export function randomElement(): RistrettoPoint {
  return BASE.multiply(randomScalar(random));
}

/** The helper's seed for a group element. */
function seedOf(element: RistrettoPoint): Uint8Array {
  const seed = new Uint8Array(32);
  xof("lethe helper seed", element.toBytes())(seed);
  return seed;
}
