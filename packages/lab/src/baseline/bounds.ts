import { finalCount } from "./final-count.ts";

/**
 * Errors, in devices, below which no ε-locally pan-private counter without cryptography comes for every number of
 * events. A bound that says nothing is 0.
 */
export interface LowerBounds {
  /**
   * √(nT·e^ε)/(e^ε−1) [paper, thm:main_lb], with 1 for the constant that is not stated, and at most n/2: a constant
   * answer attains that.
   */
  readonly paper: number;
  /** Proved for these n, T and ε on average over how likely the event is, hence for some likelihood: see `vanTrees`. */
  readonly vanTrees: number;
}

/** Both bounds; `flip` is 1/(e^ε+1). */
export function lowerBounds(devices: number, ticks: number, flip: number): LowerBounds {
  const paper = Math.sqrt(devices * ticks * flip * (1 - flip)) / (1 - 2 * flip);
  return { paper: Math.min(paper, devices / 2), vanTrees: vanTrees(devices, averageInformation(ticks, flip)) };
}

/**
 * Let the event happen on each device with probability θ, at a uniform tick, and let θ have density 2·sin²(πθ), whose
 * own Fisher information is 4π². By van Trees' inequality, every estimate of θ from n reports with information I(θ)
 * each has E[(θ̂−θ)²] ≥ 1/(n·E[I(θ)] + 4π²). The number of devices S differs from nθ by √n/2 at most, in the root of
 * the mean square. So by the triangle inequality the error of an estimate of S is at least n/√(n·E[I] + 4π²) − √n/2. A
 * report is a function of the final count [paper, lem:tv_small], which can only lower its information.
 *
 * All expectations are over θ as well: a counter may come below this for the θ that it was made for, but not for every
 * θ.
 */
function vanTrees(devices: number, information: number): number {
  return Math.max(0, devices / Math.sqrt(devices * information + 4 * Math.PI ** 2) - Math.sqrt(devices) / 2);
}

/** Steps of the trapezoidal rule, which suits a smooth integrand that vanishes at both ends. */
const STEPS = 256;

/** E[I(θ)] over that density: the information of one final count about the probability of the event. */
export function averageInformation(ticks: number, flip: number): number {
  const { without, withEvent } = finalCount(ticks, flip);
  let average = 0;
  for (let i = 1; i < STEPS; i++) {
    const theta = i / STEPS;
    average += (informationAt(theta, without, withEvent) * 2 * Math.sin(Math.PI * theta) ** 2) / STEPS;
  }
  return average;
}

/** Σ (Q−P)²/((1−θ)P + θQ). */
function informationAt(theta: number, without: Float64Array, withEvent: Float64Array): number {
  let sum = 0;
  for (const [m, p] of without.entries()) {
    const q = withEvent[m] as number;
    const mixture = (1 - theta) * p + theta * q;
    if (mixture > 0) sum += (q - p) ** 2 / mixture;
  }
  return sum;
}
