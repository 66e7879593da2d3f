import { describe, expect, it } from "vitest";
import { bucketErrors, responseError } from "../estimate/standard-error.ts";
import { gaussianDelta, serverNoise, serverNoiseDelta } from "../privacy/index.ts";
import { createStatistic } from "../statistic/create.ts";
import { createTwoServerStatistic } from "../two-server/index.ts";
import { planMetric, planTwoServerMetric, type TwoServerQuestion } from "./index.ts";

const CONSECUTIVE = [0, 1, 2, 3];
const GROUPED = [0, 1, 2, 5];
const STATISTICS = ["occurrence", "histogram", "mean"] as const;

function ask(question: Partial<TwoServerQuestion> & Pick<TwoServerQuestion, "statistic" | "goal">): TwoServerQuestion {
  const devices = question.devices ?? 5000;
  return { ticks: 288, edges: CONSECUTIVE, limit: 10, devices, reporting: devices, ...question };
}

describe("planTwoServerMetric, against an intruder with one server's keys", () => {
  const goal = { localEpsilon: 1, delta: 1e-6 };
  const against = (question: Parameters<typeof ask>[0]) =>
    planTwoServerMetric({ ...ask(question), collusion: "one-server" });
  const MANY = Array.from({ length: 30 }, (_, edge) => edge);

  it("is one server's plan with K-ary response to the digit, however many categories there are", () => {
    const choice = { statistic: "choice", goal, options: ["pdf", "png"] } as const;
    const funnel = { statistic: "funnel", goal, steps: ["cart", "paid"], reporting: 4000 } as const;
    const histogram = { statistic: "histogram", goal, edges: MANY } as const;
    for (const question of [ask(choice), ask(funnel), ask(histogram), ask({ statistic: "occurrence", goal })]) {
      const asked = question.statistic === "occurrence" ? question : { ...question, mechanism: "kary" as const };
      const { spec, ...plan } = planMetric(asked);
      expect(against(question)).toEqual({
        ...plan,
        noise: "device",
        spec: { ...spec, noise: "device", collusion: "one-server" },
      });
    }
    expect(against(histogram).mechanism).toBe("kary");
    expect(planTwoServerMetric(ask(histogram)).mechanism).toBe("unary");
  });

  it("pays for a hijacked report as much as for any two categories", () => {
    const plan = against({ statistic: "histogram", goal });
    expect(plan.hijackedEpsilon).toBe(
      planMetric({ ...ask({ statistic: "histogram", goal }), mechanism: "kary" }).hijackedEpsilon,
    );
    expect(plan.hijackedEpsilon).toBeGreaterThan(plan.epsilon);
  });

  it("refuses noise of the servers, means and other mechanisms", () => {
    const sigma = { sigma: 4, delta: 1e-6 };
    for (const [question, message] of [
      [{ statistic: "occurrence", goal: sigma }, "noise is device where collusion is one-server"],
      [{ statistic: "occurrence", goal, noise: "servers" }, "noise is device where collusion is one-server"],
      [{ statistic: "mean", goal }, "statistic is one of occurrence, histogram, choice, funnel"],
      [{ statistic: "histogram", goal, mechanism: "unary" }, "mechanism is kary where collusion is one-server"],
    ] as const) {
      expect(() => against(question)).toThrow(message);
    }
  });
});

