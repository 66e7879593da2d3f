import { readFileSync } from "node:fs";
import { toCsv } from "@lethe/analyst";
import { figuresOf, type Release, summaryOf } from "@lethe/core/message";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { chromiumPath, launch, PATIENCE_MS } from "../../../device/test/browser.ts";
import { violationsIn } from "../../test/axe.ts";
import { type Released, startReleased, TASK } from "../../test/released.ts";
import { type Site, serveSite } from "../../test/site.ts";

describe.runIf(chromiumPath)("the results in a browser, of a real service", { timeout: 2 * PATIENCE_MS }, () => {
  let parts: Released;
  let site: Site;
  let browser: Browser;
  let release: Release;
  let tasks: readonly string[] = [TASK.task];
  beforeAll(async () => {
    parts = await startReleased();
    const now = (): number => parts.service.clock() / 1000;
    site = await serveSite(
      () => parts.service.url,
      () => ({ version: "0", role: "all", now: now(), privateResults: false, tasks }),
    );
    browser = await launch();
    release = (await published(parts.released)) as Release;
  }, PATIENCE_MS);
  afterAll(async () => {
    await browser?.close();
    site?.close();
    await parts?.service.remove();
  });

  async function published(window: number): Promise<unknown> {
    return (await fetch(`${parts.service.url}/v1/tasks/${TASK.task}/releases/${window}`)).json();
  }

  async function open(hash: string, options: BrowserContextOptions = {}): Promise<Page> {
    const context = await browser.newContext({ locale: "en-US", ...options });
    onTestFinished(() => context.close());
    const page = await context.newPage();
    page.setDefaultTimeout(PATIENCE_MS);
    await page.goto(site.url + hash);
    return page;
  }

  const section = (name: string) => `section[aria-label="${name}"]`;
  /** What the tables of a metric have: the name of a row, and its numbers as the release has them. */
  const rowsIn = (page: Page, name: string, figure: number): Promise<{ name: string; values: number[] }[]> =>
    page
      .locator(`${section(name)} figure`)
      .nth(figure)
      .locator("tbody tr")
      .evaluateAll((rows) =>
        rows.map((row) => ({
          name: row.querySelector("th")?.textContent ?? "",
          values: [...row.querySelectorAll<HTMLElement>("td[data-value]")].map((cell) => Number(cell.dataset.value)),
        })),
      );

  it("every figure of the release is in the page, with all its digits", async () => {
    const page = await open(`#/results/${TASK.task}`);
    await page.locator(section("failed")).waitFor();
    expect(release.metrics.length).toBe(TASK.metrics.length);
    for (const metric of release.metrics) {
      const { reached, curve, margins } = summaryOf(metric);
      const shown = [...(reached ?? curve ?? figuresOf(metric)), ...(margins ?? [])];
      const figures = shown.map(({ figure: { estimate, interval, consistent } }) => [
        estimate,
        ...interval,
        consistent,
      ]);
      const isSingle = !("buckets" in metric);
      const rows = (await rowsIn(page, metric.name, isSingle ? 0 : 1)).map(({ values }) => values);
      expect(isSingle ? [rows.at(-1)] : rows.toSorted(), metric.name).toEqual(isSingle ? figures : figures.toSorted());
      const groups = (release.groups ?? []).flatMap((group) => (group.status === "released" ? [group] : []));
      const ofGroups = (await rowsIn(page, metric.name, isSingle ? 1 : 2)).map(({ values }) => values);
      expect(ofGroups, metric.name).toEqual(
        groups.flatMap(({ received, metrics }) => {
          const own = metrics.find(({ name }) => name === metric.name);
          const summary = own && summaryOf(own);
          const all = own ? (summary?.reached ?? summary?.curve ?? figuresOf(own)) : [];
          return all.map(({ figure: { estimate, interval, consistent } }) => [
            ...[received, estimate, ...interval, consistent],
          ]);
        }),
      );
    }
  });

  it("windows without figures are gaps with their reasons, never zero", async () => {
    const page = await open(`#/results/${TASK.task}?metric=failed`);
    const rows = page
      .locator(`${section("failed")} figure`)
      .first()
      .locator("tbody tr");
    await rows.first().waitFor({ state: "attached" });
    const texts = await rows.allTextContents();
    expect(texts.length).toBe(6);
    expect(texts[3]).toContain("not released");
    expect(await published(parts.released - 2)).toMatchObject({ code: "window-closed" });
    expect(texts[4]).toContain("too few devices: 1 more needed");
    expect(await page.locator(`${section("failed")} svg rect[fill^="url"]`).count()).toBe(4);
    await page.getByLabel("The window before").click();
    await page.locator(".summary.withheld").getByText("1 more were needed").waitFor();
    expect(page.url()).toContain(`window=${parts.notEnough}`);
  });

  it("a link shows what its sender saw", async () => {
    const sender = await open(`#/results/${TASK.task}`);
    const chosen = {
      Values: "consistent",
      Devices: "beta",
      Metric: "checkout",
      Windows: "7",
      "Trend of": "cart.opened",
    };
    for (const [label, value] of Object.entries(chosen)) {
      await sender.locator(`label:has(span:text-is("${label}")) select`).selectOption(value);
    }
    const receiver = await open(new URL(sender.url()).hash);
    await receiver.locator(section("checkout")).waitFor();
    expect(await receiver.locator("section.metric").count()).toBe(1);
    const choices = (page: Page) =>
      page.locator("select").evaluateAll((all) => all.map((each) => (each as HTMLSelectElement).value));
    expect(await choices(receiver)).toEqual(await choices(sender));
    expect(await receiver.locator(".headline").textContent()).toBe(await sender.locator(".headline").textContent());
  });

  it("exports are the CSV and the documents of the service, and pictures", async () => {
    const page = await open(`#/results/${TASK.task}?metric=failed`);
    const saved = async (name: string): Promise<Buffer> => {
      const button = page.getByRole("button", { name, exact: true }).first();
      const [download] = await Promise.all([page.waitForEvent("download"), button.click()]);
      return readFileSync(await download.path());
    };
    const { windows } = JSON.parse((await saved("JSON")).toString());
    expect(windows.at(-1)).toEqual(release);
    expect(windows[4]).toEqual(await published(parts.notEnough));
    expect((await saved("CSV")).toString()).toBe(toCsv(windows));
    expect((await saved("Save as PNG")).subarray(1, 4).toString()).toBe("PNG");
  });

  it.each([
    ["light", 1400],
    ["dark", 360],
  ] as const)(
    "axe finds nothing wrong in %s at %i pixels, and nothing is wider than the screen",
    async (theme, width) => {
      const page = await open(`#/results/${TASK.task}`, {
        ...{ colorScheme: theme, viewport: { width, height: 900 }, reducedMotion: "reduce", bypassCSP: true },
      });
      await page.locator(section("paid.format")).waitFor();
      expect(await violationsIn(page)).toEqual([]);
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
    },
  );

  it("everything can be reached with the keyboard", async () => {
    const page = await open(`#/results/${TASK.task}?metric=failed`);
    await page.locator(section("failed")).waitFor();
    const named = new Set<string>();
    for (let i = 0; i < 40; i++) {
      await page.keyboard.press("Tab");
      named.add(await page.evaluate(() => document.activeElement?.textContent?.trim() ?? ""));
    }
    for (const name of ["CSV", "JSON", "Show the table", "Save as PNG", "‹"]) expect([...named]).toContain(name);
  });

  it("a service without tasks says how to create one, and a task that is not there can be tried again", async () => {
    tasks = [];
    onTestFinished(() => {
      tasks = [TASK.task];
    });
    await (await open("#/results")).getByText("This service collects nothing yet").waitFor();
    const page = await open("#/results/unknown");
    await page.getByRole("alert").getByText("Try again").waitFor();
  });
});
