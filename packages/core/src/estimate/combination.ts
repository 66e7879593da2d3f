import { projectToHistogram } from "./consistent.ts";
import { type Estimate, normalEstimate } from "./estimate.ts";

/** How devices tell categories, of which each is in one. */
export interface CategoryResponse {
  /** The probabilities that a device names its own category, and another one. */
  readonly ifOwn: number;
  readonly ifOther: number;
  /** Whether a device names exactly one category; else it tells a bit for each, independently. */
  readonly namesOne: boolean;
}

/**
 * Σ w_k·n_k for the numbers n_k of devices in each category, from how often each category was named, with the error
 * that follows from the joint distribution of all estimates. With a slope s = ifOwn − ifOther and q = ifOther, n_k is
 * estimated as (told_k − n·q)/s. Devices tell independently of each other. If a device of category k names one
 * category, the weight W that it names has E[W] = q·Σw + s·w_k and E[W²] = q·Σw² + s·w_k², so it adds
 * (E[W²] − E[W]²)/s² to the variance. If it tells bits, the variances of the bits add up. The n_k in both are the
 * nearest that could be true.
 */
export function estimateCombination(
  { ifOwn, ifOther, namesOne }: CategoryResponse,
  told: readonly number[],
  devices: number,
  weights: readonly number[],
): Estimate {
  const slope = ifOwn - ifOther;
  const counts = told.map((each) => (each - devices * ifOther) / slope);
  const likely = projectToHistogram(counts, devices);
  const [sum, squares] = [weights, weights.map((weight) => weight ** 2)].map(addUp) as [number, number];
  const variances = likely.map((count, k) => {
    const weight = weights[k] as number;
    if (namesOne) {
      const mean = ifOther * sum + slope * weight;
      return count * (ifOther * squares + slope * weight ** 2 - mean ** 2);
    }
    return weight ** 2 * (count * ifOwn * (1 - ifOwn) + (devices - count) * ifOther * (1 - ifOther));
  });
  const estimate = addUp(counts.map((count, k) => count * (weights[k] as number)));
  return normalEstimate(estimate, Math.sqrt(Math.max(0, addUp(variances))) / slope);
}

function addUp(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