describe("planTwoServerMetric, noise at the devices", () => {
  it("is one server's plan to the digit", () => {
    for (const question of [
      ask({ statistic: "occurrence", goal: { epsilon: 1, delta: 1e-6 } }),
      ask({ statistic: "occurrence", goal: { localEpsilon: 1, delta: 1e-6 }, reporting: 4000 }),
      ask({ statistic: "histogram", goal: { epsilon: 1, delta: 1e-6 }, patience: 1 }),
      ask({ statistic: "histogram", goal: { localEpsilon: 2, delta: 1e-6 }, mechanism: "per-bucket" }),
      ask({ statistic: "histogram", goal: { localEpsilon: 2, delta: 1e-6 }, edges: GROUPED }),
      ask({ statistic: "histogram", goal: { localEpsilon: 2, delta: 1e-6 }, edges: GROUPED, mechanism: "unary" }),
      ask({ statistic: "histogram", goal: { localEpsilon: 2, delta: 1e-6 }, edges: [0, 2], mechanism: "per-bucket" }),
    ]) {
      const { spec, ...plan } = planMetric(question);
      const expected = { ...plan, noise: "device", spec: { ...spec, noise: "device" } };
      expect(planTwoServerMetric(question)).toEqual(expected);
      expect(planTwoServerMetric({ ...question, noise: "device" })).toEqual(expected);
    }
  });

  it("takes the mechanism with the least error, also where buckets hold several counts", () => {
    const edges = [...Array.from({ length: 15 }, (_, i) => i), 20];
    const goal = { localEpsilon: 1, delta: 1e-6 };
    const plan = planTwoServerMetric(ask({ statistic: "histogram", goal, edges }));
    expect(plan.mechanism).toBe("unary");
    expect(plan.standardError).toBe(bucketErrors("unary", 5000, 16, 1).empty);
  });

  it("what the servers estimate has the standard errors of one server", () => {
    for (const edges of [CONSECUTIVE, GROUPED, [0, 5, 10]]) {
      for (const mechanism of ["kary", "unary", "per-bucket"] as const) {
        const spec = {
          statistic: "histogram",
          ticks: 9,
          hides: 0,
          eventsPerTick: 1,
          edges,
          localEpsilon: 1,
          mechanism,
        } as const;
        const two = createTwoServerStatistic({ ...spec, noise: "device" });
        const sums = edges.map((_, b) => 100 * (b + 1));
        for (const scheme of ["lattice", "elgamal"] as const) {
          const one = createStatistic(scheme, spec).server;
          expect(two.mechanism).toBe(one.mechanism);
          expect(two.localEpsilon()).toBe(one.localEpsilon());
          expect(two.estimate(sums, 1000)).toEqual(one.estimate(sums, 1000));
        }
        const { empty } = bucketErrors(mechanism, 1000, edges.length, 1);
        const [none] = two.estimate(
          edges.map(() => 0),
          1000,
        );
        expect(none?.standardError).toBeCloseTo(empty, 6);
      }
    }
  });

  it("refuses in one line what cannot be, naming the field", () => {
    const goal = { localEpsilon: 1, delta: 1e-6 };
    for (const [field, question] of [
      ["mechanism kary", { statistic: "histogram", goal, mechanism: "kary", noise: "servers" }],
      ["noise device", { statistic: "mean", goal, noise: "device" }],
      ["noise", { statistic: "occurrence", goal, noise: "nobody" as "device" }],
      ["sigma", { statistic: "occurrence", goal: { sigma: 1, delta: 1e-6 } }],
      ["edges", { statistic: "histogram", goal, edges: [0, 3, 2], mechanism: "unary" }],
      ["devices", { statistic: "occurrence", goal, devices: 0, noise: "servers" }],
      ["ticks", { statistic: "occurrence", goal, ticks: 0, noise: "servers" }],
      ["limit", { statistic: "mean", goal, limit: 0 }],
      ["sigma", { statistic: "mean", goal: { sigma: 0, delta: 1e-6 } }],
      ["epsilon", { statistic: "histogram", goal: { epsilon: 0, delta: 1e-6 }, noise: "servers" }],
      ["localEpsilon", { statistic: "histogram", goal: { localEpsilon: 21, delta: 1e-6 }, noise: "servers" }],
      ["delta", { statistic: "occurrence", goal: { sigma: 1, delta: 1 }, noise: "servers" }],
    ] as const) {
      const plan = () => planTwoServerMetric(ask(question));
      expect(plan, field).toThrow(RangeError);
      expect(plan, field).toThrow(new RegExp(`^${field} [^\n]*$`));
    }
    expect(() => planTwoServerMetric(ask({ statistic: "mean", goal, noise: "device" }))).toThrow("use noise servers");
  });
});

