import { type Randomness, uniformBelow } from "../randomness/index.ts";
import { epsilonOfFlip, requireEpsilon } from "./epsilon.ts";
import type { RandomizedResponse } from "./randomized-response.ts";

/**
 * Randomized response in Z_t, t = 2^b, by addition alone. A slot holds 0, or a uniform element once the event has
 * happened. Add D, uniform on S = {0, …, z−1} with probability (t−z)/t, else uniform on the rest, and read y = [v ∉ S].
 *
 * Without the event v = D; with it v is uniform. For v ∈ S the two probabilities are (t−z)/(t·z) and 1/t, for v ∉ S
 * they are z/(t·(t−z)) and 1/t: the ratio is (t−z)/z or its inverse for *every* v. So y is exactly randomized
 * response with flip z/t, and even the whole value v costs no more: e^ε = t/z − 1.
 */
export interface LedgerResponse extends RandomizedResponse {
  readonly bits: number;
  /** z: the size of S, 1 ≤ z < t/2. */
  readonly size: number;
}

/** How much more than the standard error of ideal randomized response the least t may cost. */
const LARGEST_LOSS = 1.05;
/** t² must fit the modulus: 2²⁵ up to 12 bits, else 2⁵⁰. */
const MOST_BITS = 24;

/** In units of √n. */
function standardError(epsilon: number): number {
  return Math.exp(epsilon / 2) / Math.expm1(epsilon);
}

/** The response with t = 2^bits that comes closest to ε from below, or undefined if there is none. */
export function ledgerResponseWithBits(epsilon: number, bits: number): LedgerResponse | undefined {
  const t = 2 ** bits;
  let size = Math.max(1, Math.floor(t / (1 + Math.exp(epsilon))));
  while (t / size - 1 > Math.exp(epsilon)) size++;
  const flip = size / t;
  const localEpsilon = epsilonOfFlip(flip);
  return 2 * size >= t || localEpsilon > epsilon ? undefined : { flip, localEpsilon, bits, size };
}

/** The fewest bits with which all of these ε are met within 5% of the ideal standard error. */
export function chooseLedgerBits(epsilons: readonly number[]): number {
  for (const epsilon of epsilons) requireEpsilon(epsilon);
  for (let bits = 2; bits <= MOST_BITS; bits++) {
    const good = epsilons.every((epsilon) => {
      const response = ledgerResponseWithBits(epsilon, bits);
      return response !== undefined && standardError(response.localEpsilon) <= LARGEST_LOSS * standardError(epsilon);
    });
    if (good) return bits;
  }
  throw new RangeError(`no ledger of up to ${MOST_BITS} bits a slot meets every localEpsilon: bring them closer to 1`);
}

/** D of the comment above. */
export function drawLedgerNoise({ bits, size }: LedgerResponse, random: Randomness): number {
  const t = 2 ** bits;
  return uniformBelow(random, t) < t - size ? uniformBelow(random, size) : size + uniformBelow(random, t - size);
}

/** y: what an opened value says. */
export function readLedgerValue({ size }: LedgerResponse, value: number): 0 | 1 {
  // Without a branch: which answer it is must not show in time.
  return (1 - ((value - size) >>> 31)) as 0 | 1;
}
