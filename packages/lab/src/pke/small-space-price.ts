import { clientsFor } from "./counter.ts";
import { countingTransitions, createRunningCount } from "./running-count.ts";
import { stateDistance } from "./small-space-encryption.ts";

/** The distance between encryptions of 0 and of 1, for one client, and the paper's bound on it (lem:tv_small). */
export interface Distance {
  readonly ticks: number;
  readonly states: number;
  readonly distance: number;
  readonly distanceBound: number;
}

/** What theorem 6.2 costs with the running count. */
export interface Price extends Distance {
  /** How many clients it takes to read the message right. */
  readonly clients: number;
  /** By the hybrid argument, two ciphertexts are at most this far apart. Above 1 it says nothing. */
  readonly ciphertextDistanceBound: number;
}

/** Computes the price for one window length. */
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
 * A counter with few states for a far longer window. It goes up so rarely that it hardly ever reaches the last state,
 * and e^ε times as often in a tick with an event. It is too inaccurate to be read, but it shows that a window of any
 * length takes as many squarings as its length has binary digits, of a matrix with two rows for each state.
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
