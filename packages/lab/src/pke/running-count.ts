import { createRandomizedResponse, respond } from "@lethe/core/privacy";
import { chernoff } from "./binomial.ts";
import type { Bit, PanPrivateCounter } from "./counter.ts";
import { type Matrix, matrixFrom } from "./transition-matrix.ts";

/** A counter whose states are few enough to be listed, and whose State is the same in every tick. */
export interface SmallSpaceCounter extends PanPrivateCounter {
  readonly states: number;
  encode(index: number): Uint8Array;
  decode(state: Uint8Array): number;
  /** Row: the state before a tick; column: after it. */
  transitions(bit: Bit): Matrix;
}

const STATE_BYTES = 4;

/**
 * The paper's best counter without cryptography: every tick's bit goes through randomized response, and the state is
 * how many came out as 1. It is ε-locally pan-private between a stream without events and one with a single event, and
 * worse between others. There is no key and no secret.
 */
export function createRunningCount(ticks: number, epsilon: number): SmallSpaceCounter {
  const response = createRandomizedResponse(epsilon);
  const { flip } = response;
  const encode = (count: number): Uint8Array => {
    const bytes = new Uint8Array(STATE_BYTES);
    new DataView(bytes.buffer).setUint32(0, count, true);
    return bytes;
  };
  const decode = (state: Uint8Array): number =>
    new DataView(state.buffer, state.byteOffset, STATE_BYTES).getUint32(0, true);
  return {
    name: "running count of randomized bits",
    ticks,
    states: ticks + 1,
    encode,
    decode,
    initialize: () => ({ parameters: new Uint8Array(), state: encode(0), server: new Uint8Array() }),
    update: (_parameters, state, bit, random) => encode(decode(state) + respond(response, bit, random)),
    output: (_parameters, state) => state,
    estimate: (_servers, outputs) => {
      const ones = outputs.reduce((sum, output) => sum + decode(output), 0);
      return (ones - outputs.length * ticks * flip) / (1 - 2 * flip);
    },
    mistakeBound: (clients) => {
      // Half of what one event adds to the mean of a client's bits.
      const half = (1 - 2 * flip) / (2 * ticks);
      const draws = clients * ticks;
      return Math.max(chernoff(draws, flip + half, flip), chernoff(draws, flip + half, flip + 2 * half));
    },
    transitions: (bit) => countingTransitions(ticks + 1, bit === 1 ? 1 - flip : flip),
  };
}

/** Transitions of a count that grows by one with this probability, but never past the last state. */
export function countingTransitions(states: number, up: number): Matrix {
  return matrixFrom(states, (from, to) => {
    if (from === states - 1) return Number(to === from);
    return to === from ? 1 - up : to === from + 1 ? up : 0;
  });
}
