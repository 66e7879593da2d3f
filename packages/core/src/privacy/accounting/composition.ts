import { requireDelta } from "./aggregate.ts";
import { logBinomial } from "./binomial.ts";
import type { Distribution } from "./coin-sum.ts";
import { crossing } from "./crossing.ts";
import { logMomentOf, meanOf, type Part, sumAround } from "./tilted-sum.ts";

/**
 * Something that is paid for: its δ(ε) for ε ≥ 0, in the worse of both directions, from above, and how often it
 * happens.
 */
export interface Charge {
  readonly delta: (epsilon: number) => number;
  readonly times: number;
  /** From here on δ is 0, if anywhere. */
  readonly pure?: number;
  /** No ε has a smaller δ: some outcomes are possible under one hypothesis only. */
  readonly least?: number;
}

/** The charge of anything that is ε-differentially private: no such thing is worse than randomized response [KOV15]. */
export function pureCharge(localEpsilon: number, times = 1): Charge {
  return {
    times,
    pure: localEpsilon,
    delta: (epsilon) =>
      epsilon >= localEpsilon
        ? 0
        : (Math.exp(epsilon) * Math.expm1(localEpsilon - epsilon)) / (1 + Math.exp(localEpsilon)),
  };
}

/**
 * δ(ε) of the same ε₀-private thing several times, exactly [KOV15, Thm 3.3]: i of n answers are wrong with probability
 * Bin(n, p)(i), and the loss is then (n − 2i)·ε₀.
 *
 * [KOV15] Kairouz, Oh, Viswanath, The composition theorem for differential privacy, 2015.
 */
export function repeatedDelta(times: number, localEpsilon: number, epsilon: number): number {
  const coin = { heads: 1 / (1 + Math.exp(localEpsilon)), tails: 1 / (1 + Math.exp(-localEpsilon)) };
  let delta = 0;
  for (let wrong = 0; (times - 2 * wrong) * localEpsilon > epsilon; wrong++) {
    delta += Math.exp(logBinomial(times, coin, wrong)) * -Math.expm1(epsilon - (times - 2 * wrong) * localEpsilon);
  }
  return delta;
}

/**
 * The grid's step as a share of the loss's standard deviation, for few and for many; it adds at most a quarter of its
 * square to the variance.
 */
const FINE = 1 / 30;
const COARSE = 1 / 12;
const MANY = 20;
/** Of the standard deviation of the whole sum. */
const MOST_STEPS = 20_000;
/** What may be lost to losses beyond the grid, as a share of δ. */
const BEYOND = 1e-3;

/** The total's (ε, δ) from above, at a given δ. */
export function composedEpsilon(charges: readonly Charge[], delta: number): number {
  requireDelta(delta);
  requireTimes(charges);
  const [first] = charges;
  if (first && charges.length === 1 && first.times === 1) return epsilonOf(first, delta);
  const losses = discretize(charges, delta);
  // What is so weak that it has no finite loss to speak of can only be added up plainly.
  if (losses.infinite >= delta / 2) return plainSum(charges, delta);
  if (losses.parts.length === 0) return 0;
  // Where nothing has a δ, the total is never more than the sum.
  const sum = charges.reduce((total, { pure = Number.POSITIVE_INFINITY, times }) => total + times * pure, 0);
  const most = Math.min(sum, chernoff(losses, delta));
  // No more digits than the grid has.
  return crossing((epsilon) => deltaOfSum(losses, epsilon), delta, most, 0, 0.9 * most, 1e-4);
}

/**
 * `composedEpsilon`, or infinity where no ε holds at this δ, because what happens under one hypothesis only is too
 * likely.
 */
export function boundedEpsilon(charges: readonly Charge[], delta: number): number {
  const least = charges.reduce((sum, charge) => sum + charge.times * (charge.least ?? 0), 0);
  return least < 0.4 * delta ? composedEpsilon(charges, delta) : Number.POSITIVE_INFINITY;
}

