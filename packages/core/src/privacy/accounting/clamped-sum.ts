import { type DiscreteGaussian, totalWeight } from "../discrete-gaussian.ts";
import { type Coin, logBinomial, reachOf } from "./binomial.ts";
import { boundedEpsilon, type Charge } from "./composition.ts";
import type { GaussianSum } from "./gaussian-sum.ts";
import { logConcaveSumDelta, MOST_TRANSFORMED } from "./log-concave-sum.ts";
import type { Part } from "./tilted-sum.ts";

/** A sum of noisy values, each of which the server clamps to `clamp` beyond what it could be without noise. */
export interface ClampedSum extends GaussianSum {
  readonly clamp: number;
}

/** How far beyond the true range an answer is believed: 4σ. Clamping there moves a mean by less than 10⁻⁵·σ. */
export function clampOf({ sigma2 }: Pick<DiscreteGaussian, "sigma2">): number {
  return Math.ceil(4 * Math.sqrt(sigma2));
}

/**
 * δ(ε) of releasing a sum of clamped answers, from above; the noise is that of `devices` honest devices, whatever they
 * hold.
 *
 * A device whose noise is at most `clamp` is not clamped, and that happens with the same probability w for every value
 * that it holds. Give away the answers of all others. The rest hides the difference: the sum of M truncated Gaussians,
 * M = Bin(devices, w), and
 *   δ ≤ E[δ_M] ≤ δ_{n−l₀} + Pr[L > l₀]·δ_{n−l₁} + Pr[L > l₁]·δ_{n−l₂} + …, L = n − M, l₀ < l₁ < …,
 * since more noise never raises δ. The difference itself is at most `sensitivity`, clamped or not.
 */
export function clampedDelta(sum: ClampedSum, epsilon: number): number {
  if (sum.devices === 0) return 1;
  const devices = Math.min(sum.devices, MOST_DEVICES);
  const { part, step, weight } = truncatedPart(sum);
  const moved = Math.ceil(sum.sensitivity / step);
  const deltaOf = (times: number): number =>
    times < 1 ? 1 : logConcaveSumDelta({ ...part, times }, moved, Math.min(epsilon, MOST_TRANSFORMED));
  const lost: Coin = { heads: 1 - weight, tails: weight };
  let share = 1;
  let delta = 0;
  for (const left of LEFT_TO_CHANCE) {
    const most = quantile(devices, lost, left);
    delta += share * deltaOf(devices - most);
    share = left;
    if (share <= 1e-6 * delta) break;
  }
  return Math.min(1, (delta + share) * (1 + 1e-9));
}

/** Of more the sum has too many values; leaving some out only raises δ. */
const MOST_DEVICES = 5e8;

/** With these probabilities more devices are lost than are counted with. */
const LEFT_TO_CHANCE = [1e-2, 1e-4, 1e-8, 1e-13, 1e-22] as const;

/** The least l with Pr[Bin(n, coin) > l] ≤ left; or a little more. */
function quantile(n: number, coin: Coin, left: number): number {
  const mean = n * coin.heads;
  // Beyond the mean each term is smaller than that before by a ratio that falls: the tail is at most a geometric
  // series.
  let l = Math.max(0, Math.floor(mean - 1));
  const most = Math.min(n, Math.ceil(mean + reachOf(mean * coin.tails)));
  for (; l < most; l++) {
    if (l + 1 <= mean) continue;
    const ratio = ((n - l - 1) / (l + 2)) * (coin.heads / coin.tails);
    if (ratio < 1 && Math.exp(logBinomial(n, coin, l + 1)) / (1 - ratio) <= left) break;
  }
  return l;
}

/** How many steps of the grid a standard deviation has at least. */
const FINENESS = 30;

/**
 * The noise up to the clamp, in steps of g, and the probability w of it. For g = 1 it is the Gaussian, truncated. Wide
 * noise is z = g·u + v, 0 ≤ v < g: for every v its probability is at least c(u), that of the v farthest from 0, so with
 * probability w = g·Σc the pair is (u, v) with u drawn from c/Σc and v uniform and independent. Give away v of every
 * device, and of one device, under the other hypothesis, v + Δ modulo g, which is uniform too: the sums modulo g are
 * then the same, and what is left are sums of u that differ by ⌊Δ/g⌋ or ⌈Δ/g⌉. c is log-concave.
 */
function truncatedPart({ sigma2, clamp }: ClampedSum): { part: Omit<Part, "times">; step: number; weight: number } {
  const step = Math.max(1, Math.floor(Math.sqrt(sigma2) / FINENESS));
  const total = totalWeight(sigma2);
  const first = -Math.floor(clamp / step);
  const last = Math.floor((clamp - step + 1) / step);
  const probabilities = Float64Array.from({ length: last - first + 1 }, (_, i) => {
    const u = first + i;
    const farthest = u < 0 ? step * u : step * u + step - 1;
    return Math.exp(-(farthest * farthest) / (2 * sigma2)) / total;
  });
  const together = probabilities.reduce((sum, probability) => sum + probability, 0);
  return {
    part: { first, probabilities: probabilities.map((probability) => probability / together) },
    step,
    weight: Math.min(1, step * together * (1 - 1e-12)),
  };
}

/** What a release of such a sum costs honest devices, to be added up with others. */
export function clampedCharge(sum: ClampedSum, times = 1): Charge {
  return { times, delta: (epsilon) => clampedDelta(sum, epsilon), least: clampedDelta(sum, MOST_TRANSFORMED) };
}

/** The least ε at δ, from above; infinite if there is none. */
export function clampedEpsilon(sum: ClampedSum, delta: number): number {
  return boundedEpsilon([clampedCharge(sum)], delta);
}
