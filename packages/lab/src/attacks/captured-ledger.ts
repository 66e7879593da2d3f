import {
  createLattice,
  type DeviceKeyContext,
  encodeCompact,
  type LatticeChoice,
  type LatticeCiphertext,
  type LatticePublicKey,
  type LatticeScheme,
} from "@lethe/core/encryption";
import type { Randomness } from "@lethe/core/randomness";
import { type Canary, createCanary, createStatistic, type Statistic } from "@lethe/core/statistic";
import { bytesFrom } from "../randomness/bytes-from.ts";
import type { Bit } from "./attack.ts";

/** Small, so that what a device's own answer reveals is not mistaken for what an attack reveals. */
export const LOCAL_EPSILON = 0.05;

/** A task with one event, as its devices, its server, and an attacker who has read the documentation know it. */
export interface Ledger extends Statistic {
  readonly choice: LatticeChoice;
  readonly scheme: LatticeScheme;
  readonly canary: Canary;
  /** The slot of the event. */
  readonly slot: number;
}

/** A lattice ledger with one slot for the event. */
export function createLedger(): Ledger {
  const { device, server, choice } = createStatistic("lattice", {
    statistic: "occurrence",
    ticks: 2,
    hides: 2,
    localEpsilons: [LOCAL_EPSILON],
  });
  if (choice === undefined) throw new TypeError("a lattice statistic has lattice parameters");
  const canary = createCanary(choice.plaintextBits, 0);
  const scheme = createLattice(choice.parameters, choice.plaintextBits);
  return { device, server, choice, scheme, canary, slot: canary.slots.length };
}

/** The key context of a device in the attacked task. */
export function keyContext(device: Uint8Array): DeviceKeyContext {
  return { task: "attacked", window: 0, device, role: "tally", index: 0 };
}

/** The key context of a device with a new id. */
export function newDevice(random: Randomness): DeviceKeyContext {
  return keyContext(bytesFrom(random, 16));
}

/** What a device has stored after a tick in which the event happened, or did not. */
export function storeAfterTick({ device }: Ledger, publicKey: Uint8Array, bit: Bit, random: Randomness): Uint8Array {
  const recorder = device.start(publicKey, random);
  if (bit) recorder.record(0);
  return requireStored(recorder.write());
}

/** What a write returned; throws if the window has no write left. */
export function requireStored(stored: Uint8Array | undefined): Uint8Array {
  if (stored === undefined) throw new RangeError("the window's writes are used up");
  return stored;
}

/** The ciphertext in a stored record, which begins with a header of fixed length. */
export function capture({ device, scheme }: Ledger, stored: Uint8Array): LatticeCiphertext {
  return scheme.decode(stored.subarray(device.bytes.state - scheme.ciphertextBytes));
}

/**
 * Makes a report of a captured ciphertext: with the canary, but without the noise that an honest device adds. Changes
 * the ciphertext.
 */
export function sealWithoutNoise(
  { scheme, choice, canary }: Ledger,
  publicKey: LatticePublicKey,
  ciphertext: LatticeCiphertext,
  random: Randomness,
): Uint8Array {
  for (const [i, slot] of canary.slots.entries()) scheme.addToSlot(ciphertext, slot, canary.values[i] ?? 0);
  scheme.addEncryptionsOfZero(publicKey, ciphertext, 1, random);
  return encodeCompact(choice.parameters, choice.format, ciphertext);
}
