import { bucketSumDelta, bucketSumDeltaAt, perBucketCoins, unaryCoins } from "./bucket-sum.ts";
import type { Charge } from "./composition.ts";
import { crossing } from "./crossing.ts";
import { karySumDelta } from "./kary-sum.ts";
import { responseSumDelta, responseSumDeltaAt } from "./response-sum.ts";
import { type Box, type Bracket, climb, type Effort, type Point, type WorstCase } from "./worst-case.ts";

/** What devices answer, where only the sums over all devices are released. */
export type Answers =
  | { readonly mechanism: "randomized-response" }
  | { readonly mechanism: "kary"; readonly buckets: number }
  /** Three or more buckets are all the same; with two the bound is not sharp. */
  | { readonly mechanism: "unary" | "per-bucket"; readonly buckets?: number };

/**
 * (ε, δ): what a release reveals about any one device, to somebody who sees releases only. "exact" is the least δ at
 * this ε, or ε at this δ, up to 10⁻⁶ (10⁻⁵ for histograms) relatively; "upper" may be more than the least, never less.
 */
export interface AggregateGuarantee {
  readonly epsilon: number;
  readonly delta: number;
  readonly bound: "exact" | "upper";
}

/** Each mechanism's own limit: 20 for an answer, so 20 for each of the two buckets that change. */
const MOST_LOCAL_EPSILON = 20;
const LEAST_DELTA = 1e-15;
/** A patience that nearly always closes the bracket, within seconds at worst. */
export const THOROUGH = 50;

const RANDOMIZED_RESPONSE: Answers = { mechanism: "randomized-response" };

/** How one mechanism is accounted for; the dataset is everybody else's. */
interface Accountant {
  readonly deltaAt: (dataset: Point, localEpsilon: number, epsilon: number) => number;
  readonly worst: (localEpsilon: number, epsilon: number, effort: Effort) => WorstCase;
  /** A dataset that is mostly the worst. */
  readonly candidates: readonly [Point];
  readonly whole: Box;
  /** Whether `deltaAt` is the δ of a dataset, not only a bound for all. */
  readonly sharp: boolean;
  readonly tolerance: number;
  readonly mostLocalEpsilon: number;
  /**
   * For guesses: noise relative to that of a sum of randomized responses at the same ε₀, and how many such an answer
   * holds.
   */
  readonly noise: number;
  readonly answers: number;
}

function accountantFor(devices: number, answers: Answers): Accountant {
  requireDevices(devices);
  if ("buckets" in answers && !(Number.isInteger(answers.buckets) && (answers.buckets as number) >= 2)) {
    throw new RangeError(`buckets is a whole number from 2 on, not ${answers.buckets}`);
  }
  const all = devices - 1;
  if (answers.mechanism === "randomized-response" || (answers.mechanism === "kary" && answers.buckets === 2)) {
    // K-ary response over two buckets is randomized response.
    return {
      deltaAt: (dataset, localEpsilon, epsilon) => responseSumDeltaAt(dataset, devices, localEpsilon, epsilon),
      worst: (localEpsilon, epsilon, effort) => responseSumDelta(devices, localEpsilon, epsilon, effort),
      candidates: [[0]],
      whole: { low: [0], high: [all] },
      sharp: true,
      tolerance: 1e-6,
      mostLocalEpsilon: MOST_LOCAL_EPSILON,
      noise: 1,
      answers: 1,
    };
  }
  if (answers.mechanism === "kary") {
    const { buckets } = answers;
    return {
      deltaAt: (_, localEpsilon, epsilon) => karySumDelta(devices, buckets, localEpsilon, epsilon),
      worst: (localEpsilon, epsilon) => {
        return { lower: 0, upper: karySumDelta(devices, buckets, localEpsilon, epsilon), at: [] };
      },
      candidates: [[]],
      whole: { low: [], high: [] },
      sharp: false,
      tolerance: 1e-6,
      mostLocalEpsilon: MOST_LOCAL_EPSILON,
      noise: 1.65,
      answers: 1,
    };
  }
  const coinsAt = answers.mechanism === "unary" ? unaryCoins : perBucketCoins;
  return {
    deltaAt: (dataset, localEpsilon, epsilon) => bucketSumDeltaAt(dataset, devices, coinsAt(localEpsilon), epsilon),
    worst: (localEpsilon, epsilon, effort) => bucketSumDelta(devices, coinsAt(localEpsilon), epsilon, effort),
    whole: { low: [0, 0], high: [all, all] },
    sharp: answers.buckets !== 2,
    tolerance: 1e-5,
    ...(answers.mechanism === "unary"
      ? // Everybody else in a third bucket.
        { candidates: [[0, 0]], mostLocalEpsilon: MOST_LOCAL_EPSILON, noise: 0.46, answers: 1 }
      : // Everybody else in the bucket that the person leaves.
        { candidates: [[all, 0]], mostLocalEpsilon: 2 * MOST_LOCAL_EPSILON, noise: 2, answers: 2 }),
  };
}

