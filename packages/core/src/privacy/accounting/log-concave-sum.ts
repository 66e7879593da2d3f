import { transform } from "./fourier.ts";
import { NOTHING, type Part, tilted as tiltedWeights, windowAtTilt } from "./tilted-sum.ts";

/** The ε up to which e^{−ε/2} is far above the transform's errors. */
export const MOST_TRANSFORMED = 40;

/** Of one value of the tilted distribution: rounding of some hundred frequencies. */
const TRANSFORM_ERROR = 1e-16;

/**
 * δ(ε) = Σ_x [f(x) − e^ε·f(x − Δ)]₊ for the distribution f of a sum of independent copies of one log-concave part, Δ
 * the sensitivity, and ε ≤ 40.
 *
 * f is computed from its characteristic function, tilted by θ = −ε/Δ (`tilted-sum.ts`): with g(x) = f(x)·e^{θx} the
 * terms are e^{−θx}·(g(x) − g(x−Δ)). As f is log-concave, so is g, and all x up to some last one count: it lies between
 * the maximum of g and Δ above it. As f still rises there, or has its own maximum before, g is at least e^{−ε/2} times
 * its maximum where it matters, and the errors of the transform, which are relative to the maximum, stay small; they
 * are added. Of the N frequencies of a window only the few count at which φⁿ is not yet nothing, and sums over x are
 * geometric series.
 */
export function logConcaveSumDelta(part: Part, sensitivity: number, epsilon: number): number {
  // No value of the sum is one of both.
  if (part.times * (part.probabilities.length - 1) < sensitivity) return 1;
  const tilt = -epsilon / sensitivity;
  const { first, length, mean, spread } = windowAtTilt([part], tilt, sensitivity);
  // So far apart that they do not meet.
  if (sensitivity > spread) return 1;
  const { logTotal, variance, waves } = spectrum(part, tilt, length);
  const logScale = part.times * logTotal;
  const tilted = (x: number): number =>
    waves.reduce((sum, { re, im, omega }) => sum + re * Math.cos(omega * x) + im * Math.sin(omega * x), 0);
  // The maximum of a unimodal distribution lies within √3 standard deviations of its mean. And where x − Δ is no value,
  // x counts.
  const aside = 2 * Math.sqrt(part.times * variance) + 1;
  const last = lastThat(
    (x) => tilted(x) > tilted(x - sensitivity),
    Math.max(Math.floor(mean - aside), part.times * part.first + sensitivity - 1),
    Math.ceil(mean + aside) + sensitivity,
  );
  const upTo = (x: number): number => waves.reduce((sum, wave) => sum + partialSum(wave, tilt, first, x, logScale), 0);
  // Any x gives a lower bound. Where f and its copy are far apart, values between them are noise, and so may be the
  // search: its bulk is not.
  const candidates = [last, Math.floor(mean), Math.ceil(mean)];
  const deltas = candidates.map((x) => upTo(x) - Math.exp(epsilon) * upTo(x - sensitivity));
  const lost =
    TRANSFORM_ERROR * Math.exp(logScale - tilt * Math.max(...candidates)) * Math.min(length, 1 + 1 / -Math.expm1(tilt));
  const delta = Math.max(0, ...deltas) + lost;
  return delta <= 1 ? delta : 1;
}

/** One frequency ω of the tilted distribution: re·cos ωx + im·sin ωx. */
interface Wave {
  readonly omega: number;
  readonly re: number;
  readonly im: number;
}

/**
 * The frequencies 2πk/N, 0 ≤ k ≤ N/2, of the sum: φⁿ = exp(n·log1p(φ − 1)), and φ − 1 without cancellation. Those at
 * which φⁿ is nothing are left out.
 * |φ| changes by at most a standard deviation for each unit of ω, so where it is small enough, it stays so for a while,
 * and that is not computed.
 */
