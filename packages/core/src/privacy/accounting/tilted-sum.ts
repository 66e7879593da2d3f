import type { Distribution } from "./coin-sum.ts";
import { transform } from "./fourier.ts";

/** Independent copies of one distribution on the integers. */
export interface Part extends Distribution {
  readonly times: number;
}

/** Pr[sum = first + i] = weights[i]·e^{logScale − tilt·(first + i)}, with small *relative* errors near the target. */
export interface TiltedSum {
  readonly first: number;
  readonly weights: Float64Array;
  readonly tilt: number;
  readonly logScale: number;
}

/** What is folded back into the window has e^{−45} of the tilted mass on each side. */
const FOLDED = 45;
const MOST_LENGTH = 2 ** 26;
/** The logarithm of what no longer counts in a Fourier coefficient, of which the first is 1. */
export const NOTHING = -60;

/**
 * The distribution of a sum of independent integers, around a target that may lie far in its tail.
 *
 * Plain Fourier inversion has absolute errors near 10⁻¹⁶, useless where probabilities are 10⁻¹⁵. So every part is
 * tilted, p(x) → p(x)·e^{θx}/M(θ), with θ such that the sum's mean is the target: there the tilted sum has its bulk,
 * and errors are relative. For powers of 10⁹ the characteristic function φ is not computed but φ − 1, relative to the
 * part's likeliest value, whose own weight is replaced by minus the weight of all others; then φⁿ = exp(n·log1p(φ −
 * 1)).
 */
export function sumAround(parts: readonly Part[], target: number): TiltedSum {
  const { tilt, first, length } = windowAround(parts, target);
  const logs = { re: new Float64Array(length), im: new Float64Array(length) };
  let base = 0;
  let logScale = 0;
  for (const part of parts) {
    const { origin, logTotal } = addLogTransform(logs, part, tilt);
    base += part.times * origin;
    logScale += part.times * logTotal;
  }
  // The inverse transform is that of the conjugate, divided by the length; weights are real, so half of it mirrors the
  // other.
  for (let k = 0; k <= length / 2; k++) {
    const logSize = logs.re[k] as number;
    const size = logSize < NOTHING ? 0 : Math.exp(logSize);
    const angle = size === 0 ? 0 : (logs.im[k] as number);
    logs.re[k] = size * Math.cos(angle);
    logs.im[k] = -size * Math.sin(angle);
    const mirror = (length - k) % length;
    logs.re[mirror] = logs.re[k] as number;
    if (mirror !== k) logs.im[mirror] = -(logs.im[k] as number);
  }
  transform(logs.re, logs.im);
  const weights = new Float64Array(length);
  const start = (((first - base) % length) + length) % length;
  for (let i = 0; i < length; i++) weights[i] = Math.max(0, (logs.re[(start + i) % length] as number) / length);
  return { first, weights, tilt, logScale };
}

/** The tilt for a target, and where the tilted sum then lies. */
function windowAround(parts: readonly Part[], wanted: number): { tilt: number; first: number; length: number } {
  const { least, most } = rangeOf(parts);
  const target = Math.min(Math.max(wanted, least), most);
  const tilt = tiltFor(parts, target);
  const { above, below } = reach(parts, tilt, target);
  return { tilt, ...windowOf(target, above, below) };
}

/** The range of the sum at a tilt, with room on both sides; and how far it spreads, but for e^{−45} on each side. */
export function windowAtTilt(
  parts: readonly Part[],
  tilt: number,
  room: number,
): { mean: number; first: number; length: number; spread: number } {
  const { mean } = momentsAt(parts, tilt);
  const { above, below } = reach(parts, tilt, mean);
  return { mean, ...windowOf(mean, above + room, below + room), spread: above + below };
}

function windowOf(target: number, above: number, below: number): { first: number; length: number } {
  let length = 2;
  while (length < above + below + 2 && length <= MOST_LENGTH) length *= 2;
  if (length > MOST_LENGTH) throw new RangeError("the sum spreads over more values than can be accounted for");
  return { first: Math.floor(target - below - (length - above - below) / 2), length };
}

