import { type Randomness, uniformBelow } from "../src/randomness/index.ts";

/**
 * Does the time of an operation show which of two classes of inputs it had? As dudect does (Reparaz, Balasch and
 * Verbauwhede 2017): Welch's t over both classes, also over the samples below percentiles of all, because the
 * slowest ones are the machine's doing. Unlike dudect, the classes come in pairs, in a random order within each.
 * Whatever the machine was doing, exchanging the two of a pair is then as likely, if their times do not depend on the
 * class.
 */

/** Measures one operation on an input of a class: in nanoseconds. */
export type Operation = () => number;

/** The shares of all samples, from the fastest on, over which t is computed. */
const CROPS = [0.5, 0.75, 0.9, 0.95, 0.99, 1];

/**
 * Without a leak, one of the six |t| exceeds this with probability at most 6 · 2 · (1 − Φ(5.5)) = 2.3e-7: given the
 * times, t is a sum of many small parts with random signs.
 */
export const LEAK_T = 5.5;

/** The medians of this many blocks of pairs are what a bound on the difference is checked with. */
const BLOCKS = 144;

/** What the times of two classes show. */
export interface Comparison {
  readonly pairs: number;
  /** The largest of the |t|, with its sign: positive if the second class takes longer. */
  readonly t: number;
  /** Of the medians, in nanoseconds: of the first class, and how much more the second takes. */
  readonly median: number;
  readonly difference: number;
  /** The share of the blocks in which the second class takes longer by more than this many nanoseconds, by the median. */
  shareAbove(nanoseconds: number): number;
}

/** The share of blocks from which on a difference counts as above a bound. */
export const ALARM_SHARE = 0.75;

/**
 * Without a difference, a block's median is above any bound with probability at most 1/2: exchange its pairs, and it is
 * below. By Hoeffding, three quarters of 144 independent blocks are above with probability at most e^(−144/8) = 1.6e-8.
 */
export function compareTimes(
  first: Operation,
  second: Operation,
  { pairs, random }: { readonly pairs: number; readonly random: Randomness },
): Comparison {
  const times: [Float64Array, Float64Array] = [new Float64Array(pairs), new Float64Array(pairs)];
  const operations = [first, second] as const;
  for (let i = 0; i < Math.min(50, pairs); i++) for (const operation of operations) operation();
  for (let pair = 0; pair < pairs; pair++) {
    const begin = uniformBelow(random, 2) as 0 | 1;
    for (const of of begin === 0 ? ([0, 1] as const) : ([1, 0] as const)) times[of][pair] = operations[of]();
  }
  return summarize(times);
}

/** The same for operations that answer later, one after another. */
export async function compareAnswers(
  first: () => Promise<number>,
  second: () => Promise<number>,
  { pairs, random }: { readonly pairs: number; readonly random: Randomness },
): Promise<Comparison> {
  const times: [Float64Array, Float64Array] = [new Float64Array(pairs), new Float64Array(pairs)];
  const operations = [first, second] as const;
  for (let pair = 0; pair < pairs; pair++) {
    const begin = uniformBelow(random, 2) as 0 | 1;
    for (const of of begin === 0 ? ([0, 1] as const) : ([1, 0] as const)) times[of][pair] = await operations[of]();
  }
  return summarize(times);
}

function summarize([first, second]: readonly [Float64Array, Float64Array]): Comparison {
  const all = new Float64Array([...first, ...second]).sort();
  let t = 0;
  for (const crop of CROPS) {
    const most = all[Math.ceil(crop * all.length) - 1] as number;
    const found = welch(
      first.filter((time) => time <= most),
      second.filter((time) => time <= most),
    );
    if (Math.abs(found) > Math.abs(t)) t = found;
  }
  const size = Math.floor(first.length / BLOCKS);
  const blocks = Array.from({ length: BLOCKS }, (_, block) => {
    const of = (times: Float64Array): number => medianOf(times.slice(block * size, (block + 1) * size));
    return of(second) - of(first);
  });
  const median = medianOf(first);
  return {
    ...{ pairs: first.length, t, median, difference: medianOf(second) - median },
    shareAbove: (nanoseconds) => blocks.filter((difference) => difference > nanoseconds).length / BLOCKS,
  };
}

/** Welch's t: positive if the second sample is larger. */
function welch(first: Float64Array, second: Float64Array): number {
  const [a, b] = [momentsOf(first), momentsOf(second)];
  const error = Math.sqrt(a.variance / first.length + b.variance / second.length);
  return error > 0 ? (b.mean - a.mean) / error : 0;
}

function momentsOf(values: Float64Array): { mean: number; variance: number } {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1);
  return { mean, variance };
}

function medianOf(values: Float64Array): number {
  return values.slice().sort()[values.length >> 1] as number;
}

/** Keeps the processor busy for this many nanoseconds: a planted leak. */
export function spin(nanoseconds: number): void {
  const end = performance.now() + nanoseconds / 1e6;
  while (performance.now() < end);
}

/** How long this takes, in nanoseconds. */
export function timed(act: () => void): number {
  const start = process.hrtime.bigint();
  act();
  return Number(process.hrtime.bigint() - start);
}

/** For the log: rounded figures of a comparison. */
export function figuresOf(what: string, { pairs, t, median, difference }: Comparison): string {
  const us = (nanoseconds: number): number => Math.round(nanoseconds / 10) / 100;
  return JSON.stringify({
    what,
    pairs,
    t: Math.round(10 * t) / 10,
    medianUs: us(median),
    differenceUs: us(difference),
  });
}
