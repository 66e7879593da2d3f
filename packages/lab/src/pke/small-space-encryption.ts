import { uniformBelow } from "@lethe/core/randomness";
import { encryptionBySimulation, type PublicKeyEncryption } from "./encryption.ts";
import type { SmallSpaceCounter } from "./running-count.ts";
import { createJump, type Matrix, matrixFrom, power, repeatedSquares } from "./transition-matrix.ts";

/**
 * Thm. 6.2: the bit happens, or does not, in a random tick of the first half of the window, and clients go through the
 * ticks around it in a few jumps: T may be far too large to simulate tick by tick.
 */
export function smallSpaceEncryptionFrom(counter: SmallSpaceCounter, clients: number): PublicKeyEncryption {
  const half = counter.ticks / 2;
  const jump = createJump(counter.transitions(0), half);
  return encryptionBySimulation(counter, clients, {
    begin: (parameters, state, bit, random) => {
      const before = uniformBelow(random, half);
      const then = counter.encode(jump(counter.decode(state), before, random));
      const after = counter.update(parameters, then, bit, random);
      return counter.encode(jump(counter.decode(after), half - before - 1, random));
    },
    firstTick: half,
    pass: (_parameters, state, ticks, random) => counter.encode(jump(counter.decode(state), ticks, random)),
  });
}

/**
 * The total variation between one client's state in encryptions of 0 and of 1: an event in none of `ticks` ticks, or in
 * a random one. The average over all ticks of the event is a block of one power of a matrix twice the size: [M₀ M₁; 0
 * M₀]^τ holds Σ_t M₀^(t−1)·M₁·M₀^(τ−t).
 */
export function stateDistance(onZero: Matrix, onOne: Matrix, ticks: number): number {
  const { size } = onZero;
  const at = ({ entries }: Matrix, row: number, column: number): number => entries[row * size + column] as number;
  const both = matrixFrom(2 * size, (row, column) => {
    if (row < size) return column < size ? at(onZero, row, column) : at(onOne, row, column - size);
    return column < size ? 0 : at(onZero, row - size, column - size);
  });
  const [first] = [power(repeatedSquares(both, ticks), ticks).entries.subarray(0, 2 * size)];
  const without = normalized(first.subarray(0, size));
  const withOne = normalized(first.subarray(size));
  return without.reduce((sum, share, i) => sum + Math.abs(share - (withOne[i] as number)), 0) / 2;
}

/** Scales weights so that they sum to one again, after many roundings. */
function normalized(weights: Float64Array): Float64Array {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return weights.map((weight) => weight / total);
}
