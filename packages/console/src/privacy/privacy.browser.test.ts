import { DEFAULT_DELTA, planTask, planTotals, windowsIn } from "@lethe/core/plan";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { chromiumPath, launch, PATIENCE_MS } from "../../../device/test/browser.ts";
import { createTask, startTestService, type TestService } from "../../../server/test/service.ts";
import { violationsIn } from "../../test/axe.ts";
import { type Site, serveSite } from "../../test/site.ts";

const TASK = {
  ...{ version: 1, task: "editor-health", tickSeconds: 3600, ticks: 24, graceSeconds: 60, mode: "one-server" as const },
  ...{ hides: 10, minimumDevices: 3, budget: { epsilon: 8, days: 30 } },
  metrics: [
    { name: "failed", statistic: "occurrence" as const, localEpsilon: 1 },
    { name: "clicks", statistic: "histogram" as const, edges: [0, 1, 2], localEpsilon: 2 },
  ],
};

describe.runIf(chromiumPath)("privacy in a browser, of a real service", { timeout: 2 * PATIENCE_MS }, () => {
  let service: TestService;
  let site: Site;
  let browser: Browser;
  beforeAll(async () => {
    service = await startTestService();
    await createTask(service, TASK);
    service.clock.advance(40 * 86_400);
    site = await serveSite(
      () => service.url,
      () => ({ version: "0", role: "all", now: service.clock() / 1000, privateResults: false, tasks: [TASK.task] }),
    );
    browser = await launch();
  }, PATIENCE_MS);
  afterAll(async () => {
    await browser?.close();
    site?.close();
    await service?.remove();
  });

  async function open(hash: string, options: BrowserContextOptions = {}): Promise<Page> {
    const context = await browser.newContext({ locale: "en-US", timezoneId: "UTC", ...options });
    onTestFinished(() => context.close());
    const page = await context.newPage();
    page.setDefaultTimeout(PATIENCE_MS);
    await page.goto(site.url + hash);
    return page;
  }

  const valuesIn = (page: Page, section: string): Promise<number[][]> =>
    page
      .locator(`section[aria-label="${section}"] tbody tr`)
      .evaluateAll((rows) =>
        rows.map((row) =>
          [...row.querySelectorAll<HTMLElement>("td[data-value]")].map(({ dataset }) => Number(dataset.value)),
        ),
      );
  const epsilonsOf = ({ local, aggregate, hijackedEpsilon }: ReturnType<typeof planTotals>[number]): number[] => [
    ...[local.epsilon, aggregate.epsilon, hijackedEpsilon],
  ];

  /** The same up to the last digits, in which the logarithms of Chromium and of Node differ. */
  const expectSame = (found: readonly (readonly number[])[], expected: readonly (readonly number[])[]): void => {
    const rounded = (rows: readonly (readonly number[])[]) =>
      rows.map((row) => row.map((each) => each.toPrecision(11)));
    expect(rounded(found)).toEqual(rounded(expected));
  };

  it("every figure is what core computes, and is printed rounded up", async () => {
    const page = await open(`#/privacy/${TASK.task}`);
    const { perWindow } = planTask({ task: TASK, devices: 3, delta: DEFAULT_DELTA, windows: 1 });
    const cards = page.locator("section[aria-label='This window'] .headline");
    await cards.first().waitFor();
    const shown = await cards.evaluateAll((all) =>
      all.map((each) => [Number((each as HTMLElement).dataset.value), each.textContent ?? ""] as const),
    );
    expectSame([shown.map(([value]) => value)], [epsilonsOf(perWindow)]);
    for (const [value, text] of shown) {
      if (Number.isFinite(value)) expect(Number(text.replace("ε = ", ""))).toBeGreaterThanOrEqual(value);
      else expect(text).toBe("no bound");
    }
    await page.locator("section[aria-label='Over time'] tbody tr").first().waitFor();
    const rows = await valuesIn(page, "Over time");
    // The clock says February 10: 9 windows ended this month, 40 this year.
    expect(rows.map(([windows]) => windows)).toEqual([1, 9, 40]);
    const answered = rows.map((row) => row[1] as number);
    expect(answered[2]).toBeLessThan(40);
    const totals = planTotals({ task: TASK, delta: DEFAULT_DELTA }, answered);
    expectSame(
      rows.map((row) => row.slice(2)),
      totals.map(epsilonsOf),
    );
  });

  it("says what longer windows and fewer metrics would change", async () => {
    const page = await open(`#/privacy/${TASK.task}`);
    const section = page.locator("section[aria-label='What would change it']");
    await section.locator("tbody tr").first().waitFor();
    expect(await section.locator("tbody th").allTextContents()).toEqual([
      ...["As it is", "Windows 2 times as long", "Windows 7 times as long", "Without failed", "Without clicks"],
    ]);
    const rows = await valuesIn(page, "What would change it");
    const lengths = [1, 2, 7].map((times) => windowsIn(365, times * 86_400));
    const totals = planTotals({ task: TASK, delta: DEFAULT_DELTA }, lengths);
    expectSame(
      rows.slice(0, 3).map((row) => row.slice(2)),
      totals.map(epsilonsOf),
    );
    const [without] = planTotals({ task: { ...TASK, metrics: TASK.metrics.slice(1) }, delta: DEFAULT_DELTA }, [365]);
    expectSame([rows[3]?.slice(2) ?? []], without ? [epsilonsOf(without)] : []);
  });

  it("shows the budget, and what avoids skipping", async () => {
    const page = await open(`#/privacy/${TASK.task}`);
    await page.getByText("skips the others").waitFor();
    await page.getByText("Fewer metrics: keep failed; drop clicks.").or(page.getByText("Windows of")).first().waitFor();
  });

  it.each([
    ["light", 1400],
    ["dark", 360],
  ] as const)("axe finds nothing wrong in %s at %i pixels", async (colorScheme, width) => {
    const page = await open("#/privacy", {
      ...{ colorScheme, viewport: { width, height: 900 }, reducedMotion: "reduce", bypassCSP: true },
    });
    await page.locator("section[aria-label='What would change it'] tbody tr").first().waitFor();
    expect(await violationsIn(page)).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
  });

  it("a task that is not there can be tried again", async () => {
    const page = await open("#/privacy/unknown");
    await page.getByRole("alert").getByText("Try again").waitFor();
  });
});
