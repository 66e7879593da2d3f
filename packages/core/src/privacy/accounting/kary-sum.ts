import { type Coin, logBinomial, lowerPart, reachOf } from "./binomial.ts";
import { millsRatio } from "./normal-tail.ts";

/**
 * An upper bound of δ(ε) for releasing the counts of n K-ary responses: the privacy blanket [BBGN19].
 *
 * Each of the others answers uniformly with probability Kκ, κ = 1/(e^ε₀+K−1), whatever they hold; give away the other
 * answers, and who they were. With B people in the blanket, the person included, and h_i of their answers in bucket i,
 * uniform answers are as likely as others up to the factor (1−w) + w·K·h_i/B, so for a move from bucket i to j
 *   δ ≤ E[(1−w)(1−e^ε) + (wK/B)(h_i − e^ε·h_j)]₊, B − 1 = Bin(n−1, Kκ), h uniform multinomial.
 * Since Pr[Bin(n−1, π) = B−1]/B = Pr[Bin(n, π) = B]/(nπ) and 1−w = Kκ = π, this is E[X]₊/(nπ) with
 *   X = wK(h_i − e^ε·h_j) − π(e^ε−1)(h_i + h_j + r)
 * over n independent people, each in bucket i or j with probability κ, in another (r) with probability (K−2)κ.
 *
 * Summed over s = h_i + h_j; given s, h_i is Bin(s, ½) and r is Bin(n−s, ρ). Nearly all h_i count for all r or for
 * none.
 *
 * [BBGN19] Balle, Bell, Gascón, Nissim, The privacy blanket of the shuffle model, 2019.
 */
export function karySumDelta(
  devices: number,
  buckets: number,
  localEpsilon: number,
  epsilon: number,
  mostSpread: number = MOST_SPREAD,
): number {
  if (localEpsilon <= epsilon) return 0;
  const e0 = Math.exp(localEpsilon);
  const kappa = 1 / (e0 + buckets - 1);
  const keep = (e0 - 1) * kappa;
  const blanket: Blanket = {
    devices,
    kappa,
    pair: { heads: 2 * kappa, tails: (e0 + buckets - 3) * kappa },
    rest: { heads: (buckets - 2) / (e0 + buckets - 3), tails: (e0 - 1) / (e0 + buckets - 3) },
    spare: (Math.exp(epsilon) * Math.expm1(localEpsilon - epsilon)) / (e0 - 1),
    cost: 1 + Math.exp(epsilon),
    charge: Math.expm1(epsilon) / (e0 - 1),
  };
  const few = Math.floor(mostSpread ** 2 / (blanket.pair.heads * blanket.pair.tails));
  const delta = (excess: number, people: number): number => (keep * excess) / (people * kappa);
  if (devices <= few) return delta(exactExcess(blanket), devices);
  const bound = Math.min(1, delta(excessFromAbove(blanket), devices));
  // Fewer devices only raise δ; close to the limit the exact value for fewer is the better bound.
  return devices < 2 * few ? Math.min(bound, delta(exactExcess({ ...blanket, devices: few }), few)) : bound;
}

/** The standard deviation of s = h_i + h_j up to which the sum is computed term by term, in milliseconds. */
const MOST_SPREAD = 150;

/**
 * X in units of wK is h_i − e^ε·h_j − charge·(s + r), charge = (e^ε−1)/(e^ε₀−1); with h_i = s − h_j it is spare·s −
 * cost·h_j − charge·r, where spare = 1 − charge and cost = 1 + e^ε. Nothing cancels in it where ε is close to ε₀.
 */
interface Blanket {
  readonly devices: number;
  readonly kappa: number;
  /** Of a person: in bucket i or j. */
  readonly pair: Coin;
  /** Of a person who is not in these: in another bucket of the blanket. */
  readonly rest: Coin;
  readonly spare: number;
  readonly cost: number;
  readonly charge: number;
}

/** E[X]₊, summed over s = h_i + h_j. */
function exactExcess({ devices, pair, rest, spare, cost, charge }: Blanket): number {
  const mean = devices * pair.heads;
  const reach = reachOf(mean * pair.tails);
  const first = Math.max(1, Math.floor(mean - reach));
  const last = Math.min(devices, Math.ceil(mean + reach));
  const restReach = reachOf(devices * rest.heads * rest.tails);
  let probability = Math.exp(logBinomial(devices, pair, first));
  let sum = 0;
  for (let s = first; s <= last; s++) {
    sum += probability * excessGiven(s, devices - s, rest, restReach, spare * s, cost, charge);
    probability *= ((devices - s) / (s + 1)) * (pair.heads / pair.tails);
  }
  return sum;
}

