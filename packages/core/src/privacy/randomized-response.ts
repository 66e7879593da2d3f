import type { Randomness } from "../randomness/index.ts";
import { epsilonOfFlip, requireEpsilon } from "./epsilon.ts";
import { drawOutcome, probabilityAbove } from "./probability.ts";

/** RR_ε of the paper: tells a bit, or its opposite with probability `flip`. */
export interface RandomizedResponse {
  /** Probability of the wrong answer, at least 1/(1+e^ε). */
  readonly flip: number;
  /** What it costs: ln((1−flip)/flip), never more than was asked for. */
  readonly localEpsilon: number;
}

/** The response at ε; what it costs is at most that. */
export function createRandomizedResponse(epsilon: number): RandomizedResponse {
  requireEpsilon(epsilon);
  const flip = probabilityAbove(1 / (1 + Math.exp(epsilon)));
  return { flip, localEpsilon: epsilonOfFlip(flip) };
}

/**
 * The paper's obs:rr_implementation: "keep" the bit with probability 1 − 2·flip, else answer 0 or 1 regardless. Which
 * of the three is decided without looking at the bit, so it can be done to an encrypted one.
 */
export function drawResponse({ flip }: RandomizedResponse, random: Randomness): 0 | 1 | "keep" {
  return ([0, 1, "keep"] as const)[drawOutcome(random, flip, flip)] ?? "keep";
}

/** The bit, or its opposite with probability `flip`. */
export function respond(mechanism: RandomizedResponse, bit: 0 | 1, random: Randomness): 0 | 1 {
  const response = drawResponse(mechanism, random);
  return response === "keep" ? bit : response;
}
