import type { LatticeCiphertext, Slots } from "../../encryption/index.ts";
import { chooseFor } from "../../encryption/lattice/choose.ts";
import { gainsOf } from "../../encryption/lattice/noise-history.ts";
import { createRotatingLattice } from "../../encryption/lattice/rotating.ts";
import { type DiscreteGaussian, drawDiscreteGaussian } from "../../privacy/discrete-gaussian.ts";
import { withBufferedRandomness } from "../../randomness/index.ts";
import type { Statistic } from "../entry.ts";
import { canaryLength, createCanary } from "../lattice/canary.ts";
import { type LatticePlan, latticeDevice, latticeServer } from "../lattice/lattice-machine.ts";
import { addMasked, requireSlots } from "../lattice/rotation-slots.ts";
import { eventOf, lowerable, roomOf } from "../room.ts";
import type { DeviceSide, ServerSide } from "../statistic.ts";
import { writesAllowed } from "../writes.ts";
import { checkMean, clampedAnswer, drawOnNoEvent, type MeanSpec, meanEstimates, meanNoise } from "./mean.ts";

/**
 * A count kept as a rotation, as in the histogram. For sealing X^count is multiplied by Σ_i min(i, limit)·X^{−i}:
 * coefficient 0 is then min(count, limit). All terms lie between −M and M; behind M there is room for the canary.
 */
export interface RotationMeanPlan extends LatticePlan {
  readonly spec: MeanSpec;
  readonly noise: DiscreteGaussian;
  /** M: the most events a window can hold. */
  readonly capacity: number;
}

/** Chooses slots and lattice parameters, or refuses with a `RangeError` what has no room. */
export function planRotationMean(spec: MeanSpec): RotationMeanPlan {
  checkMean(spec);
  const { limit } = spec;
  const noise = meanNoise(spec);
  // Every honest answer, from −reach to limit + reach, has a different residue.
  const plaintextBits = Math.ceil(Math.log2(limit + 2 * noise.reach + 1));
  const room = roomOf(spec);
  const { capacity } = room;
  const slots = 2 * capacity + 1 + canaryLength(plaintextBits);
  requireSlots("a mean", room, slots, room.hides > 0 ? "ticks, hides or eventsPerTick" : "ticks or eventsPerTick");
  const canary = createCanary(plaintextBits, capacity + 1);
  const choice = chooseFor(
    {
      plaintextBits,
      slots,
      encryptions: 2 * writesAllowed(spec),
      multipliedBy: (dimension) => weightPolynomial(limit, capacity, dimension),
      encryptionsAfter: 1,
      reads: [0, ...canary.slots],
      toLower: lowerable(room, "eventsPerTick, limit or sigma"),
    },
    gainsOf,
  );
  return { ...room, events: [eventOf(spec)], ciphertexts: 1, choice, canary, spec, noise };
}

function weightPolynomial(limit: number, capacity: number, dimension: number): Int32Array {
  const polynomial = new Int32Array(dimension);
  // X^{−i} = −X^{N−i}; the weight of X⁰ is min(0, limit) = 0.
  for (let i = 1; i <= capacity; i++) polynomial[dimension - i] = -Math.min(i, limit);
  return polynomial;
}

/** The device's half. */
export function rotationMeanDevice(plan: RotationMeanPlan): DeviceSide {
  const scheme = createRotatingLattice(plan.choice.parameters, plan.choice.plaintextBits);
  const t = 2 ** plan.choice.plaintextBits;
  const weights = weightPolynomial(plan.spec.limit, plan.capacity, plan.choice.parameters.dimension);

  return latticeDevice(plan, {
    start: ([ciphertext]) => scheme.addToSlot(ciphertext as LatticeCiphertext, 0, 1),
    fold: ([ciphertext], _metric, times) => scheme.rotate(ciphertext as LatticeCiphertext, times),
    seal: ([state], missing, fill, random) => {
      const ciphertext = state as LatticeCiphertext;
      fill(ciphertext, 0, missing);
      scheme.multiply(ciphertext, weights);
      withBufferedRandomness(random, (buffered) => {
        const noise = Number(drawDiscreteGaussian(plan.noise, buffered));
        addMasked(plan, scheme, ciphertext, new Map([[0, ((noise % t) + t) % t]]), buffered);
      });
    },
  });
}

/** The server's half. */
export function rotationMeanServer(plan: RotationMeanPlan): ServerSide {
  const { noise, spec } = plan;
  const t = 2 ** plan.choice.plaintextBits;
  return {
    ...latticeServer(plan, {
      read: ([opened]) => {
        const residue = (opened as Slots)[0] as number;
        // The residues that no honest answer has are split evenly.
        const largest = spec.limit + noise.reach;
        const spare = t - (largest + noise.reach + 1);
        const value = residue <= largest + Math.floor(spare / 2) ? residue : residue - t;
        return [clampedAnswer(spec, noise, value)];
      },
      onNoEvent: (random) => [drawOnNoEvent(spec, noise, random)],
    }),
    ...meanEstimates(spec),
  };
}

/** Both halves. */
export function rotationMean(spec: MeanSpec): Statistic {
  const plan = planRotationMean(spec);
  return { device: rotationMeanDevice(plan), server: rotationMeanServer(plan), choice: plan.choice };
}
