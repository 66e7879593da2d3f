import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { totalWeight } from "../discrete-gaussian.ts";
import {
  type Answers,
  aggregateDelta,
  aggregateEpsilon,
  composedDelta,
  composedEpsilon,
  createDiscreteGaussian,
  discreteGaussianVariance,
  gaussianDelta,
  gaussianEpsilon,
  localEpsilonFor,
  pureCharge,
  repeatedDelta,
  sigmaFor,
  THOROUGH,
} from "../index.ts";
import { aggregateCharge } from "./aggregate.ts";
import { responseSumDeltaAt } from "./response-sum.ts";

type Row = Readonly<Record<string, number>>;
interface Oracles {
  readonly rr_sum_delta: readonly Row[];
  readonly rr_eps_at_delta: readonly Row[];
  readonly best_eps0: readonly Row[];
  readonly best_eps0_krr: readonly Row[];
  readonly poisson_limit: readonly Row[];
  readonly krr_checks: readonly Row[];
  readonly discrete_gaussian: {
    readonly pmf: readonly Row[];
    readonly delta: readonly Row[];
    readonly calibration: readonly Row[];
  };
  readonly dg_sums: {
    readonly sum_of_n: readonly Row[];
    readonly dropout: readonly Row[];
    readonly naive_V_over_n: readonly Row[];
  };
  readonly composition: { readonly kov_rr_ldp: readonly Row[]; readonly agg_composition: readonly Row[] };
}

/** Computed elsewhere, in 50-digit arithmetic and by brute force; strings are decimals. */
const file = new URL("../../../vectors/privacy-oracles.json", import.meta.url);
const oracles = JSON.parse(readFileSync(file, "utf8"), (_, value) =>
  typeof value === "string" ? Number(value) : value,
) as Oracles;

/** All fields at once, each of which must be there. */
function fields<Name extends string>(row: Row, ...names: Name[]): Record<Name, number> {
  for (const name of names) expect(row[name], name).toBeTypeOf("number");
  return row as Record<Name, number>;
}

function expectRatio(value: number, reference: number, tolerance: number): void {
  expect(Math.abs(value / reference - 1)).toBeLessThanOrEqual(tolerance);
}

describe("sums of randomized responses", () => {
  it("δ is the worst over all datasets: never below it, and equal wherever the reference is certain", () => {
    let certain = 0;
    for (const row of oracles.rr_sum_delta) {
      const { n, eps0, eps, delta_worst, bnb_upper, bnb_evals } = fields(
        row,
        "n",
        "eps0",
        "eps",
        "delta_worst",
        "bnb_upper",
        "bnb_evals",
      );
      const { delta, bound } = aggregateDelta(n, eps0, eps);
      expect(delta).toBeGreaterThanOrEqual(delta_worst * (1 - 1e-12));
      if (bnb_evals < 3000) {
        certain++;
        expect(bound).toBe("exact");
        expectRatio(delta, delta_worst, 2e-6);
      } else expect(delta).toBeLessThan(bnb_upper * 1.003);
    }
    expect(certain).toBeGreaterThan(55);
  });

  it("ε at δ", () => {
    for (const row of oracles.rr_eps_at_delta) {
      const { n, eps0, delta, eps_worst_certified } = fields(row, "n", "eps0", "delta", "eps_worst_certified");
      expectRatio(aggregateEpsilon(n, eps0, delta).epsilon, eps_worst_certified, 1e-6);
    }
  });

  it("the largest ε₀, for counts and for histograms told bucket by bucket", () => {
    for (const row of oracles.best_eps0) {
      const { n, eps, delta, eps0_count, eps0_hist_unary } = fields(
        row,
        "n",
        "eps",
        "delta",
        "eps0_count",
        "eps0_hist_unary",
      );
      expect(Math.abs(localEpsilonFor(n, eps, delta) - eps0_count)).toBeLessThan(3e-7);
      const perBucket = localEpsilonFor(n, eps, delta, { mechanism: "per-bucket" }, THOROUGH);
      expect(Math.abs(perBucket / 2 - eps0_hist_unary)).toBeLessThan(2e-6);
    }
  });

  it("where all others hold the same, ε₀ tends to ln(n/μ*)", () => {
    for (const row of oracles.poisson_limit) {
      const { eps, delta, mu_star } = fields(row, "eps", "delta", "mu_star");
      expectRatio(responseSumDeltaAt([0], 1e9, Math.log(1e9 / mu_star), eps), delta, 1e-4);
    }
  });
});

describe("sums of K-ary responses", () => {
  it("the blanket bound, digit by digit, and never below brute force", () => {
    for (const row of oracles.krr_checks) {
      const { n, K, eps0, eps, delta_blanket_upper } = fields(row, "n", "K", "eps0", "eps", "delta_blanket_upper");
      const { delta, bound } = aggregateDelta(n, eps0, eps, { mechanism: "kary", buckets: K });
      expect(bound).toBe("upper");
      expectRatio(delta, delta_blanket_upper, 1e-9);
      for (const name of ["delta_exact_third_bucket_dataset", "delta_exact_worst_bruteforce"]) {
        const exact = row[name];
        if (exact !== undefined) expect(delta).toBeGreaterThanOrEqual(exact);
      }
    }
  });

  it("the largest ε₀", () => {
    for (const row of oracles.best_eps0_krr) {
      for (const buckets of [3, 8, 32]) {
        const { n, eps, delta, eps0_tol } = fields(row, "n", "eps", "delta", "eps0_tol");
        const reference = fields(row, `eps0_K${buckets}`)[`eps0_K${buckets}`] as number;
        const found = localEpsilonFor(n, eps, delta, { mechanism: "kary", buckets });
        expect(Math.abs(found - reference)).toBeLessThan(2 * eps0_tol + 1e-4 * reference);
      }
    }
  });
});

