import { createRandomizedResponse, sigmaFor } from "@lethe/core/privacy";
import type { Randomness } from "@lethe/core/randomness";
import { createStatistic, MEAN_DELTA, type StatisticSpec } from "@lethe/core/statistic";
import { EDGES, histogramOf, LIMIT, LOCAL_EPSILON, meanOf, type UtilityCase } from "./cases.ts";
import { type Comparison, compare } from "./errors.ts";
import { type PlainSize, plainResponses, runPlain } from "./plain.ts";
import { COUNTS, runCase } from "./run.ts";

/**
 * The paper's variants, run with the noise that the paper prints, beside what they are meant to be (docs/errata.md).
 */
export interface PaperFindings {
  readonly responses: readonly PrintedResponseError[];
  readonly algorithms: readonly PrintedAlgorithm[];
  readonly counts: readonly PrintedCount[];
}

/** thm:rr_local's formula for the error, erratum 4. */
interface PrintedResponseError extends Comparison {
  readonly epsilon: number;
  readonly devices: number;
  /** √(n·(1 + e^ε/(1+e^ε)²)). */
  readonly printed: number;
}

/**
 * An algorithm whose noise is too small, errata 1 and 2: what it promises, what it gives, and what the promise costs.
 */
interface PrintedAlgorithm extends Comparison {
  readonly algorithm: string;
  readonly epsilonMeant: number;
  readonly epsilonTrue: number;
  readonly devices: number;
  /** The error with as much noise as the promise needs. */
  readonly right: number;
}

/** A slip that makes answers wrong before any noise, errata 2 and 5, for the same few devices. */
interface PrintedCount {
  readonly what: string;
  readonly truth: number;
  readonly printed: number;
}

const RESPONSE_EPSILONS = [0.1, 1, 4];
/** A limit at which the printed noise of a mean shows. */
const WIDE_LIMIT = 10;

/** Runs all variants; `windows` is the number of windows for each algorithm. */
export async function runPaper(plain: PlainSize, windows: number, random: Randomness): Promise<PaperFindings> {
  return {
    responses: RESPONSE_EPSILONS.map((epsilon) => responseError(epsilon, plain, random)),
    algorithms: [await printedHistogram(windows, random), await printedMean(windows, random)],
    counts: printedCounts(),
  };
}

function responseError(epsilon: number, plain: PlainSize, random: Randomness): PrintedResponseError {
  const { devices } = plain;
  const e = Math.exp(epsilon);
  return {
    epsilon,
    devices,
    ...compare(runPlain(plainResponses(epsilon), plain, random)),
    printed: Math.sqrt(devices * (1 + e / (1 + e) ** 2)),
  };
}

/**
 * Alg. 3: RR(ε₀) on every bucket. Our per-bucket mechanism spends half of its ε on each bucket, so it gets twice as
 * much.
 */
async function printedHistogram(windows: number, random: Randomness): Promise<PrintedAlgorithm> {
  const printed = histogramOf("per-bucket", 2 * LOCAL_EPSILON);
  const name = "Algorithm 3, every bucket at ε₀";
  const run = await runPrinted(name, printed, histogramOf("per-bucket"), windows, random);
  // Not the ε that our own mechanism states, which is only what we asked for.
  return { ...run, epsilonTrue: largestLogRatio(EDGES.length, LOCAL_EPSILON) };
}

/** Alg. 4: variance k·σ², where σ is right for sensitivity 1. */
function printedMean(windows: number, random: Randomness): Promise<PrintedAlgorithm> {
  const sigma = sigmaFor(LOCAL_EPSILON, MEAN_DELTA, 1);
  const printed = meanOf(WIDE_LIMIT, sigma / Math.sqrt(WIDE_LIMIT));
  const right = meanOf(WIDE_LIMIT, sigma);
  return runPrinted(`Algorithm 4, variance k·σ², k = ${WIDE_LIMIT}`, printed, right, windows, random);
}

/**
 * The largest |ln Pr[output | a] − ln Pr[output | b]| over all outputs and all buckets a and b in which a device may
 * be, if RR(ε₀) answers every bucket's bit. Found by going through all of them, without assumptions about what adds up.
 */
export function largestLogRatio(buckets: number, localEpsilon: number): number {
  const { flip } = createRandomizedResponse(localEpsilon);
  const logProbability = (output: number, bucket: number): number => {
    let sum = 0;
    for (let i = 0; i < buckets; i++) sum += Math.log(((output >> i) & 1) === Number(i === bucket) ? 1 - flip : flip);
    return sum;
  };
  let most = 0;
  for (let output = 0; output < 2 ** buckets; output++) {
    const logs = Array.from({ length: buckets }, (_, bucket) => logProbability(output, bucket));
    most = Math.max(most, Math.max(...logs) - Math.min(...logs));
  }
  return most;
}

async function runPrinted(
  algorithm: string,
  printed: StatisticSpec,
  right: StatisticSpec,
  windows: number,
  random: Randomness,
): Promise<PrintedAlgorithm> {
  const one: UtilityCase = {
    spec: { scheme: "lattice", one: printed },
    devices: 10,
    windows,
    metrics: 1,
  };
  const { errors, localEpsilon } = await runCase(one, random);
  const { server } = createStatistic("lattice", right);
  const squares = server
    .estimate(
      errors.stated.map(() => one.devices / 2),
      one.devices,
    )
    .map((e) => e.standardError ** 2);
  return {
    algorithm,
    epsilonMeant: LOCAL_EPSILON,
    epsilonTrue: localEpsilon,
    devices: one.devices,
    ...compare(errors),
    // The same in every bucket, wherever devices are.
    right: Math.sqrt(squares[0] as number),
  };
}

function printedCounts(): PrintedCount[] {
  const sum = (value: (count: number) => number): number => COUNTS.reduce((total, count) => total + value(count), 0);
  return [
    {
      what: `Algorithm 4, mean of min(count, ${LIMIT})`,
      truth: sum((count) => Math.min(count, LIMIT)) / COUNTS.length,
      printed: sum((count) => weighted(slotsAfter(count, 0, shiftDownwards))) / COUNTS.length,
    },
    {
      what: `Algorithm 3's loop in place, devices with ${LIMIT} or more`,
      truth: sum((count) => Number(count >= LIMIT)),
      printed: sum((count) => slotsAfter(count, 1, shiftAsPrinted)[LIMIT] as number),
    },
  ];
}

/** Alg. 4: Σ i·c_i. */
function weighted(c: readonly number[]): number {
  return c.reduce((sum, slot, i) => sum + i * slot, 0);
}

type Shift = (slots: number[], first: number) => void;

/**
 * Alg. 3's slots 0 to k in the clear after `count` events: c ("exactly i") if every event puts a 0 first, d ("at least
 * i") if a 1.
 */
function slotsAfter(count: number, first: number, shift: Shift): number[] {
  const slots = [1, ...new Array<number>(LIMIT).fill(0)];
  for (let event = 0; event < count; event++) shift(slots, first);
  return slots;
}

/** Alg. 3, l. 12 to 15, on one array. */
function shiftAsPrinted(slots: number[], first: number): void {
  slots[0] = first;
  for (let i = 1; i < slots.length; i++) slots[i] = slots[i - 1] as number;
}

function shiftDownwards(slots: number[], first: number): void {
  for (let i = slots.length - 1; i > 0; i--) slots[i] = slots[i - 1] as number;
  slots[0] = first;
}
