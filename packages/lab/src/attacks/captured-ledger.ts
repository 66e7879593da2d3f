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

/** Small, so that what a device's own answer gives away is not taken for what an attack does. */
export const LOCAL_EPSILON = 0.05;

/** A task with one event, as its devices, its server, and somebody who has read the documents know it. */
export interface Ledger extends Statistic {
  readonly choice: LatticeChoice;
  readonly scheme: LatticeScheme;
  readonly canary: Canary;
  /** The slot of the event. */
  readonly slot: number;
}

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

export function keyContext(device: Uint8Array): DeviceKeyContext {
  return { task: "attacked", window: 0, device, role: "tally", index: 0 };
}

export function newDevice(random: Randomness): DeviceKeyContext {
  return keyContext(bytesFrom(random, 16));
}

/** What a device has stored after a tick in which it happened, or did not. */
export function storeAfterTick({ device }: Ledger, publicKey: Uint8Array, bit: Bit, random: Randomness): Uint8Array {
  const recorder = device.start(publicKey, random);
  if (bit) recorder.record(0);
  return requireStored(recorder.write());
}

export function requireStored(stored: Uint8Array | undefined): Uint8Array {
  if (stored === undefined) throw new RangeError("the window's writes are used up");
  return stored;
}

/** The ciphertext in what was stored: behind a header of fixed length. */
export function capture({ device, scheme }: Ledger, stored: Uint8Array): LatticeCiphertext {
  return scheme.decode(stored.subarray(device.bytes.state - scheme.ciphertextBytes));
}

/** A captured ciphertext as a report, with the canary, and without the noise that an honest device adds. Changes it. */
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
