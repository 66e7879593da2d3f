import { clientsFor } from "./counter.ts";
import { countingTransitions, createRunningCount } from "./running-count.ts";
import { stateDistance } from "./small-space-encryption.ts";

/** How far apart encryptions of 0 and of 1 are, for one client; and the paper's bound on it (lem:tv_small). */
export interface Distance {
  readonly ticks: number;
  readonly states: number;
  readonly distance: number;
  readonly distanceBound: number;
}

/** What Thm. 6.2 makes of the running count. */
export interface Price extends Distance {
  /** So many that the message comes out right. */
  readonly clients: number;
  /** What the hybrid argument leaves: two ciphertexts are at most this far apart. Above 1 it says nothing. */
  readonly ciphertextDistanceBound: number;
}

export function priceOfRunningCount(ticks: number, epsilon: number, bits: number, failure: number): Price {
  const counter = createRunningCount(ticks, epsilon);
  const distance = stateDistance(counter.transitions(0), counter.transitions(1), ticks / 2);
  const clients = clientsFor(counter, bits, failure);
  return {
    ticks,
    states: counter.states,
    distance,
    distanceBound: distanceBound(ticks, epsilon),
    clients,
    ciphertextDistanceBound: clients * distance,
  };
}

/**
 * A counter of few states for a window far longer: it goes up so rarely that it does not reach the last of them but by
 * accident, and e^ε times as often in a tick with an event. Too inaccurate to be read; what it shows is that a window
 * of any length takes as many squarings as its length has binary digits, of a matrix with two rows for each state.
 */
export function distanceInLongWindow(ticks: number, states: number, epsilon: number): Distance & { squarings: number } {
  const up = states / (4 * ticks);
  const onZero = countingTransitions(states, up);
  const onOne = countingTransitions(states, up * Math.exp(epsilon));
  return {
    ticks,
    states,
    squarings: Math.floor(Math.log2(ticks / 2)),
    distance: stateDistance(onZero, onOne, ticks / 2),
    distanceBound: distanceBound(ticks, epsilon),
  };
}

/** (1−2p)/√(4p(1−p)τ), for the τ = T/2 ticks in which the event may be. */
function distanceBound(ticks: number, epsilon: number): number {
  const p = 1 / (1 + Math.exp(epsilon));
  return (1 - 2 * p) / Math.sqrt(4 * p * (1 - p) * (ticks / 2));
}