function spectrum(part: Part, tilt: number, length: number): { logTotal: number; variance: number; waves: Wave[] } {
  const { weights, logTotal } = tiltedWeights(part, tilt);
  const variance = varianceOf(weights);
  const nothing = Math.exp(NOTHING / part.times);
  const stepsPerHeight = length / (2 * Math.PI * Math.sqrt(variance));
  const transformAt = transformOf(part, weights, length);
  const waves: Wave[] = [];
  for (let k = 0; k <= length / 2; k++) {
    const omega = (2 * Math.PI * k) / length;
    const { x, y } = transformAt(k);
    const logSize = part.times * (x > -0.5 ? Math.log1p(x * (2 + x) + y * y) / 2 : Math.log(Math.hypot(1 + x, y)));
    if (logSize < NOTHING) {
      const steps = Math.floor((nothing - Math.hypot(1 + x, y)) * stepsPerHeight);
      if (steps > 1) k += steps - 1;
      continue;
    }
    const size = (Math.exp(logSize) * (k === 0 || 2 * k === length ? 1 : 2)) / length;
    const angle = part.times * Math.atan2(y, 1 + x);
    waves.push({ omega, re: size * Math.cos(angle), im: size * Math.sin(angle) });
  }
  return { logTotal, variance, waves };
}

/**
 * φ(2πk/N) − 1 = x + iy of one part. Of few all frequencies count, and are computed at once; their errors are not
 * multiplied by much.
 */
function transformOf(
  { first, times }: Part,
  weights: Float64Array,
  length: number,
): (k: number) => { x: number; y: number } {
  if (times > FEW) return (k) => transformAt(first, weights, (2 * Math.PI * k) / length);
  const [re, im] = [new Float64Array(length), new Float64Array(length)];
  for (const [i, weight] of weights.entries()) {
    const at = (((first + i) % length) + length) % length;
    re[at] = (re[at] as number) + weight;
  }
  transform(re, im);
  return (k) => ({ x: (re[k] as number) - 1, y: im[k] as number });
}

const FEW = 64;

function transformAt(first: number, weights: Float64Array, omega: number): { x: number; y: number } {
  let x = 0;
  let y = 0;
  for (let i = 0; i < weights.length; i++) {
    const half = (omega * (first + i)) / 2;
    const sin = Math.sin(half);
    x -= 2 * (weights[i] as number) * sin * sin;
    y += 2 * (weights[i] as number) * sin * Math.cos(half);
  }
  return { x, y };
}

function varianceOf(weights: Float64Array): number {
  const mean = weights.reduce((sum, weight, i) => sum + i * weight, 0);
  return weights.reduce((sum, weight, i) => sum + (i - mean) ** 2 * weight, 0);
}

/** The largest x that counts, where all up to it do: at least `low`, and below `high`. */
function lastThat(counts: (x: number) => boolean, low: number, high: number): number {
  let [near, far] = [low, high];
  while (far - near > 1) {
    const middle = Math.floor((near + far) / 2);
    if (counts(middle)) near = middle;
    else far = middle;
  }
  return near;
}

/** Σ e^{logScale − θx}·(re·cos ωx + im·sin ωx) over first ≤ x ≤ last: the real part of a geometric series. */
function partialSum({ omega, re, im }: Wave, tilt: number, first: number, last: number, logScale: number): number {
  if (last < first) return 0;
  // With r = e^{θ + iω}, Σ r^{−x} = (r^{−last} − r^{1−first})/(1 − r).
  if (omega === 0) {
    const terms = last - first + 1;
    const series = tilt === 0 ? terms : Math.expm1(tilt * terms) / Math.expm1(tilt);
    return re * series * Math.exp(logScale - tilt * last);
  }
  const grow = Math.exp(tilt);
  const x = 1 - grow * Math.cos(omega);
  const y = -grow * Math.sin(omega);
  const size = x * x + y * y;
  const a = Math.exp(logScale - tilt * last);
  const b = Math.exp(logScale - tilt * (first - 1));
  const p = a * Math.cos(omega * last) - b * Math.cos(omega * (first - 1));
  const q = -a * Math.sin(omega * last) + b * Math.sin(omega * (first - 1));
  // re·cos ωx + im·sin ωx is the real part of (re + i·im)·e^{−iωx}.
  const seriesRe = (p * x + q * y) / size;
  const seriesIm = (q * x - p * y) / size;
  return re * seriesRe - im * seriesIm;
}