/** Adds times·ln φ(2πk/N), k ≤ N/2, of the tilted part, counted from `origin`, to the logs. */
function addLogTransform(
  logs: { re: Float64Array; im: Float64Array },
  part: Part,
  tilt: number,
): { origin: number; logTotal: number } {
  const length = logs.re.length;
  const { weights, logTotal } = tilted(part, tilt);
  let peak = 0;
  for (let i = 1; i < weights.length; i++) if ((weights[i] as number) > (weights[peak] as number)) peak = i;
  const re = new Float64Array(length);
  const im = new Float64Array(length);
  let others = 0;
  for (let i = 0; i < weights.length; i++) {
    if (i === peak) continue;
    const index = (((i - peak) % length) + length) % length;
    re[index] = (re[index] as number) + (weights[i] as number);
    others += weights[i] as number;
  }
  re[0] = (re[0] as number) - others;
  transform(re, im);
  for (let k = 0; k <= length / 2; k++) {
    const x = re[k] as number;
    const y = im[k] as number;
    const logSize = x > -0.5 ? Math.log1p(x * (2 + x) + y * y) / 2 : Math.log(Math.hypot(1 + x, y));
    const total = (logs.re[k] as number) + part.times * logSize;
    logs.re[k] = total;
    if (total > NOTHING) logs.im[k] = (logs.im[k] as number) + part.times * Math.atan2(y, 1 + x);
  }
  return { origin: part.first + peak, logTotal };
}

/** p(x)·e^{θx}, normalised, and the logarithm of the total. */
export function tilted(
  { first, probabilities }: Distribution,
  tilt: number,
): { weights: Float64Array; logTotal: number } {
  let largest = Number.NEGATIVE_INFINITY;
  const weights = probabilities.map((p, i) => {
    const log = p > 0 ? Math.log(p) + tilt * (first + i) : Number.NEGATIVE_INFINITY;
    largest = Math.max(largest, log);
    return log;
  });
  let total = 0;
  for (let i = 0; i < weights.length; i++) {
    weights[i] = Math.exp((weights[i] as number) - largest);
    total += weights[i] as number;
  }
  for (let i = 0; i < weights.length; i++) weights[i] = (weights[i] as number) / total;
  return { weights, logTotal: largest + Math.log(total) };
}

/** Mean and logarithm of the moment generating function of the whole sum at a tilt. */
function momentsAt(parts: readonly Part[], tilt: number): { mean: number; logMoment: number } {
  let mean = 0;
  let logMoment = 0;
  for (const part of parts) {
    const { weights, logTotal } = tilted(part, tilt);
    let partMean = 0;
    for (let i = 0; i < weights.length; i++) partMean += (part.first + i) * (weights[i] as number);
    mean += part.times * partMean;
    logMoment += part.times * logTotal;
  }
  return { mean, logMoment };
}

/** The mean of the sum. */
export function meanOf(parts: readonly Part[]): number {
  return momentsAt(parts, 0).mean;
}

/** ln E[e^{θ·sum}]. */
export function logMomentOf(parts: readonly Part[], tilt: number): number {
  return momentsAt(parts, tilt).logMoment;
}

/** The tilt under which the mean is the target, roughly: any tilt is right, a good one keeps errors small. */
function tiltFor(parts: readonly Part[], target: number): number {
  const misses = (tilt: number): number => momentsAt(parts, tilt).mean - target;
  const sign = Math.sign(-misses(0)) || 1;
  let near = 0;
  let far = 1e-6;
  while (sign * misses(sign * far) < 0 && far < 1e3) {
    near = far;
    far *= 2;
  }
  for (let i = 0; i < 12; i++) {
    const middle = (near + far) / 2;
    if (sign * misses(sign * middle) < 0) near = middle;
    else far = middle;
  }
  return sign * near;
}

function rangeOf(parts: readonly Part[]): { least: number; most: number } {
  return {
    least: parts.reduce((sum, { first, times }) => sum + times * first, 0),
    most: parts.reduce((sum, { first, probabilities, times }) => sum + times * (first + probabilities.length - 1), 0),
  };
}

/**
 * How far the tilted sum strays from the target, but for e^{−45} [Chernoff]: the best of some steps h away from the
 * tilt.
 */
function reach(parts: readonly Part[], tilt: number, target: number): { above: number; below: number } {
  const { logMoment } = momentsAt(parts, tilt);
  const { least, most } = rangeOf(parts);
  let above = most - target;
  let below = target - least;
  for (let h = 1e-7; h < 100; h *= 1.6) {
    above = Math.min(above, (momentsAt(parts, tilt + h).logMoment - logMoment + FOLDED) / h - target);
    below = Math.min(below, (momentsAt(parts, tilt - h).logMoment - logMoment + FOLDED) / h + target);
  }
  return { above: Math.ceil(Math.max(0, above)), below: Math.ceil(Math.max(0, below)) };
}