/** Each with its share of δ; their ε add up. */
function plainSum(charges: readonly Charge[], delta: number): number {
  const times = charges.reduce((sum, charge) => sum + charge.times, 0);
  return charges.reduce((sum, charge) => sum + charge.times * epsilonOf(charge, delta / times), 0);
}

/** The least ε of one charge at δ. */
function epsilonOf(charge: Charge, delta: number): number {
  let most = charge.pure ?? 1;
  while (charge.delta(most) > delta) {
    most *= 2;
    if (most > LARGEST_EPSILON) throw new RangeError(`no epsilon below ${LARGEST_EPSILON} holds at delta ${delta}`);
  }
  return crossing(charge.delta, delta, most, 0, most / 2, 1e-4);
}

/** Beyond this no number says anything. */
const LARGEST_EPSILON = 1e9;

function requireTimes(charges: readonly Charge[]): void {
  for (const { times } of charges) {
    if (!Number.isInteger(times) || times < 1) throw new RangeError(`times is a whole number from 1 on, not ${times}`);
  }
}

/** The total's (ε, δ) from above, at a given ε. */
export function composedDelta(charges: readonly Charge[], epsilon: number): number {
  requireTimes(charges);
  if (!(epsilon >= 0)) throw new RangeError(`epsilon is a number from 0 on, not ${epsilon}`);
  return deltaOfSum(discretize(charges, 1e-12), epsilon);
}

/** Distributions of the privacy loss in steps, and the probability that it is infinite. */
interface Losses {
  readonly step: number;
  readonly parts: readonly Part[];
  readonly infinite: number;
}

/**
 * A dominating pair for each charge, on a common grid [DGKKM22, "connect the dots"]. As a function of x = e^ε, δ is
 * convex; the polygon through its values at the grid lies above it and is the δ of a pair whose losses are on the grid:
 * q_j, the change of slope at x_j, is the probability of loss ε_j under one hypothesis and p_j = q_j·x_j under the
 * other. The pair is taken symmetric.
 *
 * [DGKKM22] Doroshenko, Ghazi, Kamath, Kumar, Manurangsi, Connect the dots: tighter discrete approximations of privacy
 * loss distributions, 2022.
 */
function discretize(charges: readonly Charge[], delta: number): Losses {
  const times = charges.reduce((sum, charge) => sum + charge.times, 0);
  const cut = (BEYOND * delta) / Math.max(1, times);
  const ranged = charges.map((charge) => ({ ...charge, most: rangeOf(charge, cut) }));
  const variance = ranged.reduce((sum, charge) => sum + charge.times * roughVariance(charge), 0);
  const share = Math.max(times > MANY ? COARSE : FINE, Math.sqrt(times) / MOST_STEPS);
  const step = share * Math.sqrt(variance / times);
  let logFinite = 0;
  const parts: Part[] = [];
  for (const { delta: curve, most, times: repeated } of ranged) {
    const dots = step > 0 && most > 0 ? connectDots(curve, step, Math.ceil(most / step)) : undefined;
    logFinite += repeated * Math.log1p(-Math.min(1, dots ? dots.infinite : curve(0)));
    if (dots) parts.push({ ...dots.distribution, times: repeated });
  }
  return { step, parts, infinite: -Math.expm1(logFinite) };
}

/** The variance of the loss on a grid of a few points. */
function roughVariance({ delta, most }: Charge & { readonly most: number }): number {
  if (most === 0) return 0;
  const POINTS = 16;
  const { first, probabilities } = connectDots(delta, most / POINTS, POINTS).distribution;
  return probabilities.reduce((sum, p, i) => sum + p * (((first + i) * most) / POINTS) ** 2, 0);
}

/** Larger losses count as infinite: e^ε must be a number. */
const LARGEST_LOSS = 500;

