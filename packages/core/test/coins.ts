import { drawOutcome } from "../src/privacy/probability.ts";
import { type Randomness, uniformBelow } from "../src/randomness/index.ts";
import { fastRandomness } from "./fast-randomness.ts";

/**
 * Walks through all coins of a device and computes the exact distribution of what its report opens to. The device's own
 * code runs, with randomness that gives a mechanism's draws the values of the walk and everything else (encryption,
 * sharings, masks) fresh bytes. Which draws a mechanism makes is declared as a script; a draw that is not in it, one of
 * another size, or one that is left over, fails the walk.
 */
export type CoinScript = Generator<Coin, void, number>;

/** A draw, cut into cells: all values of a cell do the same. */
export interface Coin {
  readonly bytes: number;
  readonly cells: readonly Cell[];
  /** The weights of all cells together. */
  readonly total: bigint;
}

interface Cell {
  readonly weight: bigint;
  /** The first and the last value of the cell. */
  readonly ends: readonly [number, number];
}

const UNITS = 2 ** 40;

/**
 * `drawOutcome` with these probabilities, multiples of 2⁻⁴⁰. Its outcome grows with the value drawn; so if it is the
 * same at both ends of a cell, which is checked here, it is the same in all of the cell.
 */
export function outcome(...probabilities: readonly number[]): Coin {
  const cells: (Cell & { readonly outcome: number })[] = [];
  let first = 0;
  for (const [i, probability] of [...probabilities, undefined].entries()) {
    const end = probability === undefined ? UNITS : first + probability * UNITS;
    if (!Number.isInteger(end)) throw new Error(`${probability} is no multiple of 2^-40`);
    if (end > first) cells.push({ outcome: i, weight: BigInt(end - first), ends: [first, end - 1] });
    first = end;
  }
  for (const cell of cells) {
    for (const value of cell.ends) {
      const drawn = drawOutcome((into) => writeValue(into, value), ...probabilities);
      if (drawn !== cell.outcome) throw new Error(`drawOutcome gives ${drawn} for ${value}, not ${cell.outcome}`);
    }
  }
  return { bytes: 5, cells, total: BigInt(UNITS) };
}

/**
 * `uniformBelow(bound)`: a cell for every value, or, with `cuts`, one for all values from each cut to the next. Values
 * that are rejected are drawn again, which leaves the others equally likely.
 */
export function below(bound: number, cuts?: readonly number[]): Coin {
  const firsts = cuts ? [0, ...cuts] : Array.from({ length: bound }, (_, value) => value);
  const cells = firsts.map((first, i): Cell => {
    const end = firsts[i + 1] ?? bound;
    return { weight: BigInt(end - first), ends: [first, end - 1] };
  });
  const bytes = Math.ceil(Math.log2(bound) / 8);
  for (const { ends } of cells) {
    for (const value of ends) {
      const drawn = uniformBelow((into) => writeValue(into, value), bound);
      if (drawn !== value) throw new Error(`uniformBelow gives ${drawn} for ${value}`);
    }
  }
  return { bytes, cells, total: BigInt(bound) };
}

/** Big-endian, as `uniformBelow` reads it. */
function writeValue(into: Uint8Array, value: number): void {
  for (let i = into.length - 1, rest = value; i >= 0; i--, rest = Math.floor(rest / 256)) into[i] = rest % 256;
}

/** Requests of up to six bytes are draws of a mechanism or of masks; those of encryption are longer. */
const LARGEST_DRAW = 6;
export const SMALLEST_OTHER = 32;
/** `withBufferedRandomness` fetches this many at once; draws are then taken from the block in order. */
const BLOCK_BYTES = 4096;

/** What a run of the device shows. */
export interface Seen {
  /** All that the holder of the keys can open, less what is `padded`. */
  readonly view: string;
  /**
   * What was opened where a uniform mask was added, less that mask. The mask hides it perfectly if it does not depend
   * on it.
   */
  readonly padded?: string;
}

/** The bytes of the last block behind the script's coins: the masks of a lattice report. */
export type Masks = () => Uint8Array;

export interface Fraction {
  readonly numerator: bigint;
  readonly denominator: bigint;
}

/** The exact probability of every view. */
export type Distribution = ReadonlyMap<string, Fraction>;

/**
 * Runs the device once for every combination of cells, `repeats` times, at different ends of the cells and with
 * different bytes for all else, and adds up the weights by view. All repetitions must show the same.
 */