/**
 * E[X]₊ from above for large spreads, where X is nearly normal. Tilted by θ, with the mean at 0,
 *   E[X]₊ = M(θ)ⁿ·E_θ[g(X)], g(x) = x₊·e^{−θx},
 * and g rises to 1/(eθ) and falls, so E_θ g differs from the normal's by at most 2/(eθ) times the distance of the
 * distribution functions, which is at most 0.4748·ρ/(σ³√n) [Shevtsova, On the absolute constants in the Berry–Esseen
 * type inequalities, 2011]. For the normal, E g = (s/√2π)(1 − a·m(a)) with s = σ√n, a = θs and m the Mills ratio.
 */
function excessFromAbove({ devices, kappa, pair, rest, spare, cost, charge }: Blanket): number {
  const values: readonly (readonly [value: number, probability: number])[] = [
    [spare, kappa],
    [spare - cost, kappa],
    [-charge, rest.heads * pair.tails],
    [0, rest.tails * pair.tails],
  ];
  /** E[f(x)·e^{θx}] of one person's term. */
  const moment = (theta: number, f: (x: number) => number): number =>
    values.reduce((sum, [x, probability]) => sum + probability * f(x) * Math.exp(theta * x), 0);
  let low = 0;
  let theta = 1;
  while (moment(theta, (x) => x) < 0) theta *= 2;
  for (let high = theta, i = 0; i < 60; i++) {
    theta = (low + high) / 2;
    if (moment(theta, (x) => x) < 0) low = theta;
    else high = theta;
  }
  const logMoment = Math.log1p(values.reduce((sum, [x, p]) => sum + p * Math.expm1(theta * x), 0));
  const scale = Math.exp(logMoment);
  const sigma = Math.sqrt(moment(theta, (x) => x * x) / scale);
  const third = moment(theta, (x) => Math.abs(x) ** 3) / scale;
  const spread = sigma * Math.sqrt(devices);
  const normal = (spread / Math.sqrt(2 * Math.PI)) * (1 - theta * spread * millsRatio(theta * spread));
  const distance = (0.4748 * third) / (sigma ** 3 * Math.sqrt(devices));
  const tilted = Math.exp(devices * logMoment) * (normal + (distance * 2) / (Math.E * theta));
  // For small ε better: [X]₊ = (X + |X|)/2, and E|X| ≤ √E[X²].
  const mean = devices * moment(0, (x) => x);
  const variance = devices * (moment(0, (x) => x * x) - (mean / devices) ** 2);
  return Math.min(tilted, (mean + Math.sqrt(mean * mean + variance)) / 2);
}

const FAIR: Coin = { heads: 0.5, tails: 0.5 };

/** E[most − cost·h − charge·r]₊ for h = Bin(s, ½) and r = Bin(people, coin), which strays at most by `reach`. */
function excessGiven(
  s: number,
  people: number,
  coin: Coin,
  reach: number,
  most: number,
  cost: number,
  charge: number,
): number {
  const mean = people * coin.heads;
  const low = Math.max(0, Math.floor(mean - reach));
  const high = Math.min(people, Math.ceil(mean + reach));
  // From here down h counts for some r, and up to `whole` for all.
  const start = Math.min(s, Math.floor((most - charge * low) / cost));
  const whole = Math.floor((most - charge * high) / cost);
  if (start < 0) return 0;
  let probability = Math.exp(logBinomial(s, FAIR, start));
  let sum = 0;
  for (let h = start; h >= 0; h--) {
    const net = most - cost * h;
    const term = probability * (h <= whole ? net - charge * mean : partOf(net));
    sum += term;
    if (h < s / 2 && h < whole && term < 1e-17 * sum) break;
    probability *= h / (s - h + 1);
  }
  return sum;

  /** E[net − charge·r]₊. */
  function partOf(net: number): number {
    if (charge === 0) return Math.max(0, net);
    const largest = Math.min(people, Math.ceil(net / charge) - 1);
    if (largest < 0) return 0;
    const part = lowerPart(people, coin, largest);
    return Math.max(0, net * part.probability - charge * part.mean);
  }
}
