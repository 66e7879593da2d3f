import { join, split } from "../bytes.ts";
import {
  type ElGamalCiphertext,
  type ElGamalPublicKey,
  type ElGamalSecretKey,
  elgamalGroup,
} from "../encryption/elgamal/elgamal.ts";
import type { RistrettoGroup } from "../encryption/elgamal/group.ts";
import {
  BASE,
  canonicalPoints,
  IDENTITY,
  multiplyBaseOnce,
  POINT_BYTES,
  type RistrettoPoint,
  randomScalar,
} from "../encryption/elgamal/ristretto.ts";
import type { DeviceScheme } from "../encryption/rerandomizable.ts";
import { requireLength } from "../error.ts";
import { KEYS } from "./share-keys.ts";
import type { ServerRole } from "./shared-bit.ts";

/*
 * Slots that two servers share in the exponent, for tasks with `collusion: "one-server"` (docs/two-servers.md). Unlike a
 * shared bit, whose shares stay what they were, every rerandomization of a slot draws new shares. So an intruder who
 * reads it again and again sees nothing in it, even with the keys of one of the servers. Nothing proves that it is a
 * bit: the servers see that when they open it.
 */

const POINTS_IN_HALF = 2;

/** Bytes of a server's half of a slot: the ephemeral element, and the masked one. */
export const SLOT_HALF_BYTES: number = POINTS_IN_HALF * POINT_BYTES;
/** The length of an encoded slot. */
export const SHARED_SLOT_BYTES: number = 2 * SLOT_HALF_BYTES;

/**
 * (r·G, w·G + r·A) for the leader and (s·G, (x − w)·G + s·B) for the helper: x is in the slot, w is uniform, A and B are
 * the leader's key and the helper's.
 */
export type SharedSlot = Readonly<Record<ServerRole, ElGamalCiphertext>>;

/** The keys of both servers for a device. */
export type SlotKeys = Readonly<Record<ServerRole, ElGamalPublicKey>>;

type SharedSlots = DeviceScheme<SlotKeys, SharedSlot> & { add(left: SharedSlot, right: SharedSlot): SharedSlot };

/**
 * ElGamal in the exponent for two servers. `rerandomize` draws a new r, s and w: whatever the slot was, what comes out
 * has the distribution of a fresh encryption, even for those who hold both secret keys. Sums are slots of sums.
 *
 * One r for both would not do, as it does in a shared bit: a leader who knows B before it issues A = k·G − B could read
 * x·G + k·r·G off every slot, the sum of both masked elements. A device gets the keys of any task of two servers, and
 * uses the leader's first and the helper's.
 */
export const sharedSlots: SharedSlots = {
  id: "slot shared over elgamal ristretto255",
  hidesRerandomizations: true,
  ciphertextBytes: SHARED_SLOT_BYTES,
  publicKeyBytes: (KEYS.leader + KEYS.helper) * POINT_BYTES,
  encrypt: (keys, bit, random) => {
    if (bit !== 0 && bit !== 1) throw new RangeError(`a slot is 0 or 1, not ${bit}`);
    const open = (masked: RistrettoPoint): ElGamalCiphertext => ({ ephemeral: IDENTITY, masked });
    const slot = { leader: open(IDENTITY), helper: open(bit === 1 ? BASE : IDENTITY) };
    return sharedSlots.rerandomize(keys, slot, random);
  },
  rerandomize: (keys, { leader, helper }, random) => {
    const [r, s] = [randomScalar(random), randomScalar(random)];
    const moved = multiplyBaseOnce(randomScalar(random));
    return canonical(
      leader.ephemeral.add(multiplyBaseOnce(r)),
      leader.masked.add(keys.leader.point.multiply(r)).add(moved),
      helper.ephemeral.add(multiplyBaseOnce(s)),
      helper.masked.add(keys.helper.point.multiply(s)).subtract(moved),
    );
  },
  add: (left, right) =>
    canonical(
      left.leader.ephemeral.add(right.leader.ephemeral),
      left.leader.masked.add(right.leader.masked),
      left.helper.ephemeral.add(right.helper.ephemeral),
      left.helper.masked.add(right.helper.masked),
    ),
  encode: ({ leader, helper }) => join([elgamalGroup.encode(leader), elgamalGroup.encode(helper)]),
  decode: (bytes) => {
    requireLength("a shared slot", bytes, SHARED_SLOT_BYTES);
    const [leader, helper] = split(bytes, 2).map(elgamalGroup.decode) as [ElGamalCiphertext, ElGamalCiphertext];
    return { leader, helper };
  },
  decodePublicKey: (bytes) => {
    requireLength("the public keys of two servers", bytes, POINT_BYTES * (KEYS.leader + KEYS.helper));
    const keys = split(bytes, KEYS.leader + KEYS.helper).map((key) => elgamalGroup.decodePublicKey(key));
    return { leader: keys[0] as ElGamalPublicKey, helper: keys[KEYS.leader] as ElGamalPublicKey };
  },
};

/** In coordinates that do not show what made the slot. */
function canonical(...points: readonly [RistrettoPoint, RistrettoPoint, RistrettoPoint, RistrettoPoint]): SharedSlot {
  const [r, leader, s, helper] = canonicalPoints(points) as [
    RistrettoPoint,
    RistrettoPoint,
    RistrettoPoint,
    RistrettoPoint,
  ];
  return { leader: { ephemeral: r, masked: leader }, helper: { ephemeral: s, masked: helper } };
}

/** The halves of slots, one after another. */
export function splitSharedSlots(slots: Uint8Array): Readonly<Record<ServerRole, Uint8Array>> {
  const count = Math.ceil(slots.length / SHARED_SLOT_BYTES);
  requireLength("a list of shared slots", slots, count * SHARED_SLOT_BYTES);
  const all = split(slots, count);
  return {
    leader: join(all.map((slot) => slot.subarray(0, SLOT_HALF_BYTES))),
    helper: join(all.map((slot) => slot.subarray(SLOT_HALF_BYTES))),
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
