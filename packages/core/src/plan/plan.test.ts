import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { bucketErrors, informationTheoreticError, responseError } from "../estimate/standard-error.ts";
import { parseTask, type Task } from "../message/index.ts";
import {
  aggregateDelta,
  aggregateEpsilon,
  composedEpsilon,
  gaussianDelta,
  INVALID_COUNT_EPSILON,
  pureCharge,
  repeatedDelta,
} from "../privacy/index.ts";
import { parametersFor, planMetric, planTask, type Question, reportingDevices } from "./index.ts";

type Row = Readonly<Record<string, number>>;
/** Computed elsewhere, in 50-digit arithmetic and by brute force. */
const oracles = JSON.parse(
  readFileSync(new URL("../../vectors/privacy-oracles.json", import.meta.url), "utf8"),
) as Readonly<
  Record<"best_eps0" | "best_eps0_krr" | "ldp_hist_variance_per_user" | "baseline_errors", readonly Row[]>
> & {
  readonly dg_sums: { readonly dropout: readonly Row[] };
};

const COMMON = { ticks: 288, edges: [0, 1, 2, 5], limit: 10 };
function ask(question: Partial<Question> & Pick<Question, "statistic" | "goal"> & { devices: number }): Question {
  return { ...COMMON, reporting: question.devices, ...question };
}

describe("errors", () => {
  it("of counts and buckets are those computed elsewhere", () => {
    for (const { n, eps0_count, std_count, eps0_hist_unary, std_hist_bucket } of oracles.best_eps0) {
      expect(responseError(n as number, eps0_count as number) / (std_count as number)).toBeCloseTo(1, 10);
      const { empty, full } = bucketErrors("per-bucket", n as number, 3, 2 * (eps0_hist_unary as number));
      expect(empty / (std_hist_bucket as number)).toBeCloseTo(1, 9);
      expect(full).toBeCloseTo(empty, 9);
    }
    for (const row of oracles.best_eps0_krr) {
      for (const buckets of [3, 8, 32]) {
        const { empty } = bucketErrors("kary", row.n as number, buckets, row[`eps0_K${buckets}`] as number);
        // The references round ε₀ to 10⁻⁴.
        expect(Math.abs(empty / (row[`std_empty_bucket_K${buckets}`] as number) - 1)).toBeLessThan(2e-4);
      }
    }
    for (const { eps, K, unary_sym_eps_half, oue, krr_empty_bucket } of oracles.ldp_hist_variance_per_user) {
      const variance = (name: "kary" | "unary" | "per-bucket"): number =>
        bucketErrors(name, 1, K as number, eps as number).empty ** 2;
      expect(variance("per-bucket") / (unary_sym_eps_half as number)).toBeCloseTo(1, 10);
      expect(variance("unary") / (oue as number)).toBeCloseTo(1, 10);
      expect(variance("kary") / (krr_empty_bucket as number)).toBeCloseTo(1, 10);
    }
  });

  it("of the information-theoretic alternative too, but never above guessing the middle", () => {
    for (const { eps, n, T, crypto_ldp_rmse, baseline_zero_vs_one_rmse, trivial_rmse } of oracles.baseline_errors) {
      const error = responseError(n as number, eps as number);
      expect(error / (crypto_ldp_rmse as number)).toBeCloseTo(1, 10);
      const expected = Math.min(baseline_zero_vs_one_rmse as number, trivial_rmse as number);
      expect(informationTheoreticError(error, T as number, n as number) / expected).toBeCloseTo(1, 10);
    }
  });

  it("on average over the buckets do not depend on where devices are", () => {
    for (const mechanism of ["kary", "unary", "per-bucket"] as const) {
      const { empty, full, average } = bucketErrors(mechanism, 1000, 4, 1);
      expect(average ** 2 * 4).toBeCloseTo(full ** 2 + 3 * empty ** 2, 6);
    }
  });
});

