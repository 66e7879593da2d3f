import { join, split } from "../bytes.ts";
import { type ElGamalPublicKey, type ElGamalSecretKey, elgamalGroup } from "../encryption/elgamal/elgamal.ts";
import type { RistrettoGroup } from "../encryption/elgamal/group.ts";
import {
  BASE,
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
import { KEYS, type ServerRole } from "./shared-bit.ts";

/*
 * Slots that two servers share in the exponent, for tasks with `collusion: "one-server"` (docs/two-servers.md). Unlike a
 * shared bit, whose shares stay what they were, a slot is shared anew by whoever rerandomizes it. So an intruder who
 * reads it again and again sees nothing in it, even with the keys of one of the servers. Nothing proves that it is a
 * bit: the servers see that when they open it.
 */

const POINTS = 3;

/** The length of an encoded slot. */
export const SHARED_SLOT_BYTES: number = POINTS * POINT_BYTES;
/** Bytes of a server's half of a slot: the ephemeral element, and the one that is masked for that server. */
export const SLOT_HALF_BYTES: number = 2 * POINT_BYTES;

/** (r·G, w·G + r·A, (x − w)·G + r·B): x is in the slot, w is uniform, A and B are the leader's key and the helper's. */
export type SharedSlot = Readonly<Record<"ephemeral" | ServerRole, RistrettoPoint>>;

/** The keys of both servers for a device. */
export type SlotKeys = Readonly<Record<ServerRole, ElGamalPublicKey>>;

/**
 * ElGamal in the exponent for two servers. One r serves for two independent keys, as in a shared bit, which is as secure
 * as two (docs/encryption.md). `rerandomize` draws a new w as well as a new r: whatever the slot was, what comes out has
 * the distribution of a fresh encryption, even for those who hold both secret keys. Sums are slots of sums. A device
 * gets the keys of any task of two servers, and uses the leader's first and the helper's.
 */
export const sharedSlots: DeviceScheme<SlotKeys, SharedSlot> & {
  add(left: SharedSlot, right: SharedSlot): SharedSlot;
} = {
  id: "slot shared over elgamal ristretto255",
  hidesRerandomizations: true,
  ciphertextBytes: SHARED_SLOT_BYTES,
  publicKeyBytes: (KEYS.leader + KEYS.helper) * POINT_BYTES,
  encrypt: (keys, bit, random) => {
    if (bit !== 0 && bit !== 1) throw new RangeError(`a slot is 0 or 1, not ${bit}`);
    const slot = { ephemeral: IDENTITY, leader: IDENTITY, helper: bit === 1 ? BASE : IDENTITY };
    return sharedSlots.rerandomize(keys, slot, random);
  },
  rerandomize: ({ leader: a, helper: b }, { ephemeral, leader, helper }, random) => {
    const r = randomScalar(random);
    const moved = multiplyBaseOnce(randomScalar(random));
    return canonical(
      ephemeral.add(multiplyBaseOnce(r)),
      leader.add(a.point.multiply(r)).add(moved),
      helper.add(b.point.multiply(r)).subtract(moved),
    );
  },
  add: (left, right) =>
    canonical(left.ephemeral.add(right.ephemeral), left.leader.add(right.leader), left.helper.add(right.helper)),
  encode: ({ ephemeral, leader, helper }) => join([ephemeral, leader, helper].map((point) => point.toBytes())),
  decode: (bytes) => {
    requireLength("a shared slot", bytes, SHARED_SLOT_BYTES);
    const [ephemeral, leader, helper] = split(bytes, POINTS).map(decodePoint) as Points;
    return { ephemeral, leader, helper };
  },
  decodePublicKey: (bytes) => {
    requireLength("the public keys of two servers", bytes, POINT_BYTES * (KEYS.leader + KEYS.helper));
    const keys = split(bytes, KEYS.leader + KEYS.helper).map((key) => elgamalGroup.decodePublicKey(key));
    return { leader: keys[0] as ElGamalPublicKey, helper: keys[KEYS.leader] as ElGamalPublicKey };
  },
};

type Points = [RistrettoPoint, RistrettoPoint, RistrettoPoint];

/** In coordinates that do not show what made the slot. */
function canonical(...points: Points): SharedSlot {
  const [ephemeral, leader, helper] = canonicalPoints(points) as Points;
  return { ephemeral, leader, helper };
}

/** The halves of slots, one after another. */
export function splitSharedSlots(slots: Uint8Array): Readonly<Record<ServerRole, Uint8Array>> {
  const count = Math.ceil(slots.length / SHARED_SLOT_BYTES);
  requireLength("a list of shared slots", slots, count * SHARED_SLOT_BYTES);
  const all = split(slots, count);
  return {
    leader: join(all.map((slot) => slot.subarray(0, SLOT_HALF_BYTES))),
    helper: join(all.flatMap((slot) => [slot.subarray(0, POINT_BYTES), slot.subarray(SLOT_HALF_BYTES)])),
  };
}

/** A server's share of a slot, w·G or (x − w)·G, encoded; any element, if not `intact`. */
export interface OpenedSlot {
  readonly element: Uint8Array;
  readonly intact: boolean;
}

/** Opens a server's half of one slot, with the same work for all bytes of the right length. */
export function openSlot(key: ElGamalSecretKey, half: Uint8Array, group: RistrettoGroup): OpenedSlot {
  requireLength("half of a shared slot", half, SLOT_HALF_BYTES);
  const { elements, decoded, isTrivial } = group.unmask([key.reveal()], half);
  // Nobody honest sends 0·G.
  return { element: elements[0] as Uint8Array, intact: decoded && !isTrivial };
}

/** Of a slot that is not there. */
export const MISSING_SLOT: OpenedSlot = { element: new Uint8Array(POINT_BYTES), intact: false };
