import { createDiscreteGaussian, MOST_SIGMA, totalWeight } from "../discrete-gaussian.ts";
import { requireDelta, requireDevices } from "./aggregate.ts";
import type { Distribution } from "./coin-sum.ts";
import type { Charge } from "./composition.ts";
import { crossing } from "./crossing.ts";
import { logConcaveSumDelta, MOST_TRANSFORMED } from "./log-concave-sum.ts";

/** Noise from each of some devices, and how much one device can change the sum. */
export interface GaussianSum {
  /** The parameter σ² of each device's discrete Gaussian. */
  readonly sigma2: number;
  readonly sensitivity: number;
  /** How many add their noise: the least number of honest reports, not the number hoped for. */
  readonly devices: number;
}

/**
 * From this σ² on the sum of n ≤ 10⁹ discrete Gaussians is the discrete Gaussian with n times the parameter: no
 * probability differs by more than the factor e^τ, τ ≤ 10·n·e^{−π²σ²} < 10⁻¹⁶ [KLS21].
 *
 * [KLS21] Kairouz, Liu, Steinke, The distributed discrete Gaussian mechanism, 2021.
 */
export const WIDE = 6.25;

/**
 * δ(ε) of releasing a sum to which every device has added its noise: Σ_x [f(x) − e^ε·f(x − sensitivity)]₊ for the exact
 * distribution f of the noise together, the worst over neighbours at that distance [CKS20 for one device]. For one
 * device it is the local guarantee. A discrete Gaussian does not divide: narrow ones with n·σ² fixed have almost no
 * noise together.
 */
export function gaussianDelta(sum: GaussianSum, epsilon: number): number {
  requireSum(sum);
  if (!(epsilon >= 0)) throw new RangeError(`epsilon is a number from 0 on, not ${epsilon}`);
  const delta =
    sum.devices === 1 || sum.sigma2 >= WIDE
      ? wideDelta(sum.devices * sum.sigma2, sum.sensitivity, epsilon)
      : epsilon <= MOST_TRANSFORMED
        ? narrowDelta(sum, epsilon)
        : weakDelta(sum, epsilon);
  // For rounding.
  return Math.min(1, delta * (1 + 1e-10));
}

function requireSum({ sigma2, sensitivity, devices }: GaussianSum): void {
  requireDevices(devices);
  if (!(sigma2 > 0 && sigma2 < Number.POSITIVE_INFINITY)) throw new RangeError(`sigma2 is above 0, not ${sigma2}`);
  if (!(Number.isInteger(sensitivity) && sensitivity >= 1)) {
    throw new RangeError(`sensitivity is a whole number from 1 on, not ${sensitivity}`);
  }
}

/** Whether δ is exact, not only a bound. */
export function isSummedExactly({ sigma2, devices }: GaussianSum): boolean {
  return (devices > 1 && sigma2 < WIDE) || Math.sqrt(devices * sigma2) <= MOST_SUMMED;
}

/** The σ up to which tails are summed term by term. */
const MOST_SUMMED = 30_000;

/**
 * f is a discrete Gaussian. g(x) = f(x) − e^ε·f(x−Δ) is positive for x < x* = Δ/2 − εσ²/Δ; it rises and falls there.
 * For very wide ones only every L-th term is computed: in a run of L terms without the maximum none exceeds the larger
 * of its ends, so the sum is at most L·(the terms computed + twice the maximum). g is at most f(x) − f(x−Δ) ≤
 * Δ·f(0)·e^{−1/2}/σ, and, as f(x*−u) ≤ f(x*)·e^{−|x*|u/σ²} and g(x*−u) ≤ f(x*−u)·uΔ/σ², at most f(x*)·Δ/(e·|x*|).
 */
function wideDelta(sigma2: number, sensitivity: number, epsilon: number): number {
  const sigma = Math.sqrt(sigma2);
  const near = (epsilon * sigma) / sensitivity - sensitivity / (2 * sigma);
  const stride = Math.ceil(sigma / MOST_SUMMED);
  const weight = (x: number, logFactor: number): number => Math.exp(logFactor - (x * x) / (2 * sigma2));
  let sum = 0;
  for (let x = Math.floor(-near * sigma); ; x -= stride) {
    const here = weight(x, 0);
    const term = here - weight(x - sensitivity, epsilon);
    sum += Math.max(0, term);
    if (x < 0 && (here === 0 || (sum > 0 && term < 1e-17 * sum))) break;
  }
  const anywhere = (sensitivity * Math.exp(-0.5)) / sigma;
  const inTail = near > 0 ? (sensitivity * Math.exp(-near * near * 0.5)) / (Math.E * near * sigma) : anywhere;
  const largest = stride === 1 ? 0 : Math.min(anywhere, inTail);
  return (stride * (sum + 2 * largest)) / totalWeight(sigma2);
}

/**
 * For larger ε, where there is hardly any noise: f by squaring, with positive terms only; or, if that would take long,
 * from above: the noise of the other devices can only lower δ.
 */
