import type { Randomness } from "../randomness/index.ts";
import { requireEpsilon } from "./epsilon.ts";
import { drawOutcome, probabilityAbove } from "./probability.ts";

/**
 * Optimised unary encoding [WBLJ17]: a bit for every bucket; the true one is reported as 1 with probability 1/2, every
 * other one with probability `noise`. Two neighbours differ in two bits, so the whole vector costs
 * ln(½/noise) + ln((1−noise)/½).
 *
 * [WBLJ17] Wang, Blocki, Li, Jha, Locally differentially private protocols for frequency estimation, 2017.
 */
export interface UnaryEncoding {
  readonly buckets: number;
  /** At least 1/(e^ε+1). */
  readonly noise: number;
  readonly localEpsilon: number;
}

/** The encoding at ε; what it costs is at most that. */
export function createUnaryEncoding(epsilon: number, buckets: number): UnaryEncoding {
  requireEpsilon(epsilon);
  const noise = probabilityAbove(1 / (Math.exp(epsilon) + 1));
  return { buckets, noise, localEpsilon: Math.log((1 - noise) / noise) };
}

/**
 * Decides about one bit without looking at it: keep it with probability 1/2 − noise, else tell 1 with probability
 * `noise`, 0 with 1/2. Then 1 stays 1 with probability 1/2, and 0 becomes 1 with probability `noise`.
 */
export function drawUnary({ noise }: UnaryEncoding, random: Randomness): 0 | 1 | "keep" {
  return ([1, 0, "keep"] as const)[drawOutcome(random, noise, 0.5)] ?? "keep";
}

/** The bits that a device in `bucket` reports. */
export function respondUnary(mechanism: UnaryEncoding, bucket: number, random: Randomness): Uint8Array {
  return Uint8Array.from({ length: mechanism.buckets }, (_, b) => {
    const response = drawUnary(mechanism, random);
    return response === "keep" ? Number(b === bucket) : response;
  });
}
