/**
 * The cost of a device's answers over time, in closed forms that a device computes by itself in microseconds: the
 * accountant of `composition.ts` is sharper, but too large and too slow for devices. The operator is whom the local
 * guarantee protects from, so no figure of the operator is trusted, and the bounds hold for questions that are chosen
 * after earlier answers were seen. Proofs: docs/privacy.md, "A budget per device over time".
 */

/** What a device may spend: (ε, 10⁻⁶) in any period of this many days. */
export interface Budget {
  readonly epsilon: number;
  readonly days: number;
}

/** The total δ of a budget, in any period. */
export const BUDGET_DELTA = 1e-6;

/**
 * The cost of answers, in billionths, rounded up: the ε of all that have one without δ, the ρ of the same answers, and
 * the ρ of Gaussian ones (ρ-zero-concentrated differential privacy [BS16]: at every order α the Rényi divergence is at
 * most α·ρ). Costs of several answers are added up part by part.
 *
 * [BS16] Bun, Steinke, Concentrated differential privacy: simplifications, extensions, and lower bounds, 2016.
 */
export type Cost = readonly [pure: number, pureRho: number, gaussianRho: number];

const UNIT = 1e9;
/** In units; more than any budget, and the sum of a thousand of them is still exact. */
const MOST_COST = 1e12;
/** Budgets are below this ε, so that what costs more, or is NaN, never fits. */
export const MOST_BUDGET_EPSILON = 100;
/** Ten years. */
export const MOST_BUDGET_DAYS = 3660;
/** A hair, for rounding in doubles. */
const HAIR = 1e-12;

const units = (cost: number): number => (cost * UNIT <= MOST_COST ? Math.ceil(cost * UNIT) : MOST_COST);

/** Of an ε-differentially private answer: it has ρ = ε·tanh(ε/2), which is at most ε²/2. */
export function pureCost(epsilon: number): Cost {
  return [units(epsilon), units(epsilon * Math.tanh(epsilon / 2) * (1 + HAIR)), 0];
}

/**
 * Of discrete Gaussian noise with this σ, in units of what one device can change a figure by, in this number of figures
 * [CKS20]: ρ = figures/2σ².
 */
export function gaussianCost(sigma: number, figures = 1): Cost {
  return [0, 0, units((figures / (2 * sigma * sigma)) * (1 + HAIR))];
}

/** Of all of them together, each as often as `times` says. */
export function sumOfCosts(costs: readonly Cost[], times = 1): Cost {
  const sum: [number, number, number] = [0, 0, 0];
  for (const cost of costs) for (const i of [0, 1, 2] as const) sum[i] += times * cost[i];
  return sum;
}

/** How much a device may spend, as Rényi divergence of an order. */
interface Limit {
  readonly order: number;
  readonly most: number;
}

/** The order that allows most Gaussian noise gets most of δ; higher orders are for mixtures with pure answers. */
const SHARES = [0.7, 0.1, 0.1, 0.1];

/** The largest divergence of order 1 + `above` that is (ε, δ) [CKS20]. */
function limitOf(epsilon: number, above: number, delta: number): Limit {
  const order = 1 + above;
  const most = epsilon + (Math.log(delta) + Math.log(above) - order * Math.log1p(-1 / order)) / above;
  return { order, most: UNIT * most * (1 - HAIR) - 1 };
}

/** Fixed by ε alone: were they chosen by what answers cost, an operator could choose with them. */
function limitsOf(epsilon: number): Limit[] {
  const rhoAt = (above: number): number => {
    const { order, most } = limitOf(epsilon, above, BUDGET_DELTA * (SHARES[0] as number));
    return most / order;
  };
  let best = 1 / 8;
  for (let above = best; above < 1e6; above *= 1.1) if (rhoAt(above) > rhoAt(best)) best = above;
  return SHARES.map((share, i) => limitOf(epsilon, best * 2 ** i, share * BUDGET_DELTA));
}

/**
 * Whether all answers of a period together, of this cost, are (ε, 10⁻⁶)-differentially private, even if each was asked
 * for after the earlier ones were seen. False for an ε out of range and for NaN.
 */
export function isWithinBudget(epsilon: number, [pure, pureRho, gaussianRho]: Cost): boolean {
  if (!(epsilon > 0 && epsilon <= MOST_BUDGET_EPSILON)) return false;
  if (gaussianRho === 0 && pure <= Math.floor(epsilon * UNIT)) return true;
  return limitsOf(epsilon).some(({ order, most }) => Math.min(order * pureRho, pure) + order * gaussianRho <= most);
}

/** The least ε of a budget that such a cost is within, rounded up to a thousandth; infinite if there is none. */
export function budgetFor(cost: Cost): number {
  let [most, least] = [MOST_BUDGET_EPSILON * 1000, 0];
  if (!isWithinBudget(most / 1000, cost)) return Number.POSITIVE_INFINITY;
  while (most - least > 1) {
    const middle = Math.floor((most + least) / 2);
    if (isWithinBudget(middle / 1000, cost)) most = middle;
    else least = middle;
  }
  return most / 1000;
}
