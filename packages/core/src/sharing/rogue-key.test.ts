import { expect, it } from "vitest";
import { fastRandomness } from "../../test/fast-randomness.ts";
import { split } from "../bytes.ts";
import { elgamalGroup } from "../encryption/elgamal/elgamal.ts";
import { BASE, decodePoint, IDENTITY, type RistrettoPoint, randomScalar } from "../encryption/elgamal/ristretto.ts";
import { type SlotKeys, sharedSlots, splitSharedSlots } from "./shared-slot.ts";

/*
 * A leader knows the helper's key for a device before it issues its own, and may issue k·G − B. Anyone who reads the device
 * and knows k then takes off what would mask a slot if both halves had the same randomness.
 */
const random = fastRandomness("rogue keys");

/** What is left of the two masked elements of a slot if both ephemeral elements are `ephemeral`. */
function unmasked(halves: readonly [Half, Half], k: bigint, ephemeral: RistrettoPoint): RistrettoPoint {
  return halves[0].masked.add(halves[1].masked).subtract(ephemeral.multiply(k));
}

interface Half {
  readonly ephemeral: RistrettoPoint;
  readonly masked: RistrettoPoint;
}

function halvesOf(slot: Uint8Array): [Half, Half] {
  const { leader, helper } = splitSharedSlots(slot);
  return [leader, helper].map((half) => {
    const [ephemeral, masked] = split(half, 2).map(decodePoint) as [RistrettoPoint, RistrettoPoint];
    return { ephemeral, masked };
  }) as [Half, Half];
}

const isBit = (element: RistrettoPoint): boolean => element.equals(IDENTITY) || element.equals(BASE);

it("a leader's key that follows from the helper's opens nothing, because each half has its own randomness", () => {
  const { publicKey: helper } = elgamalGroup.generateKeys(random);
  const k = randomScalar(random);
  const leader = elgamalGroup.decodePublicKey(BASE.multiply(k).subtract(helper.point).toBytes());
  const keys: SlotKeys = { leader, helper };
  for (const bit of [0, 1]) {
    let slot = sharedSlots.encrypt(keys, bit, random);
    for (let version = 0; version < 3; version++) {
      const halves = halvesOf(sharedSlots.encode(slot));
      for (const { ephemeral } of halves) expect(isBit(unmasked(halves, k, ephemeral))).toBe(false);
      slot = sharedSlots.rerandomize(keys, slot, random);
    }
    // With one r for both halves it opens every slot.
    const [r, w] = [randomScalar(random), randomScalar(random)];
    const ephemeral = BASE.multiply(r);
    const value = bit === 1 ? BASE : IDENTITY;
    const shared: [Half, Half] = [
      { ephemeral, masked: BASE.multiply(w).add(leader.point.multiply(r)) },
      { ephemeral, masked: value.subtract(BASE.multiply(w)).add(helper.point.multiply(r)) },
    ];
    expect(unmasked(shared, k, ephemeral).equals(value)).toBe(true);
  }
});