/** Of all sums: rounding, and the tails of e^{−50} that are left out. */
function roundedUp(delta: number): number {
  return delta * (1 + 1e-10) + 1e-21;
}

function boundOf({ lower, upper }: Bracket, { tolerance, sharp }: Accountant): AggregateGuarantee["bound"] {
  return sharp && upper <= lower * (1 + 1.5 * tolerance) ? "exact" : "upper";
}

/** The δ at which releasing the sums of n devices' ε₀-answers is (ε, δ)-differentially private; exact or from above. */
export function aggregateDelta(
  devices: number,
  localEpsilon: number,
  epsilon: number,
  answers: Answers = RANDOMIZED_RESPONSE,
  patience: number = THOROUGH,
): AggregateGuarantee {
  const accountant = accountantFor(devices, answers);
  requireLocalEpsilon(localEpsilon, accountant);
  if (!(epsilon >= 0)) throw new RangeError(`epsilon is a number from 0 on, not ${epsilon}`);
  if (localEpsilon <= epsilon) return { epsilon, delta: 0, bound: "exact" };
  const bracket = accountant.worst(localEpsilon, epsilon, { ...accountant, patience });
  return { epsilon, delta: Math.min(1, roundedUp(bracket.upper)), bound: boundOf(bracket, accountant) };
}

/** The least ε at which it is (ε, δ)-differentially private; exact or from above. */
export function aggregateEpsilon(
  devices: number,
  localEpsilon: number,
  delta: number,
  answers: Answers = RANDOMIZED_RESPONSE,
  patience: number = THOROUGH,
): AggregateGuarantee {
  requireDelta(delta);
  const accountant = accountantFor(devices, answers);
  requireLocalEpsilon(localEpsilon, accountant);
  const sinh = 2 * Math.sinh(localEpsilon / accountant.answers / 2);
  const strength = devices / (sinh * sinh * accountant.noise * Math.log(1 / delta));
  const { at, bracket } = certifiedCrossing(
    (dataset, epsilon) => accountant.deltaAt(dataset, localEpsilon, epsilon),
    (epsilon, effort) => accountant.worst(localEpsilon, epsilon, effort),
    accountant,
    {
      delta,
      safe: localEpsilon,
      unsafe: 0,
      guess: strength > 1.1 ? 1 / Math.sqrt(strength - 1) : localEpsilon / 2,
      patience,
    },
  );
  return { epsilon: at, delta, bound: boundOf(bracket, accountant) };
}

/**
 * The largest ε₀ whose answers, from this many devices, can be released as sums with (ε, δ)-differential privacy: the
 * inverse of `aggregateDelta`. It is at least ε, since what is ε-private from one device is so from many.
 *
 * `devices` is the least number of honest reports, not the number hoped for. With the usual patience a call takes
 * milliseconds (tens for histograms), and where that does not suffice the result is on the side of privacy; with
 * `THOROUGH` it is the largest, up to 10⁻⁶, whenever ε is above 0.1.
 */
export function localEpsilonFor(
  devices: number,
  epsilon: number,
  delta: number,
  answers: Answers = RANDOMIZED_RESPONSE,
  patience = 1,
): number {
  return localGuaranteeFor(devices, epsilon, delta, answers, patience).localEpsilon;
}

/** The same, and whether it is the largest. */
export function localGuaranteeFor(
  devices: number,
  epsilon: number,
  delta: number,
  answers: Answers,
  patience: number,
): { localEpsilon: number; bound: AggregateGuarantee["bound"] } {
  requireDelta(delta);
  const accountant = accountantFor(devices, answers);
  if (!(epsilon > 0)) throw new RangeError(`epsilon is a number above 0, not ${epsilon}`);
  if (epsilon >= accountant.mostLocalEpsilon) return { localEpsilon: accountant.mostLocalEpsilon, bound: "upper" };
  const strength = devices / (Math.log(1 / delta) * (1 + 1 / (epsilon * epsilon)) * accountant.noise);
  const { at, bracket } = certifiedCrossing(
    (dataset, localEpsilon) => accountant.deltaAt(dataset, localEpsilon, epsilon),
    (localEpsilon, effort) => accountant.worst(localEpsilon, epsilon, effort),
    accountant,
    {
      delta,
      safe: epsilon,
      unsafe: accountant.mostLocalEpsilon,
      guess: Math.max(1.01 * epsilon, accountant.answers * 2 * Math.asinh(Math.sqrt(strength) / 2)),
      patience,
    },
  );
  return { localEpsilon: at, bound: boundOf(bracket, accountant) };
}

