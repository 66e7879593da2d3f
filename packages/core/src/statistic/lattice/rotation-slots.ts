import { type LatticeCiphertext, MOST_SLOTS } from "../../encryption/index.ts";
import type { InPlaceLattice } from "../../encryption/lattice/in-place.ts";
import { type Randomness, uniformBelow } from "../../randomness/index.ts";
import type { Room } from "../room.ts";
import type { LatticePlan } from "./lattice-machine.ts";

/** Refuses a statistic that rotates further than any ciphertext is long, before anything of that length is made. */
export function requireSlots(
  what: string,
  { ticks, hides, eventsPerTick }: Room,
  slots: number,
  toLower: string,
): void {
  if (slots <= MOST_SLOTS) return;
  throw new RangeError(
    `${what} over ${ticks} ticks${hides > 0 ? ` and ${hides} hides` : ""} with eventsPerTick ${eventsPerTick} ` +
      `needs ${slots} slots and a ciphertext has at most ${MOST_SLOTS}: lower ${toLower}`,
  );
}

/**
 * Adds these values to their slots, and to every other slot but the canary's a uniform mask: what a multiplication left
 * there would show the count.
 */
export function addMasked(
  { choice, canary }: LatticePlan,
  scheme: InPlaceLattice,
  ciphertext: LatticeCiphertext,
  values: ReadonlyMap<number, number>,
  random: Randomness,
): void {
  const t = 2 ** choice.plaintextBits;
  const canarySlots = new Set(canary.slots);
  for (let slot = 0; slot < choice.parameters.dimension; slot++) {
    if (!canarySlots.has(slot)) scheme.addToSlot(ciphertext, slot, values.get(slot) ?? uniformBelow(random, t));
  }
}
