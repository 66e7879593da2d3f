/** What samples can be summed: uniform elements of {−1, 0, 1}, or centred binomial samples of 42 bits. */
export type Summed = "ternary" | "binomial";

const LARGEST = 2 ** 31 - 1;
/** More than the error of 2³¹·Pr[|S| ≤ j], below. */
const ERROR = 2 ** -4;

/**
 * Bounds on the distribution of the magnitude of a sum S of `count` samples, for a search: entry j + 1 is an integer B_j
 * with B_j ≤ 2³¹·Pr[|S| ≤ j] < B_j + 2. Entry 0 is −2, less than anything that is searched for. The entries increase, and
 * the last ones are 2³¹ − 1; their number is a power of two.
 *
 * **Error.** Let ε = 2⁻⁵³, the relative error of one operation on doubles. All numbers are positive, so relative errors
 * add up: two for each step of binomial weights, three for each step of ternary ones, at most one for each addition. With
 * at most 4,096 steps and as many additions a sum of weights is within 2¹⁴·ε, the quotient of two within 2¹⁵·1.01·ε =
 * 2⁻³⁷·⁹, which is 2⁻⁶·⁹ of 2³¹. Binomial weights below 2⁻⁶⁰ are left out; those are less than 2⁻⁵⁰ together.
 */
export function sumBounds(kind: Summed, count: number): Int32Array {
  const weights = kind === "ternary" ? ternaryWeights(count) : binomialWeights(21 * count);
  // Every magnitude but 0 has two signs.
  let sum = -(weights[0] as number);
  const total = weights.reduce((all, weight) => all + 2 * weight, sum);
  const bounds = [-2];
  for (let j = 0; bounds[j] !== LARGEST; j++) {
    sum += 2 * (weights[j] as number);
    bounds.push(Math.floor((sum / total) * 2 ** 31 - ERROR));
  }
  return new Int32Array(2 ** Math.ceil(Math.log2(bounds.length))).fill(LARGEST).map((last, i) => bounds[i] ?? last);
}

/** In proportion to Pr[S = j], j = 0, 1, 2, …: C(2h, h + j) / C(2h, h), by the ratio of neighbours. */
function binomialWeights(h: number): number[] {
  const weights = [];
  for (let j = 0, weight = 1; weight > 2 ** -60; j++) {
    weights.push(weight);
    weight = (weight * (h - j)) / (h + j + 1);
  }
  return weights;
}

/** By the recurrence of `exact-sums.ts`. */
function ternaryWeights(count: number): number[] {
  const weights: number[] = [];
  let before = 0;
  let weight = 1;
  for (let k = 0; k <= count; k++) {
    weights.push(weight);
    [before, weight] = [weight, ((count - k) * weight + (2 * count - k + 1) * before) / (k + 1)];
    if (weight > 2 ** 900) {
      // Exact, but for weights that are nothing beside the others.
      const shrink = (each: number): number => each * 2 ** -900;
      [before, weight] = [shrink(before), shrink(weight)];
      weights.forEach((each, i) => {
        weights[i] = shrink(each);
      });
    }
  }
  return weights.reverse();
}
