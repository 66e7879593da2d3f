import { createDiscreteGaussian, discreteGaussianVariance, MOST_SIGMA, totalWeight } from "../discrete-gaussian.ts";
import { requireDelta, requireDevices } from "./aggregate.ts";
import type { Distribution } from "./coin-sum.ts";
import type { Charge } from "./composition.ts";
import { crossing } from "./crossing.ts";
import { millsRatio } from "./normal-tail.ts";
import { NOTHING, type Part, tilted, windowAround } from "./tilted-sum.ts";

/** Noise from each of some devices, and how much one device can change the sum. */
export interface GaussianSum {
  /** The parameter σ² of each device's discrete Gaussian. */
  readonly sigma2: number;
  readonly sensitivity: number;
  /** How many add their noise: the least number of honest reports, not the number hoped for. */
  readonly devices: number;
}

/**
 * From this σ² on the sum of n ≤ 10⁹ discrete Gaussians is the discrete Gaussian with n times the parameter: no probability
 * differs by more than the factor e^τ, τ ≤ 10·n·e^{−π²σ²} < 10⁻¹⁶ [KLS21, Thm 1].
 *
 * [KLS21] Kairouz, Liu, Steinke, The distributed discrete Gaussian mechanism, 2021.
 */
const WIDE = 6.25;

/**
 * δ(ε) of releasing a sum to which every device has added its noise: Σ_x [f(x) − e^ε·f(x − sensitivity)]₊ for the exact
 * distribution f of the noise together, the worst over neighbours at that distance [CKS20, Thm 7 for one device]. For one device it is
 * the local guarantee. A discrete Gaussian does not divide: narrow ones with n·σ² fixed have almost no noise together.
 */
export function gaussianDelta(sum: GaussianSum, epsilon: number): number {
  if (sum.devices === 1 || sum.sigma2 >= WIDE) return wideDelta(sum.devices * sum.sigma2, sum.sensitivity, epsilon);
  return narrowDelta(sum, epsilon);
}

/** Whether δ is exact, not only a bound. */
export function isSummedExactly({ sigma2, devices }: GaussianSum): boolean {
  return (devices > 1 && sigma2 < WIDE) || Math.sqrt(devices * sigma2) <= MOST_SUMMED;
}

/**
 * f is a discrete Gaussian. The bracket is positive for x < x* = Δ/2 − εσ²/Δ; of that tail, as much as counts is summed. If that
 * were millions of terms, from above: g(x) = f(x) − e^ε·f(x−Δ) rises and falls, so its sum is at most its integral plus its maximum; and
 * g(x*−u) ≤ f(x*)·e^{−|x*|u/σ²}·uΔ/σ², at most f(x*)·Δ/(e·|x*|).
 */
function wideDelta(sigma2: number, sensitivity: number, epsilon: number): number {
  const sigma = Math.sqrt(sigma2);
  const near = (epsilon * sigma) / sensitivity - sensitivity / (2 * sigma);
  if (sigma > MOST_SUMMED && near > 1) {
    const density = Math.exp(-(near * near) / 2) / Math.sqrt(2 * Math.PI);
    const integral = millsRatio(near) - millsRatio(near + sensitivity / sigma);
    return density * (integral + sensitivity / (Math.E * near * sigma2));
  }
  const weight = (x: number, logFactor: number): number => Math.exp(logFactor - (x * x) / (2 * sigma2));
  let delta = 0;
  for (let x = Math.floor(-near * sigma); ; x--) {
    const here = weight(x, 0);
    const term = here - weight(x - sensitivity, epsilon);
    delta += Math.max(0, term);
    if (x < 0 && (here === 0 || (delta > 0 && term < 1e-17 * delta))) break;
  }
  return delta / totalWeight(sigma2);
}

/** The σ up to which tails are summed. */
const MOST_SUMMED = 30_000;

/**
 * f is computed from its characteristic function, tilted to where the privacy loss is ε (`tilted-sum.ts`). Of the N frequencies of a
 * window only the few count at which φⁿ is not yet nothing, and sums over x are geometric series.
 */
