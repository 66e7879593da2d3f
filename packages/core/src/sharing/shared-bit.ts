/*
 * This folder is about bits that two servers share: Prio3Count (`prio3-count.ts`) with its field and its streams, and
 * here the bits on a device, encrypted and rerandomizable. Statistics and servers both use it. May import `encryption`,
 * `randomness` and the files directly below `src`. Start reading here.
 */
import { join, split } from "../bytes.ts";
import { type ElGamalPublicKey, type ElGamalSecretKey, elgamalGroup } from "../encryption/elgamal/elgamal.ts";
import { EMBEDDED_BYTES, embed, extract } from "../encryption/elgamal/embedding.ts";
import type { RistrettoGroup } from "../encryption/elgamal/group.ts";
import {
  canonicalPoints,
  decodePoint,
  IDENTITY,
  multiplyBaseOnce,
  POINT_BYTES,
  type RistrettoPoint,
  randomScalar,
} from "../encryption/elgamal/ristretto.ts";
import type { DeviceScheme } from "../encryption/rerandomizable.ts";
import { requireLength } from "../error.ts";
import type { Randomness } from "../randomness/index.ts";
import { asciiBytes, xof } from "../xof.ts";
import { createKeccak } from "./keccak.ts";
import { createPrio3CountOn } from "./prio3-count.ts";
import { KEYS } from "./share-keys.ts";

/** Which of the two servers; also the number of the aggregator in Prio3. */
export type ServerRole = "leader" | "helper";
/** The number of each server as an aggregator of Prio3. */
export const AGGREGATOR: Readonly<Record<ServerRole, number>> = { leader: 0, helper: 1 };

/** A window of a task. */
export interface TaskWindow {
  readonly task: string;
  readonly window: number;
}

/** The context of all sharings of a window. A name has no space, so no two windows have the same. */
export function sharingContext({ task, window }: TaskWindow): Uint8Array {
  return asciiBytes(`${task} ${window}`);
}

/** One ephemeral element, and three that are masked. */
const POINTS = 1 + KEYS.leader + KEYS.helper;
const SHARED_BIT_BYTES = POINTS * POINT_BYTES;
const LEADER_SHARE_BYTES = KEYS.leader * EMBEDDED_BYTES;
const SEED_BYTES = 32;
const NO_NONCE = new Uint8Array(16);

/** Bytes of a server's half of a shared bit: the ephemeral element, and those that are masked for that server. */
export const HALF_BYTES: Readonly<Record<ServerRole, number>> = {
  leader: (1 + KEYS.leader) * POINT_BYTES,
  helper: (1 + KEYS.helper) * POINT_BYTES,
};

/** Like a ciphertext of ElGamal, with three masked elements. */
export interface SharedBit {
  readonly ephemeral: RistrettoPoint;
  readonly masked: readonly RistrettoPoint[];
}

/**
 * "Encryption" of a bit for two servers: shares of it with a proof that it is one, each under its server's keys for
 * this device. (r·G, L₁ + r·P₁, L₂ + r·P₂, H + r·P₃): L₁ and L₂ hold the leader's share, the helper's is a hash of the
 * random H. One r serves for three independent keys, which is as secure as three (docs/encryption.md), and a third
 * cheaper. Rerandomizing leaves share and proof as they were, and is perfect. Points in memory have canonical
 * coordinates, which do not show how it was computed.
 */
