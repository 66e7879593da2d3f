import type { LatticeCiphertext, Slots } from "../../encryption/index.ts";
import { chooseFor } from "../../encryption/lattice/choose.ts";
import { gainsOf } from "../../encryption/lattice/noise-history.ts";
import { createRotatingLattice } from "../../encryption/lattice/rotating.ts";
import { drawKary } from "../../privacy/kary-response.ts";
import { drawOutcome } from "../../privacy/probability.ts";
import { type Randomness, uniformBelow, withBufferedRandomness } from "../../randomness/index.ts";
import type { Statistic } from "../entry.ts";
import { canaryLength, createCanary } from "../lattice/canary.ts";
import { type LatticePlan, latticeDevice, latticeServer } from "../lattice/lattice-machine.ts";
import { addMasked, requireSlots } from "../lattice/rotation-slots.ts";
import { eventOf, lowerable, roomOf } from "../room.ts";
import type { DeviceSide, ServerSide } from "../statistic.ts";
import { writesAllowed } from "../writes.ts";
import { isHistogramAnswer, respondHistogram } from "./answer.ts";
import {
  bucketOf,
  checkHistogram,
  type HistogramMechanism,
  type HistogramSpec,
  histogramEstimates,
  histogramMechanism,
} from "./histogram.ts";

/**
 * A count kept as a rotation: the state is ρ·X^count with t = 2, an event multiplies by X. For sealing it is multiplied
 * by P(X) = Σ_b Σ_{i ∈ bucket b} X^{p_b − i} with p_b = b·(M+1). Coefficient p_b of X^c·P is then 1 if c is in bucket b
 * and 0 otherwise: a term of bucket b′ reaches it only if (b−b′)·(M+1) = c − i, and |c − i| ≤ M. All terms lie between
 * −M and p_{B−1} + M; behind them the product is 0 whatever the count, and there is room for the canary.
 */
export interface RotationHistogramPlan extends LatticePlan {
  readonly edges: readonly number[];
  readonly mechanism: HistogramMechanism;
  /** M: the most events a window can hold. */
  readonly capacity: number;
  /** p_b: where the bit of bucket b is. */
  readonly positions: readonly number[];
}

const PLAINTEXT_BITS = 1;

/** Chooses slots and lattice parameters, or refuses with a `RangeError` what has no room. */
export function planRotationHistogram(spec: HistogramSpec): RotationHistogramPlan {
  checkHistogram(spec);
  const { edges } = spec;
  const room = roomOf(spec);
  // A decoy must reach the last bucket even if no window can.
  const capacity = Math.max(room.capacity, edges.at(-1) as number);
  const positions = edges.map((_, b) => b * (capacity + 1));
  const firstZero = (positions.at(-1) as number) + capacity + 1;
  const slots = firstZero + canaryLength(PLAINTEXT_BITS) + capacity;
  const toLower =
    capacity > room.capacity ? "the last of the edges" : lowerable(room, "eventsPerTick or the number of edges");
  requireSlots(`a histogram of ${edges.length} buckets`, room, slots, toLower);
  const canary = createCanary(PLAINTEXT_BITS, firstZero);
  const choice = chooseFor(
    {
      plaintextBits: PLAINTEXT_BITS,
      slots,
      encryptions: 2 * writesAllowed(spec),
      multipliedBy: (dimension) => bucketPolynomial(edges, positions, capacity, dimension),
      encryptionsAfter: 1,
      reads: [...positions, ...canary.slots],
      toLower,
    },
    gainsOf,
  );
  const mechanism = histogramMechanism(spec);
  return { ...room, events: [eventOf(spec)], ciphertexts: 1, choice, canary, edges, mechanism, capacity, positions };
}

/** P of the comment above, modulo X^N + 1. */
function bucketPolynomial(
  edges: readonly number[],
  positions: readonly number[],
  capacity: number,
  dimension: number,
): Int32Array {
  const polynomial = new Int32Array(dimension);
  for (let count = 0; count <= capacity; count++) {
    const exponent = (positions[bucketOf(edges, count)] as number) - count;
    if (exponent >= 0) polynomial[exponent] = 1;
    else polynomial[dimension + exponent] = -1;
  }
  return polynomial;
}

/** The device's half. */
export function rotationHistogramDevice(plan: RotationHistogramPlan): DeviceSide {
  const { edges, mechanism, capacity, positions } = plan;
  const scheme = createRotatingLattice(plan.choice.parameters, plan.choice.plaintextBits);
  const polynomial = bucketPolynomial(edges, positions, capacity, plan.choice.parameters.dimension);

  return latticeDevice(plan, {
    start: ([ciphertext], random) => {
      // Unary encoding keeps a 1 with probability 1/2: ρ is that coin. The other mechanisms start at 1.
      const rho = mechanism.name === "unary" ? uniformBelow(random, 2) : 1;
      scheme.addToSlot(ciphertext as LatticeCiphertext, 0, rho);
    },
    fold: ([ciphertext], _metric, times) => scheme.rotate(ciphertext as LatticeCiphertext, times),
    seal: ([state], missing, fill, random) => {
      const ciphertext = state as LatticeCiphertext;
      fill(ciphertext, 0, missing);
      if (mechanism.name === "kary") {
        const { keep, decoy: bucket } = drawKary(mechanism, random);
        // Prepared whether it is used or not, with as many encryptions as the state holds.
        const decoy = scheme.trivial();
        scheme.addToSlot(decoy, edges[bucket] as number, 1);
        fill(decoy, 0, 2 * writesAllowed(plan));
        if (!keep) replace(ciphertext, decoy);
      }
      scheme.multiply(ciphertext, polynomial);
      withBufferedRandomness(random, (buffered) => {
        addMasked(plan, scheme, ciphertext, sealingNoise(plan, buffered), buffered);
      });
    },
  });
}

/** What is added to the buckets, by slot: nothing (K-ary response is done already), or a Bernoulli bit for each. */
function sealingNoise({ mechanism, positions }: RotationHistogramPlan, random: Randomness): Map<number, number> {
  // As on ElGamal, a name that an operator has made up is answered per bucket: only K-ary response adds nothing here.
  const probability = mechanism.name === "kary" ? 0 : mechanism.name === "unary" ? mechanism.noise : mechanism.flip;
  return new Map(positions.map((slot) => [slot, drawOutcome(random, probability) === 0 ? 1 : 0]));
}

function replace(target: LatticeCiphertext, source: LatticeCiphertext): void {
  target.c0.set(source.c0);
  target.c1.set(source.c1);
}

/** The server's half. */
export function rotationHistogramServer(plan: RotationHistogramPlan): ServerSide {
  const { mechanism, positions } = plan;
  return {
    ...latticeServer(plan, {
      read: ([opened]) => {
        const bits = positions.map((slot) => (opened as Slots)[slot] as number);
        return isHistogramAnswer(mechanism, bits) ? bits : undefined;
      },
      onNoEvent: (random) => respondHistogram(mechanism, 0, random),
    }),
    ...histogramEstimates(mechanism),
  };
}

/** Both halves. */
export function rotationHistogram(spec: HistogramSpec): Statistic {
  const plan = planRotationHistogram(spec);
  return { device: rotationHistogramDevice(plan), server: rotationHistogramServer(plan), choice: plan.choice };
}
