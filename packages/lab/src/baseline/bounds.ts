import { finalCount } from "./final-count.ts";

/** Below which no ε-locally pan-private counter without cryptography comes for every number of events, in devices; a bound that says nothing is 0. */
export interface LowerBounds {
  /** √(nT·e^ε)/(e^ε−1) [paper, thm:main_lb], whose constant is not stated and taken for 1, but at most n/2: always answering the middle is no worse. */
  readonly paper: number;
  /** Proved for these very n, T and ε, on average over how likely the event is, hence for some likelihood: see `vanTrees`. */
  readonly vanTrees: number;
}

export function lowerBounds(devices: number, ticks: number, flip: number): LowerBounds {
  const paper = Math.sqrt(devices * ticks * flip * (1 - flip)) / (1 - 2 * flip);
  return { paper: Math.min(paper, devices / 2), vanTrees: vanTrees(devices, averageInformation(ticks, flip)) };
}

/**
 * Let the event happen on each device with probability θ, at a uniform tick, and θ be drawn with density 2·sin²(πθ), whose own Fisher
 * information is 4π². By van Trees' inequality nobody who sees n reports with information I(θ) each comes closer to θ than
 * E[(θ̂−θ)²] ≥ 1/(n·E[I(θ)] + 4π²). The number of devices S strays from nθ by √n/2 at most, in the root of the mean square, so by the
 * triangle inequality an estimate of S is off by n/√(n·E[I] + 4π²) − √n/2 at least. A report is a function of the final count
 * [paper, lem:tv_small], which can only lower its information.
 *
 * All expectations are over θ, too: a counter may come below this where θ is what it was made for, but not for every θ.
 */
function vanTrees(devices: number, information: number): number {
  return Math.max(0, devices / Math.sqrt(devices * information + 4 * Math.PI ** 2) - Math.sqrt(devices) / 2);
}

/** Of the trapezoidal rule, which is good for a smooth integrand that vanishes at both ends. */
const STEPS = 256;

/** E[I(θ)] over that density: what one final count tells about the probability of the event. */
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