/** From which ε on δ is below the cut; 0 if it always is. */
function rangeOf({ delta: curve, pure, least = 0 }: Charge, cut: number): number {
  const delta = (epsilon: number): number => curve(epsilon) - least;
  if (delta(0) <= cut) return 0;
  let most = Math.min(pure ?? 1, LARGEST_LOSS);
  while (delta(most) > cut && most < LARGEST_LOSS) most = Math.min(LARGEST_LOSS, 2 * most);
  while (delta(most / 2) <= cut) most /= 2;
  let below = most / 2;
  for (let i = 0; i < 4; i++) {
    const middle = (below + most) / 2;
    if (delta(middle) > cut) below = middle;
    else most = middle;
  }
  return most;
}

/**
 * At most this number of points of a curve is computed; the polygon through some of the grid's points lies above it
 * too.
 */
const MOST_DOTS = 200;

function connectDots(
  delta: (epsilon: number) => number,
  step: number,
  least: number,
): { distribution: Distribution; infinite: number } {
  const stride = Math.ceil(least / MOST_DOTS);
  const dots = Math.ceil(least / stride);
  const points = dots * stride;
  const heights = Array.from({ length: dots + 1 }, (_, j) => delta(j * stride * step));
  const corners = lowerHull(heights, stride * step);
  const infinite = heights[dots] as number;
  const probabilities = new Float64Array(2 * points + 1);
  let total = infinite;
  for (const [i, j] of corners.entries()) {
    if (j === 0) continue;
    const before = slope(heights, stride * step, corners[i - 1] as number, j);
    const after = i + 1 < corners.length ? slope(heights, stride * step, j, corners[i + 1] as number) : 0;
    const q = Math.max(0, after - before);
    const p = q * Math.exp(j * stride * step);
    probabilities[points + j * stride] = p;
    probabilities[points - j * stride] = q;
    total += p + q;
  }
  probabilities[points] = Math.max(0, 1 - total);
  return { distribution: { first: -points, probabilities }, infinite };
}

/** The slope of δ over x = e^ε between two points of the grid. */
function slope(heights: readonly number[], step: number, from: number, to: number): number {
  const rise = (heights[to] as number) - (heights[from] as number);
  return rise / (Math.exp(from * step) * Math.expm1((to - from) * step));
}

/** Which points carry the largest convex function below all of them: rounding may have lifted some out of line. */
function lowerHull(heights: readonly number[], step: number): number[] {
  const corners: number[] = [];
  for (let j = 0; j < heights.length; j++) {
    while (corners.length >= 2) {
      const last = corners.at(-1) as number;
      const before = corners.at(-2) as number;
      if (slope(heights, step, before, last) <= slope(heights, step, last, j)) break;
      corners.pop();
    }
    corners.push(j);
  }
  return corners;
}

/** δ(ε) of the sum of all losses: Σ_{loss > ε} Pr[loss]·(1 − e^{ε − loss}), and the infinite ones. */
function deltaOfSum({ step, parts, infinite }: Losses, epsilon: number): number {
  if (parts.length === 0) return infinite;
  // Losses beyond ε count, so the bulk does if ε is below the mean.
  const { first, weights, tilt, logScale } = sumAround(parts, Math.max(epsilon / step, meanOf(parts)));
  let delta = infinite;
  for (let x = Math.max(first, Math.floor(epsilon / step) + 1); x < first + weights.length; x++) {
    const probability = (weights[x - first] as number) * Math.exp(logScale - tilt * x);
    delta += probability * -Math.expm1(epsilon - x * step);
  }
  return Math.min(1, delta * (1 + 1e-9) + 1e-21);
}

/** An ε at which δ is met for certain: δ(ε) ≤ E[e^{h(loss − ε)}], for the best of some h. */
function chernoff({ step, parts, infinite }: Losses, delta: number): number {
  let best = Number.POSITIVE_INFINITY;
  for (let h = 1e-3; h < 1e4; h *= 1.3) {
    best = Math.min(best, (logMomentOf(parts, h * step) - Math.log(delta - infinite)) / h);
  }
  return Math.max(best, step);
}
