import { type Randomness, uniformBelow } from "@lethe/core/randomness";

/** A square of probabilities, or of weights, one row after the other. */
export interface Matrix {
  readonly size: number;
  readonly entries: Float64Array;
}

/** The matrix with these entries. */
export function matrixFrom(size: number, entry: (row: number, column: number) => number): Matrix {
  const entries = Float64Array.from({ length: size * size }, (_, i) => entry(Math.floor(i / size), i % size));
  return { size, entries };
}

/** The product of two matrices of the same size. */
export function multiply(left: Matrix, right: Matrix): Matrix {
  const { size } = left;
  const entries = new Float64Array(size * size);
  for (let i = 0; i < size; i++) {
    const row = entries.subarray(i * size, (i + 1) * size);
    for (let k = 0; k < size; k++) {
      const weight = left.entries[i * size + k] as number;
      if (weight === 0) continue;
      const other = k * size;
      for (let j = 0; j < size; j++) row[j] = (row[j] as number) + weight * (right.entries[other + j] as number);
    }
  }
  return { size, entries };
}

/** M, M², M⁴, …: as many as the bits of `most`. */
export function repeatedSquares(matrix: Matrix, most: number): Matrix[] {
  const squares = [matrix];
  for (let steps = 2; steps <= most; steps *= 2) {
    const last = squares.at(-1) as Matrix;
    squares.push(multiply(last, last));
  }
  return squares;
}

/** M^steps: the product of those repeated squares whose bits in `steps` are 1. */
export function power(squares: readonly Matrix[], steps: number): Matrix {
  const { size } = squares[0] as Matrix;
  let product = matrixFrom(size, (i, j) => Number(i === j));
  for (const [i, square] of squares.entries()) if (hasBit(steps, i)) product = multiply(product, square);
  return product;
}

/** For numbers beyond 32 bits too. */
function hasBit(value: number, i: number): boolean {
  return Math.floor(value / 2 ** i) % 2 === 1;
}

/** Draws the state of a walk after some steps. */
export type Jump = (state: number, steps: number, random: Randomness) => number;

/**
 * Stands for probability 1: rounding changes no entry by more than 2⁻⁴⁸, and the rounded probabilities are drawn
 * exactly.
 */
const ONE = 2 ** 48;

/** Prepares jumps of up to `most` steps. A jump takes one draw for every 1 among the bits of its number of steps. */
export function createJump(matrix: Matrix, most: number): Jump {
  const tables = repeatedSquares(matrix, most).map(cumulated);
  return (state, steps, random) => {
    let at = state;
    for (const [i, table] of tables.entries()) if (hasBit(steps, i)) at = drawFrom(table[at] as Float64Array, random);
    return at;
  };
}

/** For every row, the sums of its entries up to each column, as whole numbers out of `ONE`. */
function cumulated({ size, entries }: Matrix): Float64Array[] {
  return Array.from({ length: size }, (_, row) => {
    let sum = 0;
    const sums = entries.slice(row * size, (row + 1) * size).map((entry) => {
      sum += entry;
      return Math.min(ONE, Math.round(sum * ONE));
    });
    sums[size - 1] = ONE;
    return sums;
  });
}

function drawFrom(sums: Float64Array, random: Randomness): number {
  const value = uniformBelow(random, ONE);
  let low = 0;
  let high = sums.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (value < (sums[middle] as number)) high = middle;
    else low = middle + 1;
  }
  return low;
}