describe("planTwoServerMetric, noise at the servers", () => {
  it("gives the noise for a guarantee, and the guarantee for a noise", () => {
    for (const statistic of STATISTICS) {
      const plan = (goal: TwoServerQuestion["goal"]) => planTwoServerMetric(ask({ statistic, noise: "servers", goal }));
      const there = plan({ epsilon: 0.5, delta: 1e-8 });
      const sigma = there.sigma as number;
      expect(there).toMatchObject({ epsilon: 0.5, localEpsilon: 0.5, delta: 1e-8, bound: "exact", noise: "servers" });
      expect(plan({ localEpsilon: 0.5, delta: 1e-8 })).toEqual(there);
      const counted = { statistic, limit: 10 };
      expect(serverNoiseDelta(counted, serverNoise(counted, sigma), 0.5)).toBeLessThanOrEqual(1e-8);
      expect(serverNoiseDelta(counted, serverNoise(counted, 0.999 * sigma), 0.5)).toBeGreaterThan(1e-8);
      const back = plan({ sigma, delta: 1e-8 });
      expect(back.sigma).toBe(sigma);
      expect(back.localEpsilon).toBe(back.epsilon);
      expect(back.epsilon).toBeLessThan(0.5 * (1 + 1e-7));
      expect(back.epsilon).toBeGreaterThan(0.5 * (1 - 1e-6));
      expect(back.spec).toEqual(there.spec);
    }
  });

  it("is described to the servers as they want it", () => {
    const goal = { sigma: 3, delta: 1e-6 };
    const specs = STATISTICS.map((statistic) => planTwoServerMetric(ask({ statistic, noise: "servers", goal })).spec);
    const common = { noise: "servers", ticks: 288 };
    expect(specs).toEqual([
      { statistic: "occurrence", ...common, sigmas: [3] },
      { statistic: "histogram", ...common, edges: CONSECUTIVE, sigma: 3 },
      { statistic: "mean", ...common, limit: 10, sigma: 3 },
    ]);
  });

  it("is a mean's if nothing is said, and any buckets will do", () => {
    const goal = { epsilon: 1, delta: 1e-6 };
    expect(planTwoServerMetric(ask({ statistic: "mean", goal })).noise).toBe("servers");
    const grouped = planTwoServerMetric(ask({ statistic: "histogram", goal, noise: "servers", edges: GROUPED }));
    const single = planTwoServerMetric(ask({ statistic: "histogram", goal, noise: "servers" }));
    expect(grouped.sigma).toBe(single.sigma);
    expect(grouped.mechanism).toBe("discrete-gaussian");
  });

  it("both servers' noise is in the error, and no device's; the guarantee stands on no number of devices", () => {
    const goal = { sigma: 5, delta: 1e-6 };
    for (const statistic of STATISTICS) {
      const few = planTwoServerMetric(ask({ statistic, noise: "servers", goal, devices: 100, reporting: 1 }));
      const many = planTwoServerMetric(ask({ statistic, noise: "servers", goal, devices: 1e6 }));
      expect(few.epsilon).toBe(many.epsilon);
      expect(many.largestStandardError).toBe(many.standardError);
      if (statistic === "mean") {
        expect(few.standardError).toBeCloseTo((Math.SQRT2 * 50) / 100, 12);
        expect(many.standardError).toBeCloseTo((Math.SQRT2 * 50) / 1e6, 12);
        expect(few.detectable).toBeCloseTo(1.96 * few.standardError, 3);
      } else {
        expect(few.standardError).toBeCloseTo(Math.SQRT2 * 5, 12);
        expect(many.standardError).toBe(few.standardError);
        expect(few.detectable).toBe(14);
      }
    }
    // Narrow noise has less variance than σ².
    const narrow = planTwoServerMetric(
      ask({ statistic: "occurrence", noise: "servers", goal: { sigma: 0.3, delta: 1e-6 } }),
    );
    const weights = [1, 2, 3].map((x) => 2 * Math.exp(-(x * x) / 0.18));
    const total = weights.reduce((sum, weight) => sum + weight, 1);
    const variance = weights.reduce((sum, weight, i) => sum + ((i + 1) ** 2 * weight) / total, 0);
    expect(narrow.standardError).toBeCloseTo(Math.sqrt(2 * variance), 4);
    expect(narrow.standardError).toBeLessThan(0.3);
  });

  it("a mean's noise at one server is that of one device with one server, and the error without cryptography the same", () => {
    const goal = { localEpsilon: 1, delta: 1e-6 };
    const question = ask({ statistic: "mean", goal, devices: 1_000_000 });
    const two = planTwoServerMetric(question);
    const one = planMetric(question);
    expect((two.sigma as number) / (one.sigma as number)).toBeCloseTo(1, 8);
    expect(two.informationTheoreticStandardError / one.informationTheoreticStandardError).toBeCloseTo(1, 8);
    // Of n noises two are left.
    expect(two.standardError / one.standardError).toBeCloseTo(Math.sqrt(2 / 1_000_000), 8);
    const { sigma2 } = serverNoise({ statistic: "mean", limit: 10 }, two.sigma as number);
    expect(gaussianDelta({ sigma2, sensitivity: 10, devices: 1 }, 1)).toBeLessThanOrEqual(1e-6);
  });

  it("without cryptography is √T responses at the same ε, at most guessing the middle", () => {
    const goal = { epsilon: 1, delta: 1e-6 };
    for (const statistic of ["occurrence", "histogram"] as const) {
      const question = ask({ statistic, noise: "servers", goal, devices: 1_000_000 });
      const plan = planTwoServerMetric(question);
      expect(plan.informationTheoreticStandardError).toBeCloseTo(Math.sqrt(288) * responseError(1e6, 1), 6);
      const few = planTwoServerMetric({ ...question, devices: 100 });
      expect(few.informationTheoreticStandardError).toBe(50);
      const none = planTwoServerMetric({ ...question, goal: { sigma: 1e6, delta: 1e-6 } });
      expect(none.epsilon).toBe(0);
      expect(none.bound).toBe("upper");
      expect(none.informationTheoreticStandardError).toBe(500_000);
    }
  });

  it("so narrow that nothing is hidden it still has numbers for everything", () => {
    for (const statistic of STATISTICS) {
      const plan = planTwoServerMetric(ask({ statistic, noise: "servers", goal: { sigma: 0.02, delta: 1e-6 } }));
      for (const value of Object.values(plan)) if (typeof value === "number") expect(Number.isFinite(value)).toBe(true);
      expect(plan.epsilon).toBeGreaterThan(1000);
    }
  });
});