describe("planMetric", () => {
  it("finds the noise for a release, and the release for a noise, each other's inverse", () => {
    for (const statistic of ["occurrence", "histogram", "mean"] as const) {
      const there = planMetric(ask({ statistic, devices: 20_000, goal: { epsilon: 0.5, delta: 1e-8 } }));
      expect(there.epsilon).toBe(0.5);
      const mechanism = there.mechanism as "kary";
      const goal =
        statistic === "mean"
          ? { sigma: there.sigma as number, delta: 1e-8 }
          : { localEpsilon: there.localEpsilon, delta: 1e-8 };
      const back = planMetric(
        ask({ statistic, devices: 20_000, goal, ...(statistic === "histogram" && { mechanism }) }),
      );
      expect(back.epsilon).toBeLessThanOrEqual(0.5 * (1 + 1e-8));
      expect(back.epsilon).toBeGreaterThan(0.5 * (1 - 1e-4));
      expect(back.standardError).toBeCloseTo(there.standardError, 9);
      expect(back.localEpsilon / there.localEpsilon).toBeCloseTo(1, 6);
    }
  });

  it("counts only the devices that are sure to report for privacy, and all for the error", () => {
    const all = planMetric(ask({ statistic: "occurrence", devices: 10_000, goal: { epsilon: 1, delta: 1e-6 } }));
    const some = planMetric(
      ask({ statistic: "occurrence", devices: 10_000, reporting: 8000, goal: { epsilon: 1, delta: 1e-6 } }),
    );
    expect(some.localEpsilon).toBeLessThan(all.localEpsilon);
    expect(aggregateDelta(8000, some.localEpsilon, 1).delta).toBeLessThanOrEqual(1e-6);
    expect(some.standardError).toBeCloseTo(responseError(10_000, some.localEpsilon), 9);
    for (const { n_planned, reporting, k, s2_needed, rmse_if_all_report } of oracles.dg_sums.dropout) {
      const devices = n_planned as number;
      const { sigma, standardError } = planMetric(
        ask({
          statistic: "mean",
          devices,
          reporting: reportingDevices(devices, 1 - (reporting as number)),
          limit: k as number,
          goal: { epsilon: 1, delta: 1e-6 },
        }),
      );
      expect(((sigma as number) * (k as number)) ** 2 / (s2_needed as number)).toBeCloseTo(1, 6);
      expect((standardError * devices) / (rmse_if_all_report as number)).toBeCloseTo(1, 4);
    }
  });

  it("picks the mechanism with the least error, or the one that is named", () => {
    const goal = { epsilon: 1, delta: 1e-6 };
    const errors = (["kary", "unary", "per-bucket"] as const).map((mechanism) => {
      const plan = planMetric(ask({ statistic: "histogram", devices: 5000, goal, mechanism }));
      expect(plan.mechanism).toBe(mechanism);
      return { mechanism, ...bucketErrors(mechanism, 5000, 4, plan.localEpsilon) };
    });
    const best = errors.reduce((least, candidate) => (candidate.average < least.average ? candidate : least));
    expect(planMetric(ask({ statistic: "histogram", devices: 5000, goal })).mechanism).toBe(best.mechanism);
    // At a given ε₀ it is the device's choice.
    const local = { localEpsilon: 1, delta: 1e-6 };
    expect(planMetric(ask({ statistic: "histogram", devices: 50, goal: local })).mechanism).toBe("kary");
    const edges = Array.from({ length: 11 }, (_, i) => i);
    expect(planMetric(ask({ statistic: "histogram", devices: 50, goal: local, edges })).mechanism).toBe("unary");
  });

  it("what stands out has a 95% interval without zero, and one less has not", () => {
    const { detectable, standardError } = planMetric(
      ask({ statistic: "occurrence", devices: 10_000, goal: { localEpsilon: 1, delta: 1e-6 } }),
    );
    expect(detectable).toBe(189);
    expect(189 - 1.96 * standardError).toBeGreaterThan(0);
    expect(188 - 1.959 * standardError).toBeLessThan(0.1);
  });

  it("what is built never costs more than planned, and errs little more", () => {
    for (const [statistic, goal] of [
      ["occurrence", { localEpsilon: 1, delta: 1e-6 }],
      ["occurrence", { epsilon: 1, delta: 1e-6 }],
      ["histogram", { epsilon: 1, delta: 1e-6 }],
      ["mean", { epsilon: 1, delta: 1e-6 }],
      ["mean", { localEpsilon: 3, delta: 1e-9 }],
    ] as const) {
      const { spec, localEpsilon, standardError, delta } = planMetric(
        ask({ statistic, hides: 0, devices: 3000, goal }),
      );
      for (const scheme of ["lattice", "elgamal"] as const) {
        const parameters = parametersFor(spec, 3000, delta, scheme);
        expect(parameters.scheme).toBe(scheme);
        expect(parameters.localEpsilon).toBeLessThanOrEqual(localEpsilon * (1 + 1e-9));
        expect(parameters.standardError).toBeLessThanOrEqual(1.05 * standardError);
        expect(parameters.standardError).toBeGreaterThan(0.999 * standardError);
      }
    }
  });

  it("takes ElGamal where no lattice can: many ticks, or hardly any noise", () => {
    const long = planMetric(
      ask({ statistic: "histogram", devices: 100, ticks: 50_000, goal: { localEpsilon: 1, delta: 1e-6 } }),
    );
    expect(parametersFor(long.spec, 100, 1e-6).scheme).toBe("elgamal");
    const weak = planMetric(ask({ statistic: "occurrence", devices: 1e9, goal: { epsilon: 2, delta: 1e-2 } }));
    expect(weak.localEpsilon).toBeGreaterThan(17);
    expect(parametersFor(weak.spec, 100, 1e-6).scheme).toBe("elgamal");
    expect(() => parametersFor(weak.spec, 100, 1e-6, "lattice")).toThrow("localEpsilon");
  });

  it("nonsense is refused, naming the field", () => {
    const goal = { localEpsilon: 1, delta: 1e-6 };
    const occurrence = { statistic: "occurrence", goal, devices: 10 } as const;
    for (const [field, question] of [
      ["devices", { ...occurrence, devices: 0 }],
      ["ticks", { ...occurrence, ticks: 0 }],
      ["localEpsilon", { ...occurrence, goal: { localEpsilon: -1, delta: 0.1 } }],
      ["epsilon", { ...occurrence, goal: { epsilon: 0, delta: 0.1 } }],
      ["delta", { ...occurrence, goal: { epsilon: 1, delta: 1 } }],
      ["edges", { statistic: "histogram", goal, devices: 10, edges: [0, 3, 2] }],
      ["limit", { statistic: "mean", goal, devices: 10, limit: 0 }],
      ["sigma", { statistic: "mean", goal: { sigma: 0, delta: 0.1 }, devices: 10 }],
    ] as const) {
      expect(() => planMetric(ask(question)), field).toThrow(new RegExp(`^${field} `));
    }
    expect(() => reportingDevices(10, 1)).toThrow("missing is");
    expect(reportingDevices(10, 0.1)).toBe(9);
    expect(reportingDevices(1000, 0.9995)).toBe(1);
  });
});