/** What a release of these sums costs, to be added up with others. */
export function aggregateCharge(devices: number, localEpsilon: number, answers: Answers, times = 1): Charge {
  const accountant = accountantFor(devices, answers);
  requireLocalEpsilon(localEpsilon, accountant);
  const { candidates } = accountant;
  return {
    times,
    pure: localEpsilon,
    delta: (epsilon) => {
      if (epsilon >= localEpsilon) return 0;
      return roundedUp(accountant.worst(localEpsilon, epsilon, { candidates, tolerance: 1e-4, patience: 0.5 }).upper);
    },
  };
}

/** Where to look for x: at `safe` δ is certain to be met. */
interface Range {
  readonly delta: number;
  readonly safe: number;
  readonly unsafe: number;
  readonly guess: number;
  readonly patience: number;
}

/**
 * Where the worst case crosses δ, from the side of privacy. First where it does so for the datasets known to be bad;
 * there it mostly is certified at once. Else the dataset that was found to be worse joins them, or, if the certificate
 * is only not sharp enough, a step back along the slope.
 */
function certifiedCrossing(
  deltaAt: (dataset: Point, x: number) => number,
  worst: (x: number, effort: Effort) => WorstCase,
  { candidates, tolerance, whole }: Accountant,
  { delta, safe, unsafe, guess, patience }: Range,
): { at: number; bracket: Bracket } {
  const target = (delta - 1e-21) / (1 + tolerance);
  const known: Point[] = [candidates[0]];
  const deltaOfKnown = (x: number): number => known.reduce((most, dataset) => Math.max(most, deltaAt(dataset, x)), 0);
  const goOn = (from: number, start: Point): number => {
    known.push(climb(start, whole, (dataset) => deltaAt(dataset, from)));
    return crossing(deltaOfKnown, target, safe, from, from);
  };
  let at = crossing(deltaOfKnown, target, safe, unsafe, guess);
  for (let i = 0; i < 2 && at !== safe; i++) at = goOn(at, known.at(-1) as Point);
  for (let step = 1; at !== safe; step *= 2) {
    const {
      lower,
      upper,
      at: dataset,
    } = worst(at, { candidates, tolerance, patience, enough: delta / (1 + 1e-9) - 2e-21 });
    if (roundedUp(upper) <= delta) return { at, bracket: { lower: Math.max(lower, deltaOfKnown(at)), upper } };
    if (lower > target * (1 + 2e-7)) {
      at = goOn(at, dataset);
      step /= 2;
    } else {
      const nearer = at + (safe - at) * 1e-4;
      const slope = Math.log(deltaOfKnown(at) / deltaOfKnown(nearer)) / (at - nearer);
      const back = (step * Math.log(upper / target)) / slope;
      at = Number.isFinite(back) && Math.abs(back) < Math.abs(safe - at) ? at - back : (safe + at) / 2;
    }
  }
  return { at, bracket: { lower: 0, upper: delta } };
}

/** Refuses what is not a number of devices, with a `RangeError`. */
export function requireDevices(devices: number): void {
  if (!Number.isInteger(devices) || devices < 1 || devices > 1e9) {
    throw new RangeError(`devices is a whole number from 1 to 1000000000, not ${devices}`);
  }
}

function requireLocalEpsilon(localEpsilon: number, { mostLocalEpsilon }: Accountant): void {
  if (!(localEpsilon > 0 && localEpsilon <= mostLocalEpsilon)) {
    throw new RangeError(`localEpsilon is a number above 0 and at most ${mostLocalEpsilon}, not ${localEpsilon}`);
  }
}

/** Refuses what is not a δ, with a `RangeError`. */
export function requireDelta(delta: number): void {
  if (!(delta >= LEAST_DELTA && delta < 1)) {
    throw new RangeError(`delta is a number from ${LEAST_DELTA} to below 1, not ${delta}`);
  }
}