function weakDelta({ sigma2, sensitivity, devices }: GaussianSum, epsilon: number): number {
  const alone = wideDelta(sigma2, sensitivity, epsilon);
  if (devices * sigma2 > MOST_CONVOLVED) return alone;
  const reach = Math.ceil(Math.sqrt(-2 * sigma2 * Math.log(LEAST))) + 1;
  const total = totalWeight(sigma2);
  let power = Float64Array.from(
    { length: 2 * reach + 1 },
    (_, i) => Math.exp(-((i - reach) ** 2) / (2 * sigma2)) / total,
  );
  let sum = Float64Array.of(1);
  for (let rest = devices; rest > 0; rest = Math.floor(rest / 2)) {
    if (rest % 2 === 1) sum = convolve(sum, power);
    if (rest > 1) power = convolve(power, power);
  }
  let delta = 0;
  for (let x = 0; x < sum.length; x++) {
    const before = sum[x - sensitivity] ?? 0;
    delta += Math.max(0, (sum[x] as number) - (before === 0 ? 0 : Math.exp(epsilon + Math.log(before))));
  }
  return Math.min(alone, delta + LEAST);
}

const MOST_CONVOLVED = 100;
const LEAST = 1e-250;

/** Of two distributions that are symmetric around the middle; what is below 10⁻²⁵⁰ at both ends is cut off. */
function convolve(a: Float64Array<ArrayBuffer>, b: Float64Array<ArrayBuffer>): Float64Array<ArrayBuffer> {
  const product = new Float64Array(a.length + b.length - 1);
  for (let i = 0; i < a.length; i++) {
    for (let j = 0; j < b.length; j++)
      product[i + j] = (product[i + j] as number) + (a[i] as number) * (b[j] as number);
  }
  let cut = 0;
  while ((product[cut] as number) < LEAST && 2 * cut < product.length - 1) cut++;
  return product.slice(cut, product.length - cut);
}

/** The exact distribution of the noise together, by its characteristic function. */
function narrowDelta({ sigma2, sensitivity, devices }: GaussianSum, epsilon: number): number {
  return logConcaveSumDelta(
    { ...discreteGaussianPart(sigma2, epsilon / sensitivity), times: devices },
    sensitivity,
    epsilon,
  );
}

/** N_Z(0, σ²) as far as it matters when the sum is pushed to where the privacy loss is ε. */
function discreteGaussianPart(sigma2: number, push: number): Distribution {
  const reach = Math.ceil(push * sigma2 + 15 * Math.sqrt(sigma2)) + 3;
  const total = totalWeight(sigma2);
  const probabilities = Float64Array.from(
    { length: 2 * reach + 1 },
    (_, i) => Math.exp(-((i - reach) ** 2) / (2 * sigma2)) / total,
  );
  return { first: -reach, probabilities };
}

/** What a release of the sum, or one device's own answer, costs, to be added up with others. */
export function gaussianCharge(sum: GaussianSum, times = 1): Charge {
  return { times, delta: (epsilon) => gaussianDelta(sum, epsilon) };
}

/** The least ε with δ(ε) ≤ delta, from above. */
export function gaussianEpsilon(sum: GaussianSum, delta: number): number {
  requireDelta(delta);
  requireSum(sum);
  let most = 1;
  while (gaussianDelta(sum, most) > delta) {
    most *= 2;
    if (most > LARGEST_EPSILON)
      throw new RangeError(`sigma is so small that there is no epsilon below ${LARGEST_EPSILON}`);
  }
  return crossing((epsilon) => gaussianDelta(sum, epsilon), delta, most, 0, 0.75 * most);
}

/** Beyond this no number says anything. */
const LARGEST_EPSILON = 1e9;

/**
 * The least σ, in units of the sensitivity, for which the sum with noise from this many devices is (ε,
 * δ)-differentially private. δ does not always fall as σ grows, so the result is checked as it will be used.
 */
export function sigmaFor(epsilon: number, delta: number, sensitivity: number, devices = 1): number {
  if (!(epsilon > 0)) throw new RangeError(`epsilon is a number above 0, not ${epsilon}`);
  requireDelta(delta);
  requireDevices(devices);
  const deltaAt = (sigma2: number): number => gaussianDelta({ sigma2, sensitivity, devices }, epsilon);
  const logDelta = Math.log(1 / delta);
  const together = sensitivity * sensitivity * ((2 * logDelta) / (epsilon * epsilon) + 1 / epsilon);
  // Narrow noise is 0 nearly always: its variance is about 2·e^{−1/2σ²}.
  const each = together / devices;
  const guess = each > 0.5 ? each : 1 / (2 * Math.log(2 / each));
  const most = MOST_SIGMA * MOST_SIGMA;
  const found = crossing((log) => deltaAt(Math.exp(log)), delta, Math.log(most), Math.log(1e-3), Math.log(guess));
  for (let sigma = Math.exp(found / 2); ; sigma *= 1 + 1e-9) {
    if (sigma >= MOST_SIGMA)
      throw new RangeError(
        `epsilon ${epsilon} needs a sigma above ${MOST_SIGMA}, the widest noise: raise epsilon or delta`,
      );
    if (deltaAt(sigma * sigma) <= delta && deltaAt(createDiscreteGaussian(sigma).sigma2) <= delta) {
      return sigma / sensitivity;
    }
  }
}