describe("planTask", () => {
  const metrics = [
    { name: "export.failed", statistic: "occurrence", localEpsilon: 1 },
    { name: "import.failed", statistic: "occurrence", localEpsilon: 1 },
    { name: "export.clicks", statistic: "histogram", edges: [0, 1, 2, 5], localEpsilon: 1, eventsPerTick: 1 },
    { name: "tabs.opened", statistic: "mean", limit: 10, sigma: 2, eventsPerTick: 1 },
  ];
  const taskOf = (...chosen: object[]): Task =>
    parseTask(
      JSON.stringify({
        version: 1,
        task: "editor-health",
        tickSeconds: 300,
        ticks: 288,
        hides: 0,
        graceSeconds: 0,
        mode: "one-server",
        scheme: "lattice",
        minimumDevices: 1000,
        metrics: chosen,
      }),
    );
  const price = (task: Task, windows = 1) => planTask({ task, devices: 5000, missing: 0, delta: 1e-6, windows });

  it("asks nothing more of a device that is in one of several groups, of the same least size", () => {
    const task = taskOf(metrics[0] as object, metrics[3] as object);
    expect(price({ ...task, groups: ["stable", "beta", "canary"] }, 3)).toEqual(price(task, 3));
  });

  it("prices every metric as planMetric does, on the least number of reports", () => {
    const plan = price(taskOf(...metrics));
    expect(plan.metrics.map(({ name }) => name).sort()).toEqual(metrics.map(({ name }) => name).sort());
    const failed = plan.metrics.find(({ name }) => name === "import.failed");
    expect(failed?.epsilon).toBeCloseTo(aggregateEpsilon(1000, 1, 1e-6).epsilon, 6);
    expect(failed?.standardError).toBeCloseTo(responseError(5000, 1), 9);
    const mean = plan.metrics.find(({ name }) => name === "tabs.opened");
    expect(gaussianDelta({ sigma2: 400, sensitivity: 10, devices: 1000 }, mean?.epsilon as number)).toBeLessThanOrEqual(
      1e-6,
    );
    expect(plan.parameters.map(({ metrics: names }) => names.length)).toEqual([2, 1, 1]);
    expect(plan.stateBytes).toBeGreaterThan(40_000);
  });

  it("the total is at least every part, at most their sum, and counts the noised invalid count", () => {
    const { metrics: parts, perWindow } = price(taskOf(...metrics));
    const { local, aggregate } = perWindow;
    for (const part of parts) {
      expect(aggregate.epsilon).toBeGreaterThan(part.epsilon);
      expect(local.epsilon).toBeGreaterThanOrEqual(part.localEpsilon);
    }
    expect(aggregate.epsilon).toBeLessThan(parts.reduce((sum, { epsilon }) => sum + epsilon, INVALID_COUNT_EPSILON));
    expect(local.epsilon).toBeLessThan(parts.reduce((sum, { localEpsilon }) => sum + localEpsilon, 0));
    expect(local.sum).toBeUndefined();
  });

  it("of randomized responses alone it is the exact composition, and the plain sum is stated too", () => {
    const { perWindow, total } = price(taskOf(...metrics.slice(0, 2)), 30);
    expect(perWindow.local.sum).toBe(2);
    expect(perWindow.local.epsilon).toBeLessThanOrEqual(2);
    expect(total.windows).toBe(30);
    expect(total.local.sum).toBe(60);
    expect(repeatedDelta(60, 1, total.local.epsilon)).toBeLessThanOrEqual(1e-6);
    expect(total.local.epsilon).toBeLessThan(56);
    const count = composedEpsilon([pureCharge(INVALID_COUNT_EPSILON, 30)], 1e-6);
    expect(total.aggregate.epsilon).toBeGreaterThan(count);
  });
});
