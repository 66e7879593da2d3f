import { describe, expect, it } from "vitest";
import { Z95 } from "../estimate/index.ts";
import { type DetectQuestion, localEpsilonToDetect } from "./detect.ts";
import { planMetric } from "./metric.ts";
import { parametersFor } from "./parameters.ts";
import { planTwoServerMetric } from "./two-server.ts";

const FLEET = { devices: 20_000, ticks: 12, hides: 5, edges: [0, 1, 2, 5], limit: 10, delta: 1e-6 } as const;

const QUESTIONS: readonly DetectQuestion[] = [
  { ...FLEET, statistic: "occurrence", mode: "one-server", detect: 50 },
  { ...FLEET, statistic: "occurrence", mode: "one-server", detect: 2000 },
  { ...FLEET, statistic: "occurrence", mode: "one-server", scheme: "elgamal", detect: 50 },
  { ...FLEET, statistic: "histogram", mode: "one-server", detect: 50 },
  { ...FLEET, statistic: "histogram", mode: "one-server", mechanism: "unary", detect: 300 },
  { ...FLEET, statistic: "histogram", mode: "one-server", mechanism: "per-bucket", detect: 50 },
  { ...FLEET, statistic: "histogram", mode: "one-server", edges: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11], detect: 400 },
  { ...FLEET, statistic: "mean", mode: "one-server", detect: 0.2 },
  { ...FLEET, statistic: "occurrence", mode: "two-server", detect: 50 },
  { ...FLEET, statistic: "occurrence", mode: "two-server", noise: "servers", detect: 50 },
  { ...FLEET, statistic: "histogram", mode: "two-server", noise: "device", detect: 50 },
  { ...FLEET, statistic: "histogram", mode: "two-server", noise: "servers", detect: 8 },
  { ...FLEET, statistic: "mean", mode: "two-server", detect: 0.01 },
];

function planAt(question: DetectQuestion, localEpsilon: number) {
  const { detect: _, mode, scheme: __, delta, ...asked } = question;
  const planFor = mode === "two-server" ? planTwoServerMetric : planMetric;
  // Errors do not depend on how many are honest.
  return planFor({ ...asked, reporting: 3, patience: 1, goal: { localEpsilon, delta } });
}

describe("the least ε₀ with which something is visible", () => {
  for (const question of QUESTIONS) {
    const { statistic, mode, noise = "device", mechanism = "", scheme = "", detect } = question;
    it(`${[mode, statistic, noise, mechanism, scheme].join(" ")}: ${detect} stands out, and would not with less`, () => {
      const found = localEpsilonToDetect(question);
      const { spec, detectable } = planAt(question, found);
      expect(detectable).toBeLessThanOrEqual(detect);
      // As it is built. A bucket with devices in it has a larger error than an empty one, so this is necessary only.
      const built = parametersFor(spec, question.devices, question.delta, question.scheme);
      expect(Z95 * built.standardError).toBeLessThanOrEqual(detect);
      // A ledger attains an error that is up to 5% larger than that of theory.
      const slack = statistic === "occurrence" && mode === "one-server" && scheme === "" ? 0.94 : 0.997;
      expect(planAt(question, slack * found).detectable).toBeGreaterThan(detect);
      expect(String(found).replace(/^0\.0*|\./g, "").length).toBeLessThanOrEqual(4);
    });
  }

  it("rises as less is to be visible, and is found up to the whole range", () => {
    const at = (detect: number) => localEpsilonToDetect({ ...(QUESTIONS[2] as DetectQuestion), detect });
    const found = [5, 50, 500, 5000, 20_000].map(at);
    expect(found.toSorted((a, b) => b - a)).toEqual(found);
    expect(new Set(found).size).toBe(5);
  });

  it("is refused if there is none", () => {
    const [occurrence] = QUESTIONS as [DetectQuestion];
    const unary = { ...occurrence, statistic: "histogram", mechanism: "unary", detect: 3 } as const;
    expect(() => localEpsilonToDetect(unary)).toThrow(/^detect is at least \d+ here, where ε₀ is 20, not 3$/);
    for (const detect of [0, -1, 20_001, Number.NaN]) {
      expect(() => localEpsilonToDetect({ ...occurrence, detect })).toThrow(
        `detect is a number of devices up to all of them, 20000, not ${detect}`,
      );
    }
    expect(() => localEpsilonToDetect({ ...occurrence, statistic: "mean", detect: 11 })).toThrow(
      "detect is a mean up to the limit, 10, not 11",
    );
  });

  it("of noise that would be too wide to be drawn is one with which it can be", () => {
    const wide = { devices: 1e6, limit: 10_000, detect: 9000 };
    const question = { ...FLEET, statistic: "mean", mode: "one-server", ...wide } as const;
    const found = localEpsilonToDetect(question);
    expect(planAt(question, found).detectable).toBeLessThan(9000);
    expect(() => planAt(question, found / 2)).toThrow(RangeError);
  });
});