export function createSharedBits(ctx: Uint8Array): DeviceScheme<readonly ElGamalPublicKey[], SharedBit> {
  // In JavaScript, which a device's policy for pages allows; a sharing takes microseconds, its encryption a
  // millisecond.
  const prio3 = createPrio3CountOn(createKeccak(), 2);

  function share(bit: number, random: Randomness): RistrettoPoint[] {
    const element = multiplyBaseOnce(randomScalar(random));
    const rand = new Uint8Array(prio3.randBytes);
    random(rand);
    const seed = seedFrom(element.toBytes());
    rand.set(seed);
    // Without joint randomness nothing depends on the nonce.
    const { inputShares } = prio3.shard(ctx, bit, NO_NONCE, rand);
    const embedded = split(inputShares[0] as Uint8Array, KEYS.leader).map(embed);
    for (const used of [rand, seed, ...inputShares]) used.fill(0);
    return [...embedded, element];
  }

  return {
    id: "shared bit over elgamal ristretto255",
    hidesRerandomizations: true,
    ciphertextBytes: SHARED_BIT_BYTES,
    publicKeyBytes: (KEYS.leader + KEYS.helper) * POINT_BYTES,
    encrypt: (keys, bit, random) => mask(keys, { ephemeral: IDENTITY, masked: share(bit, random) }, random),
    rerandomize: mask,
    encode: ({ ephemeral, masked }) => join([ephemeral, ...masked].map((point) => point.toBytes())),
    decode: (bytes) => {
      requireLength("a shared bit", bytes, SHARED_BIT_BYTES);
      const [ephemeral, ...masked] = split(bytes, POINTS).map(decodePoint) as [RistrettoPoint, ...RistrettoPoint[]];
      return { ephemeral, masked };
    },
    decodePublicKey: (bytes) => {
      requireLength("the public keys of two servers", bytes, POINT_BYTES * (POINTS - 1));
      return split(bytes, POINTS - 1).map((key) => elgamalGroup.decodePublicKey(key));
    },
  };
}

function mask(keys: readonly ElGamalPublicKey[], { ephemeral, masked }: SharedBit, random: Randomness): SharedBit {
  const r = randomScalar(random);
  const maskedAgain = masked.map((element, i) => element.add((keys[i] as ElGamalPublicKey).point.multiply(r)));
  const points = canonicalPoints([ephemeral.add(multiplyBaseOnce(r)), ...maskedAgain]);
  return { ephemeral: points[0] as RistrettoPoint, masked: points.slice(1) };
}

/** The halves of bits that were shared. */
export function splitSharedBits(bits: Uint8Array): Readonly<Record<ServerRole, Uint8Array>> {
  const count = Math.ceil(bits.length / SHARED_BIT_BYTES);
  requireLength("a list of shared bits", bits, count * SHARED_BIT_BYTES);
  const all = split(bits, count);
  return {
    leader: join(all.map((bit) => bit.subarray(0, HALF_BYTES.leader))),
    helper: join(all.flatMap((bit) => [bit.subarray(0, POINT_BYTES), bit.subarray(HALF_BYTES.leader)])),
  };
}

/** A server's input share of Prio3Count; anything may stand for one that no honest device sends, if not `intact`. */
export interface OpenedShare {
  readonly share: Uint8Array;
  readonly intact: boolean;
}

/** Opens a server's half of one bit, with the same work for all bytes of the right length. */
export function openShare(
  role: ServerRole,
  keys: readonly ElGamalSecretKey[],
  half: Uint8Array,
  group: RistrettoGroup,
): OpenedShare {
  requireLength("half of a shared bit", half, HALF_BYTES[role]);
  const { elements, decoded, isTrivial } = group.unmask(
    keys.map((key) => key.reveal()),
    half,
  );
  // Nobody honest sends 0·G.
  const opened = decoded && !isTrivial;
  if (role === "helper") return { share: seedFrom(elements[0] as Uint8Array), intact: opened };
  const parts = elements.map(extract);
  const embedded = parts.reduce((others, part) => part.embedded && others, opened);
  return { share: join(parts.map(({ data }) => data)), intact: embedded };
}

function seedFrom(element: Uint8Array): Uint8Array {
  const seed = new Uint8Array(SEED_BYTES);
  const stream = xof("lethe helper seed", element);
  stream(seed);
  stream.destroy();
  return seed;
}

/** Of any bit's share that is not there. */
export const MISSING_SHARE: Readonly<Record<ServerRole, OpenedShare>> = {
  leader: { share: new Uint8Array(LEADER_SHARE_BYTES), intact: false },
  helper: { share: new Uint8Array(SEED_BYTES), intact: false },
};