describe("discrete Gaussians", () => {
  it("probabilities and variance", () => {
    for (const row of oracles.discrete_gaussian.pmf) {
      const { sigma2 } = fields(row, "sigma2");
      const { x, pmf, variance, Z } = row;
      if (x !== undefined) expectRatio(Math.exp(-(x * x) / (2 * sigma2)) / totalWeight(sigma2), pmf as number, 1e-12);
      else {
        expectRatio(totalWeight(sigma2), Z as number, 1e-12);
        // The sampler's σ² is a multiple of 2⁻²⁰ above; these are multiples already.
        if (sigma2 >= 0.25)
          expectRatio(discreteGaussianVariance(createDiscreteGaussian(Math.sqrt(sigma2))), variance as number, 1e-12);
      }
    }
  });

  it("δ of one, and the least σ", () => {
    for (const row of oracles.discrete_gaussian.delta) {
      const { sigma2, k, eps, delta } = fields(row, "sigma2", "k", "eps", "delta");
      expectRatio(gaussianDelta({ sigma2, sensitivity: k, devices: 1 }, eps), delta, 1e-9);
    }
    for (const row of oracles.discrete_gaussian.calibration) {
      const { eps, delta, k, sigma2_exact_discrete } = fields(row, "eps", "delta", "k", "sigma2_exact_discrete");
      const sigma = sigmaFor(eps, delta, k) * k;
      expectRatio(sigma * sigma, sigma2_exact_discrete, 1e-6);
    }
  });

  it("δ of the sum of many, and the least σ each, also with devices missing", () => {
    for (const row of oracles.dg_sums.sum_of_n) {
      const { n, k, eps, delta_target, s2_per_device, exact_delta, exact_total_variance } = fields(
        row,
        "n",
        "k",
        "eps",
        "delta_target",
        "s2_per_device",
        "exact_delta",
        "exact_total_variance",
      );
      const sum = { sigma2: s2_per_device, sensitivity: k, devices: n };
      expect(Math.abs(gaussianDelta(sum, eps) - exact_delta)).toBeLessThan(1e-12);
      expectRatio(gaussianEpsilon(sum, delta_target), eps, 1e-6);
      const sigma = sigmaFor(eps, delta_target, k, n) * k;
      expectRatio(sigma * sigma, s2_per_device, 1e-6);
      expectRatio(n * discreteGaussianVariance(createDiscreteGaussian(sigma)), exact_total_variance, 1e-4);
    }
    for (const row of oracles.dg_sums.dropout) {
      const { n_planned, reporting, k, eps, s2_needed, delta_if_calibrated_for_all } = fields(
        row,
        "n_planned",
        "reporting",
        "k",
        "eps",
        "s2_needed",
        "delta_if_calibrated_for_all",
      );
      const devices = Math.round(n_planned * reporting);
      const sigma = sigmaFor(eps, 1e-6, k, devices) * k;
      expectRatio(sigma * sigma, s2_needed, 1e-6);
      const forAll = (sigmaFor(eps, 1e-6, k, n_planned) * k) ** 2;
      expectRatio(gaussianDelta({ sigma2: forAll, sensitivity: k, devices }, eps), delta_if_calibrated_for_all, 1e-6);
    }
  });

  it("V/n each adds up to almost no noise", () => {
    for (const row of oracles.dg_sums.naive_V_over_n) {
      const { n, s2, delta_at_eps1 } = fields(row, "n", "s2", "delta_at_eps1");
      expect(Math.abs(gaussianDelta({ sigma2: s2, sensitivity: 10, devices: n }, 1) - delta_at_eps1)).toBeLessThan(
        1e-6,
      );
    }
  });
});

describe("composition", () => {
  it("of the same randomized response, exactly, and by the general way from above", () => {
    for (const row of oracles.composition.kov_rr_ldp) {
      const { W, eps0, eps, delta } = fields(row, "W", "eps0", "eps", "delta");
      expectRatio(repeatedDelta(W, eps0, eps), delta, 1e-12);
      const composed = composedDelta([pureCharge(eps0, W)], eps);
      expect(composed).toBeGreaterThan(delta * (1 - 1e-9));
      expectRatio(composed, delta, 1e-3);
    }
  });

  it("of releases over windows", () => {
    const counts: Answers = { mechanism: "randomized-response" };
    for (const row of oracles.composition.agg_composition) {
      const { n, eps0, W, delta, eps_envelope_ctd } = fields(row, "n", "eps0", "W", "delta", "eps_envelope_ctd");
      const epsilon = composedEpsilon([aggregateCharge(n, eps0, counts, W)], delta);
      expect(Math.abs(epsilon - eps_envelope_ctd)).toBeLessThan(2e-3);
    }
  });
});