export function distributionOf(
  script: () => CoinScript,
  run: (random: Randomness, masks: Masks) => Seen,
  repeats: number,
): Distribution {
  const stream = fastRandomness("coins");
  const distribution = new Map<string, Fraction>();
  let path: number[] | undefined = [];
  for (let leaf = 0; path !== undefined; leaf++) {
    const runs = Array.from({ length: repeats }, (_, repeat) => {
      const source = walkAlong(path as number[], script(), stream, leaf + repeat);
      return { source, seen: run(source.random, source.masks) };
    });
    const [{ source, seen }] = runs as [(typeof runs)[0]];
    for (const other of runs) {
      if (!other.source.isDone()) throw new Error("the device drew less than the script says");
      if (other.seen.view !== seen.view) throw new Error(`the same coins show ${seen.view} and ${other.seen.view}`);
      if (other.seen.padded !== seen.padded) throw new Error("a mask is not simply added");
    }
    const { chosen } = source;
    let probability: Fraction = { numerator: 1n, denominator: 1n };
    for (const { coin, cell } of chosen) {
      const { numerator, denominator } = probability;
      const weight = (coin.cells[cell] as Cell).weight;
      probability = { numerator: numerator * weight, denominator: denominator * coin.total };
    }
    distribution.set(seen.view, sum(distribution.get(seen.view) ?? NONE, probability));
    path = nextPath(chosen);
  }
  return distribution;
}

interface Chosen {
  readonly coin: Coin;
  readonly cell: number;
}

/** Randomness that takes the cells of a path, and the first one where the path ends. */
function walkAlong(path: readonly number[], script: CoinScript, stream: Randomness, turn: number) {
  const chosen: Chosen[] = [];
  let step = script.next();
  let masks = new Uint8Array();

  function takeCoin(into: Uint8Array): void {
    if (step.done) throw new Error("the device drew a coin that is not in the script");
    const coin = step.value;
    if (into.length !== coin.bytes) throw new Error(`a draw of ${into.length} bytes, not ${coin.bytes}`);
    const cell = path[chosen.length] ?? 0;
    const value = (coin.cells[cell] as Cell).ends[(turn + chosen.length) % 2] as number;
    chosen.push({ coin, cell });
    step = script.next(cell);
    // Last, because the script's next coin is checked with draws into the same scratch array.
    writeValue(into, value);
  }

  const random: Randomness = (into) => {
    if (into.length <= LARGEST_DRAW) return takeCoin(into);
    if (into.length < SMALLEST_OTHER) throw new Error(`a draw of ${into.length} bytes is nobody's`);
    stream(into);
    if (into.length !== BLOCK_BYTES) return;
    let at = 0;
    while (!step.done) {
      const { bytes } = step.value;
      takeCoin(into.subarray(at, at + bytes));
      at += bytes;
    }
    masks = into.slice(at);
  };
  return { random, chosen, masks: () => masks, isDone: () => step.done === true };
}

/** The next combination of cells, or undefined after the last. */
function nextPath(chosen: readonly Chosen[]): number[] | undefined {
  const last = chosen.findLastIndex(({ coin, cell }) => cell + 1 < coin.cells.length);
  if (last < 0) return undefined;
  return chosen.slice(0, last + 1).map(({ cell }, i) => (i === last ? cell + 1 : cell));
}

const NONE: Fraction = { numerator: 0n, denominator: 1n };

function sum(left: Fraction, right: Fraction): Fraction {
  if (left.denominator === right.denominator) return { ...left, numerator: left.numerator + right.numerator };
  return {
    numerator: left.numerator * right.denominator + right.numerator * left.denominator,
    denominator: left.denominator * right.denominator,
  };
}

/** Whether the probabilities add up to exactly one. */
export function isWhole(distribution: Distribution): boolean {
  const { numerator, denominator } = [...distribution.values()].reduce(sum, NONE);
  return numerator === denominator;
}

/**
 * The largest ratio of the probabilities of any view, over all pairs; undefined if one of them is zero and the other is
 * not.
 */
export function largestRatio(distributions: readonly Distribution[]): Fraction | undefined {
  let largest: Fraction = { numerator: 1n, denominator: 1n };
  for (const left of distributions) {
    for (const right of distributions) {
      for (const [view, { numerator, denominator }] of left) {
        const other = right.get(view);
        if (!other) return undefined;
        const ratio = { numerator: numerator * other.denominator, denominator: denominator * other.numerator };
        if (ratio.numerator * largest.denominator > largest.numerator * ratio.denominator) largest = ratio;
      }
    }
  }
  return largest;
}

/** Whether ratio ≤ e^ε, exactly: a partial sum of the exponential series, which lies below e^ε, is not exceeded. */
export function isAtMostExp({ numerator, denominator }: Fraction, epsilon: number): boolean {
  const scale = 2n ** 60n;
  const scaled = BigInt(epsilon * 2 ** 60); // exact: a multiplication by a power of two, of a double above 2⁻⁸
  let term: Fraction = { numerator: 1n, denominator: 1n };
  let series = term;
  for (let k = 1n; k < 60n; k++) {
    term = { numerator: term.numerator * scaled, denominator: term.denominator * scale * k };
    series = sum(series, term);
  }
  return numerator * series.denominator <= series.numerator * denominator;
}

export function logOf({ numerator, denominator }: Fraction): number {
  return Math.log(Number((numerator << 100n) / denominator) / 2 ** 100);
}
