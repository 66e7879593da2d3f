import { schemeOf, type Task } from "@lethe/core/message";
import {
  DEFAULT_DELTA,
  devicesToDetect,
  errorsByDevices,
  errorsByEpsilon,
  localEpsilonToDetect,
  metricQuestion,
  planBudget,
  planMetric,
  planTask,
  standardErrorAt,
} from "@lethe/core/plan";
import { describe, expect, it } from "vitest";
import { chromiumPath, PATIENCE_MS } from "../../../device/test/browser.ts";
import {
  button,
  EXACT,
  PATIENT,
  PRICE,
  planAddress,
  rounded,
  settled,
  TASK,
  tableOf,
  valuesIn,
} from "../../test/plan-page.ts";
import { useServed } from "../../test/served.ts";
import { DEFAULTS } from "./settings.ts";

const { devices: DEVICES } = DEFAULTS;

describe.runIf(chromiumPath)("the figures of a plan in a browser", { timeout: 2 * PATIENCE_MS }, () => {
  const { open } = useServed();

  it("the price is what core computes, per window, per metric, and for the budget", async () => {
    const page = await open(planAddress());
    const plan = planTask({ task: TASK, devices: DEVICES, delta: DEFAULT_DELTA, windows: 1 });
    const { local, aggregate, hijackedEpsilon } = plan.perWindow;
    const cards = `${PRICE} .headline`;
    await page.locator(cards).first().waitFor();
    expect(await valuesIn(page, cards)).toEqual(rounded([local.epsilon, aggregate.epsilon, hijackedEpsilon]));
    expect(await valuesIn(page, `section[aria-label="All metrics, as a table"] td`)).toEqual(
      rounded(plan.metrics.flatMap((each) => [each.standardError, each.detectable, each.localEpsilon])),
    );
    const budget = planBudget({ task: TASK, budget: { epsilon: 8, days: 30 }, windows: 1, devices: DEVICES });
    expect(await valuesIn(page, ".budget b")).toEqual(rounded([budget.epsilon, budget.neededEpsilon]));
    const bytes = new Intl.NumberFormat("en-US");
    await page.getByText(`stores ${bytes.format(plan.stateBytes)} bytes`).waitFor();
    await page.getByText(`sends ${bytes.format(plan.reportBytes)} bytes`).waitFor();
  });

  it.each(TASK.metrics.map(({ name }, i) => [name, i] as const))(
    "of %s, errors, curves and what it takes are what core computes",
    async (_, metric) => {
      const written = TASK.metrics[metric] as Task["metrics"][number];
      const isMean = written.statistic === "mean";
      const detect = isMean ? 0.1 : 50;
      const page = await open(planAddress({ metric, detect, devices: 12_345 }));
      await settled(page);
      const question = metricQuestion(TASK, written, 12_345, 1, DEFAULT_DELTA);
      const plan = planMetric(question);
      const headlines = await valuesIn(page, `${EXACT} .headline`);
      expect(headlines).toEqual(rounded([plan.standardError, plan.detectable]));
      const withChosen = (points: { at: number; plan: { standardError: number } }[], at: number) =>
        [...points.filter((point) => point.at !== at), { at, plan }].toSorted((a, b) => a.at - b.at);
      const byEpsilon = withChosen(errorsByEpsilon(question, planMetric), plan.localEpsilon);
      expect(await tableOf(page, "Error by ε₀")).toEqual(byEpsilon.map((point) => rounded([point.plan.standardError])));
      const byDevices = withChosen(errorsByDevices(question, planMetric), 12_345);
      expect(await tableOf(page, "Error by devices")).toEqual(
        byDevices.map(({ at, plan: { standardError: error } }) => rounded(isMean ? [error] : [error, error / at])),
      );
      const asked = { ...question, detect, mode: "one-server" as const };
      expect(await valuesIn(page, ".inverse b")).toEqual(
        rounded([
          localEpsilonToDetect({ ...asked, delta: DEFAULT_DELTA, scheme: schemeOf(TASK, written) }),
          devicesToDetect(asked),
        ]),
      );
      expect(await page.locator("figure th:has-text('as chosen')").count()).toBe(2);
    },
  );

  it("a sample has the plan's errors, a change half-way, and is another one when drawn again", async () => {
    const page = await open(planAddress({ detect: 400 }));
    await settled(page);
    const title = "How 14 windows could look";
    const sample = await tableOf(page, title);
    const plan = planMetric(metricQuestion(TASK, TASK.metrics[0] as Task["metrics"][0], DEVICES, 1, DEFAULT_DELTA));
    expect(sample.map(([truth]) => Number(truth))).toEqual([...Array(7).fill(0), ...Array(7).fill(400)]);
    for (const row of sample) {
      const [truth, estimate, low, high] = row.map(Number) as [number, number, number, number];
      const half = 1.959963984540054 * standardErrorAt(plan, DEVICES, truth);
      expect(Math.abs((high - low) / 2 / half - 1)).toBeLessThan(1e-8);
      expect(Math.abs((high + low) / 2 - estimate)).toBeLessThan(1e-6);
      // One of 14 is farther away with probability 3e-14.
      expect(Math.abs(estimate - truth)).toBeLessThan(4 * half);
    }
    expect(new Set(sample.map(([, estimate]) => estimate)).size).toBe(14);
    await button(page, "Draw again").click();
    await expect.poll(() => tableOf(page, title), PATIENT).not.toEqual(sample);
  });
});
