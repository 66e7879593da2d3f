/**
 * The last state of a pan-private counter without cryptography: a count of T randomized bits, of which all stand for
 * "no event", or all but one. Whatever else such a counter keeps, its output is a function of this count [paper,
 * lem:tv_small].
 */
export interface FinalCount {
  /** Bin(T, p): Pr[count = m] for m from 0 to T. */
  readonly without: Float64Array;
  /** Bin(T−1, p) + Bernoulli(1−p). */
  readonly withEvent: Float64Array;
}

/** Both distributions after T ticks; `flip` is the probability of a wrong bit. */
export function finalCount(ticks: number, flip: number): FinalCount {
  const others = binomial(ticks - 1, flip);
  return { without: afterAnotherTick(others, flip), withEvent: afterAnotherTick(others, 1 - flip) };
}

/** Half the sum of all |differences|, added term by term, without a formula. */
export function totalVariationOf({ without, withEvent }: FinalCount): number {
  return compensatedSum(without.map((mass, m) => Math.abs(mass - (withEvent[m] as number)))) / 2;
}

/**
 * By ratios of neighbours from the most likely count outwards, then normalised: no factorials, and no logarithms to
 * round.
 */
function binomial(n: number, p: number): Float64Array {
  const mode = Math.min(n, Math.floor((n + 1) * p));
  const odds = p / (1 - p);
  const weights = new Float64Array(n + 1);
  weights[mode] = 1;
  for (let m = mode; m < n; m++) weights[m + 1] = (weights[m] as number) * ((n - m) / (m + 1)) * odds;
  for (let m = mode; m > 0; m--) weights[m - 1] = ((weights[m] as number) * (m / (n - m + 1))) / odds;
  const total = compensatedSum(weights);
  return weights.map((weight) => weight / total);
}

/** The count grows by one with this probability. */
function afterAnotherTick(counts: Float64Array, grows: number): Float64Array {
  return Float64Array.from(
    { length: counts.length + 1 },
    (_, m) => (1 - grows) * (counts[m] ?? 0) + grows * (counts[m - 1] ?? 0),
  );
}

/** A sum that also adds up what rounding loses at every addition [Neumaier 1974]. */
function compensatedSum(values: Float64Array): number {
  let sum = 0;
  let lost = 0;
  for (const value of values) {
    const next = sum + value;
    lost += Math.abs(sum) >= Math.abs(value) ? sum - next + value : value - next + sum;
    sum = next;
  }
  return sum + lost;
}
