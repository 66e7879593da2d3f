import { join, split } from "../src/bytes.ts";
import { createElGamalCounter, encodeCompact, type LatticeCiphertext } from "../src/encryption/index.ts";
import type { SmallPolynomial } from "../src/encryption/lattice/limbs.ts";
import { createRotatingLattice } from "../src/encryption/lattice/rotating.ts";
import type { Randomness } from "../src/randomness/index.ts";
import { createSharedBits, sharingContext, type TaskWindow } from "../src/sharing/shared-bit.ts";
import type { RotationHistogramPlan } from "../src/statistic/histogram/rotation.ts";
import type { LatticePlan } from "../src/statistic/lattice/lattice-machine.ts";
import { elgamalForMean } from "../src/statistic/mean/elgamal.ts";
import type { RotationMeanPlan } from "../src/statistic/mean/rotation.ts";
import type { LedgerPlan } from "../src/statistic/occurrence/ledger.ts";
import type { StatisticSpec } from "../src/statistic/spec.ts";

/**
 * An intruder who holds what a device stored, its public key and its upload token, and nothing else. Makes reports that
 * the server accepts, and whose answers depend on "did anything happen?" as much as the server lets them.
 */
export type Forge = (publicKey: Uint8Array, stored: Uint8Array, random: Randomness) => Uint8Array;

/** Version, kind, writes, ticks: what precedes the ciphertexts of a stored state. */
const HEADER_BYTES = 10;

const ciphertextsOf = (stored: Uint8Array): Uint8Array => stored.subarray(HEADER_BYTES);

/** How a lattice state is changed before it is sent: all that anybody can do to it without the key. */
interface Change {
  /** The terms of a factor: [exponent, coefficient]; exponents may be negative. Left as it is if absent. */
  readonly factor?: readonly (readonly [exponent: number, coefficient: number])[];
  /** Added to slots, the canary included. */
  readonly added?: ReadonlyMap<number, number>;
}

/** The stored ciphertext, changed, with the canary and without any noise. Of a plan with one ciphertext. */
export function forgeLattice(plan: LatticePlan, { factor, added }: Change): Forge {
  const scheme = createRotatingLattice(plan.choice.parameters, plan.choice.plaintextBits);
  const { parameters, format } = plan.choice;
  return (publicKey, stored, random) => {
    const state: LatticeCiphertext = scheme.decode(ciphertextsOf(stored));
    if (factor) scheme.multiply(state, polynomialOf(factor, parameters.dimension));
    for (const [i, slot] of plan.canary.slots.entries()) {
      scheme.addToSlot(state, slot, plan.canary.values[i] as number);
    }
    for (const [slot, value] of added ?? []) scheme.addToSlot(state, slot, value);
    scheme.addEncryptionsOfZero(scheme.decodePublicKey(publicKey), state, 1, random);
    return encodeCompact(parameters, format, state);
  };
}

/** Modulo X^N + 1. */
function polynomialOf(terms: NonNullable<Change["factor"]>, dimension: number): SmallPolynomial {
  const polynomial = new Int32Array(dimension);
  for (const [exponent, coefficient] of terms) {
    const at = ((exponent % dimension) + dimension) % dimension;
    polynomial[at] = (polynomial[at] as number) + (exponent === at ? coefficient : -coefficient);
  }
  return polynomial;
}

/** The slot of a metric in the ledger, of one ciphertext. */
export const ledgerSlot = ({ canary }: LedgerPlan, metric: number): number => canary.slots.length + metric;

/** The bit of metric 0 under every metric of the ledger: a sum of rotations. */
export function forgeLedger(plan: LedgerPlan): Forge {
  return forgeLattice(plan, { factor: plan.responses.map((_, metric) => [metric, 1] as const) });
}

/** The true bucket, without noise: what an honest device does but for the mechanism. Counts 0 and 1 only. */
export function forgeRotationKary(plan: RotationHistogramPlan): Forge {
  const [none, one] = plan.positions as readonly [number, number];
  return forgeLattice(plan, {
    factor: [
      [none, 1],
      [one - 1, 1],
    ],
  });
}

/** "At least one event" in every bucket. Modulo 2 a sign is nothing. */
export function forgeRotationBuckets(plan: RotationHistogramPlan): Forge {
  const counts = Array.from({ length: plan.capacity }, (_, i) => i + 1);
  return forgeLattice(plan, {
    factor: plan.positions.flatMap((position) => counts.map((count) => [position - count, 1] as const)),
  });
}

/** Opens as `none` without an event and as `one` after one. */
export function forgeRotationMean(plan: RotationMeanPlan, none: number, one: number): Forge {
  return forgeLattice(plan, {
    factor: [
      [0, none],
      [-1, one],
    ],
  });
}

/** ElGamal: the report is some sum of multiples of the stored ciphertexts, and of public numbers. */
interface Combination {
  readonly constant: number;
  /** For slots of the state. */
  readonly factors: ReadonlyMap<number, number>;
}

/**
 * Every ciphertext of the report a combination of those of the state. Slot i is under the i-th key, or all under one.
 */
export function forgeElGamal(spec: StatisticSpec, combinations: readonly Combination[]): Forge {
  const scheme = spec.statistic === "mean" ? elgamalForMean(spec) : createElGamalCounter({ minimum: 0, maximum: 1 });
  return (publicKey, stored, random) => {
    const keys = split(publicKey, publicKey.length / scheme.publicKeyBytes).map((key) => scheme.decodePublicKey(key));
    const bytes = ciphertextsOf(stored);
    const state = split(bytes, bytes.length / scheme.ciphertextBytes).map(scheme.decode);
    const report = combinations.map(({ constant, factors }, i) => {
      const key = keys[i % keys.length] as (typeof keys)[0];
      const parts = [...factors].map(([slot, factor]) => scheme.scale(factor, state[slot] as (typeof state)[0]));
      return parts.reduce(scheme.add, scheme.encrypt(key, constant, random));
    });
    return join(report.map(scheme.encode));
  };
}

/**
 * Two servers: bit i of the report is bit `places[i]` of the state, moved or copied, or a public bit with a new
 * sharing.
 */
export function forgeSharedBits(window: TaskWindow, places: readonly (number | { readonly bit: number })[]): Forge {
  const scheme = createSharedBits(sharingContext(window));
  return (publicKey, stored, random) => {
    const keys = scheme.decodePublicKey(publicKey);
    const bytes = ciphertextsOf(stored);
    const state = split(bytes, bytes.length / scheme.ciphertextBytes);
    const report = places.map((place) =>
      typeof place === "number"
        ? scheme.rerandomize(keys, scheme.decode(state.at(place) as Uint8Array), random)
        : scheme.encrypt(keys, place.bit, random),
    );
    return join(report.map(scheme.encode));
  };
}