function narrowDelta({ sigma2, sensitivity, devices }: GaussianSum, epsilon: number): number {
  const part = { ...discreteGaussianPart(sigma2, epsilon / sensitivity), times: devices };
  const variance = devices * discreteGaussianVariance(sigma2);
  const centre = Math.min(0, Math.round(sensitivity / 2 - (epsilon * variance) / sensitivity));
  const { tilt, first, length } = windowAround([part], centre);
  const { logTotal, waves } = spectrum(part, tilt, length);
  const logScale = devices * logTotal;
  /** Pr[sum = x]. */
  const probability = (x: number): number => {
    const tilted = waves.reduce(
      (sum, { re, im, omega }) => sum + re * Math.cos(omega * x) + im * Math.sin(omega * x),
      0,
    );
    return Math.max(0, tilted) * Math.exp(logScale - tilt * x);
  };
  const counts = (x: number): boolean => probability(x) > Math.exp(epsilon) * probability(x - sensitivity);
  // f is log-concave, so all x up to some last one count; most of it near the centre.
  const last = lastThat(counts, centre, first, first + length - 1);
  const upTo = (x: number): number => waves.reduce((sum, wave) => sum + partialSum(wave, tilt, first, x, logScale), 0);
  return Math.max(0, upTo(last) - Math.exp(epsilon) * upTo(last - sensitivity));
}

/** One frequency ω of the tilted distribution: re·cos ωx + im·sin ωx. */
interface Wave {
  readonly omega: number;
  readonly re: number;
  readonly im: number;
}

/** The frequencies 2πk/N, 0 ≤ k ≤ N/2, of the sum: φⁿ = exp(n·log1p(φ − 1)), and φ − 1 without cancellation. */
function spectrum(part: Part, tilt: number, length: number): { logTotal: number; waves: Wave[] } {
  const { weights, logTotal } = tilted(part, tilt);
  const waves: Wave[] = [];
  for (let k = 0; k <= length / 2; k++) {
    const omega = (2 * Math.PI * k) / length;
    let x = 0;
    let y = 0;
    for (let i = 0; i < weights.length; i++) {
      const half = (omega * (part.first + i)) / 2;
      x -= 2 * (weights[i] as number) * Math.sin(half) ** 2;
      y += (weights[i] as number) * Math.sin(2 * half);
    }
    const logSize = part.times * (x > -0.5 ? Math.log1p(x * (2 + x) + y * y) / 2 : Math.log(Math.hypot(1 + x, y)));
    if (logSize < NOTHING) break;
    const size = (Math.exp(logSize) * (k === 0 || 2 * k === length ? 1 : 2)) / length;
    const angle = part.times * Math.atan2(y, 1 + x);
    waves.push({ omega, re: size * Math.cos(angle), im: size * Math.sin(angle) });
  }
  return { logTotal, waves };
}

/** The largest x between two bounds that counts, where all smaller ones do: in growing steps from the start, then by halves. */
function lastThat(counts: (x: number) => boolean, start: number, least: number, most: number): number {
  let low = start;
  for (let step = 1; low > least && !counts(low); step *= 2) low = Math.max(least, low - step);
  let high = low + 1;
  for (let step = 1; high < most && counts(high); step *= 2) {
    low = high;
    high = Math.min(most, high + step);
  }
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (counts(middle)) low = middle;
    else high = middle;
  }
  return low;
}

/** Σ e^{logScale − θx}·(re·cos ωx + im·sin ωx) over first ≤ x ≤ last: the real part of a geometric series. */
function partialSum({ omega, re, im }: Wave, tilt: number, first: number, last: number, logScale: number): number {
  if (last < first) return 0;
  // With r = e^{θ + iω}, Σ r^{−x} = (r^{−last} − r^{1−first})/(1 − r).
  const grow = Math.exp(tilt);
  const x = 1 - grow * Math.cos(omega);
  const y = -grow * Math.sin(omega);
  const size = x * x + y * y;
  if (size === 0) return (last - first + 1) * re * Math.exp(logScale);
  const a = Math.exp(logScale - tilt * last);
  const b = Math.exp(logScale - tilt * (first - 1));
  const p = a * Math.cos(omega * last) - b * Math.cos(omega * (first - 1));
  const q = -a * Math.sin(omega * last) + b * Math.sin(omega * (first - 1));
  // re·cos ωx + im·sin ωx is the real part of (re + i·im)·e^{−iωx}.
  const seriesRe = (p * x + q * y) / size;
  const seriesIm = (q * x - p * y) / size;
  return re * seriesRe - im * seriesIm;
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
  // Gaussian noise with this variance would give about this.
  const inverse = sum.sensitivity / Math.sqrt(sum.devices * discreteGaussianVariance(sum.sigma2));
  const guess = inverse * Math.sqrt(2 * Math.log(1 / delta)) + (inverse * inverse) / 2;
  let most = 2 * guess;
  while (gaussianDelta(sum, most) > delta) most *= 2;
  return crossing((epsilon) => gaussianDelta(sum, epsilon), delta, most, 0, guess);
}

/**
 * The least σ, in units of the sensitivity, for which the sum with noise from this many devices is (ε, δ)-differentially private. δ
 * does not always fall as σ grows, so the result is checked as it will be used.
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
