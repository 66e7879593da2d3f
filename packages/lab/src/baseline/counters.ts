/**
 * Counters without cryptography, which Lethe is compared with, and the bounds on their error. `counters.ts` runs them,
 * `coins.ts` flips their coins, `final-count.ts` has the exact distribution of their counts, and `bounds.ts` proves the
 * lower bound. Imports core and `arithmetic`. The experiments `lower-bound` and `total-variation` use it.
 */
import { type Randomness, uniformBelow } from "@lethe/core/randomness";
import { type Coins, countOnes, createCoins, createWords } from "./coins.ts";

/**
 * Counters that are ε-locally pan-private without cryptography. Between ticks a device stores only what is listed here,
 * in the clear, and sends it at the end. The counters differ in which two streams an intruder must not be able to
 * distinguish:
 *
 * - `zero-or-one`: no event and one. Each tick adds RR_ε(event) to the state. Two streams differ in one bit.
 * - `at-most-one`: any two streams with one event at most. Two of them differ in two bits, if the event is at another
 *   tick. A tick adds a 1 with probability ½ if the event is there and 1/(e^ε+1) if not: ratios (e^ε+1)/2 and
 *   2e^ε/(e^ε+1), whose product is e^ε.
 * - `any`: any two streams at all, which may differ in every tick. The device picks a tick beforehand and keeps RR_ε of
 *   that tick only; the count is scaled by T. Its count is right for events that happen at most once.
 */
export type Scope = "zero-or-one" | "at-most-one" | "any";

/** How a counter randomizes a tick. */
export interface PlainCounter {
  readonly scope: Scope;
  /** The probability that a tick without the event adds a 1, and with it. */
  readonly ifZero: number;
  readonly ifOne: number;
}

/** The counter for a scope; `flip` is 1/(e^ε+1). */
export function createCounter(scope: Scope, flip: number): PlainCounter {
  return { scope, ifZero: flip, ifOne: scope === "at-most-one" ? 0.5 : 1 - flip };
}

/** How many devices there are, and on how many the event happens, once, at a tick that is drawn for each. */
export interface Fleet {
  readonly devices: number;
  readonly events: number;
  readonly ticks: number;
}

/** The server's estimate of `events`, from one window of a whole fleet. Unbiased. */
export type FleetRun = (fleet: Fleet) => number;

/** Prepares runs of a counter on whole fleets. */
export function createFleetRun({ scope, ifZero, ifOne }: PlainCounter, random: Randomness): FleetRun {
  const words = createWords(random);
  const idle = createCoins(words, ifZero);
  const event = createCoins(words, ifOne);
  const run = scope === "any" ? sampledTick : runningCount;
  return (fleet) => {
    let sum = 0;
    for (let device = 0; device < fleet.devices; device++) {
      const eventAt = device < fleet.events ? uniformBelow(random, fleet.ticks) : undefined;
      sum += run(fleet.ticks, eventAt, idle, event, random);
    }
    const bits = fleet.devices * (scope === "any" ? 1 : fleet.ticks);
    const scale = scope === "any" ? fleet.ticks : 1;
    return (scale * (sum - bits * ifZero)) / (ifOne - ifZero);
  };
}

/** A device whose state is the count so far. Its report is the count at the end. */
function runningCount(ticks: number, eventAt: number | undefined, idle: Coins, event: Coins): number {
  if (eventAt === undefined) return countOnes(idle, ticks);
  let count = countOnes(idle, eventAt);
  count += countOnes(event, 1);
  return count + countOnes(idle, ticks - eventAt - 1);
}

/**
 * A device whose state is the tick that it picked, which says nothing about events, and after that tick one randomized
 * bit.
 */
function sampledTick(
  ticks: number,
  eventAt: number | undefined,
  idle: Coins,
  event: Coins,
  random: Randomness,
): number {
  const picked = eventAt === undefined ? undefined : uniformBelow(random, ticks);
  return countOnes(picked !== undefined && picked === eventAt ? event : idle, 1);
}

/** The exact root of the mean square error of the estimate. */
export function theoreticalError({ scope, ifZero, ifOne }: PlainCounter, { devices, events, ticks }: Fleet): number {
  const slope = ifOne - ifZero;
  const idle = ifZero * (1 - ifZero);
  const busy = ifOne * (1 - ifOne);
  // A bit has the same variance either way. Besides, an event is picked once in T ticks and then counts T.
  if (scope === "any") return Math.sqrt((devices * ticks ** 2 * idle) / slope ** 2 + events * (ticks - 1));
  return Math.sqrt((devices * ticks - events) * idle + events * busy) / slope;
}
