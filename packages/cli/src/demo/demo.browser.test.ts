/// <reference lib="dom" />
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Demonstration } from "@lethe/analyst";
import { figuresOf, type Manifest, type Release } from "@lethe/core/message";
import type { DemoResult } from "@lethe/lab/demo";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { violationsIn } from "../../../console/test/axe.ts";
import { chromiumPath, launch, PATIENCE_MS } from "../../../device/test/browser.ts";
import { fakeBrowser } from "../../test/fake-browser.ts";
import { bin, environment } from "../../test/lethe.ts";

const MODES = [
  ["one-server", 12],
  ["two-server", 4],
] as const;
const WINDOWS_TIMEOUT = 600_000;
/** How much of the screen may move while a window passes, as browsers measure it. */
const MOST_SHIFT = 0.01;

describe.runIf(chromiumPath).each(MODES)("the console of lethe demo --mode %s", (mode, devices) => {
  let folder: string;
  let opened: string;
  let command: ChildProcess;
  let browser: Browser;
  /** The address of the console. */
  let address: string;
  const results: DemoResult[] = [];

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "lethe-demo-page-"));
    const desktop = fakeBrowser(folder);
    opened = desktop.opened;
    const args = [bin, "demo", "--mode", mode, "--devices", `${devices}`, "--no-open", "--json"];
    command = spawn(process.execPath, args, {
      env: environment({ ...desktop.env, TMPDIR: folder }),
      stdio: ["ignore", "pipe", "pipe"],
    });
    process.once("exit", () => command.kill("SIGKILL"));
    if (!command.stdout || !command.stderr) throw new TypeError("its output is not piped");
    createInterface(command.stdout).on("line", (line) => results.push(JSON.parse(line) as DemoResult));
    const errors = createInterface(command.stderr);
    address = await new Promise<string>((resolve) => {
      errors.on("line", (line) => {
        const [, found] = /^console: (.*)$/.exec(line) ?? [];
        if (found) resolve(found);
      });
    });
    browser = await launch();
  }, WINDOWS_TIMEOUT);
  afterAll(async () => {
    await browser?.close();
    if (command?.exitCode === null) {
      command.kill("SIGINT");
      await once(command, "exit");
    }
    rmSync(folder, { recursive: true, force: true });
  });

  async function open(hash = "", options: Parameters<Browser["newContext"]>[0] = {}): Promise<Page> {
    const context = await browser.newContext({ locale: "en-US", reducedMotion: "reduce", ...options });
    onTestFinished(() => context.close());
    const page = await context.newPage();
    page.setDefaultTimeout(WINDOWS_TIMEOUT);
    await page.goto(address + hash);
    return page;
  }

  const demonstration = async (): Promise<Demonstration> =>
    (await (await fetch(`${address}v1/demonstration`)).json()) as Demonstration;
  /** The numbers of a table of a metric, by the names of their rows. */
  const rowsIn = (page: Page, metric: string, figure: number): Promise<[string, number[]][]> =>
    page
      .locator(`section[aria-label="${metric}"] figure`)
      .nth(figure)
      .locator("tbody tr")
      .evaluateAll((rows) =>
        rows.map((row) => [
          row.querySelector("th")?.textContent ?? "",
          [...row.querySelectorAll<HTMLElement>("td[data-value]")].map((cell) => Number(cell.dataset.value)),
        ]),
      );

  /** The rows of the first table once there are truths, which the page fetches apart from the releases. */
  async function rowsWithTruth(page: Page, metric: string): Promise<[string, number[]][]> {
    const WITH_TRUTH = 5;
    let rows: [string, number[]][] = [];
    await expect
      .poll(
        async () => {
          rows = await rowsIn(page, metric, 0);
          return rows.some(([, values]) => values.length === WITH_TRUTH);
        },
        { timeout: WINDOWS_TIMEOUT },
      )
      .toBe(true);
    return rows;
  }

  it("shows what happens on the devices beside what the service knows, while it happens", async () => {
    const page = await open();
    const live = page.locator(".live");
    await live.getByText("of 6").waitFor();
    const shown = (): Promise<Record<string, number>> =>
      live
        .locator("dl > div")
        .evaluateAll((pairs) =>
          Object.fromEntries(
            pairs.map((pair) => [
              pair.querySelector("dt")?.textContent ?? "",
              Number(pair.querySelector("dd")?.dataset.value),
            ]),
          ),
        );
    // The page and this test ask one after the other, and in between something may happen.
    await expect
      .poll(
        async () => {
          const { running } = await demonstration();
          const found = await shown();
          const events = Object.entries(running?.events ?? {});
          return events.some(([, count]) => count > 0) && events.every(([name, count]) => found[name] === count);
        },
        { timeout: WINDOWS_TIMEOUT },
      )
      .toBe(true);
    await expect.poll(async () => (await shown())["devices enrolled"], { timeout: WINDOWS_TIMEOUT }).toBe(devices);
    await expect.poll(async () => (await shown()).reports, { timeout: WINDOWS_TIMEOUT }).toBe(devices);
  });

  it("truth and estimate of every figure are those of the demonstration and of the release", async () => {
    await expect.poll(() => results.length, { timeout: WINDOWS_TIMEOUT }).toBeGreaterThan(0);
    const { window, metrics: printed } = results[0] as DemoResult;
    const page = await open(`#/results/editor-health?window=${window}`);
    await rowsWithTruth(page, "export.failed");
    const truths = (await demonstration()).windows.find((each) => each.window === window)?.truth ?? [];
    expect(truths.map(({ truth }) => truth)).toEqual(printed.map(({ truth }) => truth));
    const release = await published(window);
    for (const metric of release?.metrics ?? []) {
      const expected = figuresOf(metric).map(({ label, figure: { estimate, interval, consistent } }) => [
        ...[estimate, ...interval, consistent],
        truths.find(({ name, bucket }) => name === metric.name && bucket === label)?.truth,
      ]);
      const rows = (await rowsIn(page, metric.name, "buckets" in metric ? 1 : 0)).map(([, values]) => values);
      // A trend has one figure of every window, of which the first is this one.
      expect("buckets" in metric ? rows : rows.slice(0, 1), metric.name).toEqual(expected);
    }
    // The command prints what it reads of the service, or of two servers with `lethe collect`.
    for (const { name, bucket, truth, estimate, interval } of printed) {
      const rows = await rowsIn(page, name, bucket === undefined ? 0 : 1);
      const [, values] = rows.find(([label]) => bucket === undefined || label === bucket) ?? [];
      expect(values?.toSpliced(3, 1), `${name} ${bucket}`).toEqual([estimate, ...interval, truth]);
    }
    const drawn = page.locator('section[aria-label="export.clicks"] figure').nth(1).locator("svg line.truth");
    expect(await drawn.count()).toBe(printed.filter(({ name }) => name === "export.clicks").length);
  });

  async function published(window: number): Promise<Release | undefined> {
    if (mode === "two-server") return undefined;
    return (await (await fetch(`${address}v1/tasks/editor-health/releases/${window}`)).json()) as Release;
  }

  it.each([1200, 360])("the next window appears by itself, and nothing moves, at %i pixels", async (width) => {
    const page = await open("", { viewport: { width, height: 900 } });
    // What loads first may move what is there.
    await rowsWithTruth(page, "export.failed");
    expect(await page.evaluate(() => PerformanceObserver.supportedEntryTypes)).toContain("layout-shift");
    await page.evaluate(() => {
      const measured = window as unknown as { shift: number };
      measured.shift = 0;
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) measured.shift += (entry as PerformanceEntry & { value: number }).value;
      }).observe({ type: "layout-shift" });
    });
    const windows = async (): Promise<number> => (await rowsIn(page, "export.failed", 0)).length;
    const before = await windows();
    await expect.poll(windows, { timeout: WINDOWS_TIMEOUT }).toBeGreaterThan(before);
    expect(await page.evaluate(() => (window as unknown as { shift: number }).shift)).toBeLessThan(MOST_SHIFT);
  });

  it.each([
    ["light", 1400],
    ["dark", 360],
  ] as const)("axe finds nothing wrong in %s at %i pixels", async (colorScheme, width) => {
    const page = await open("", { colorScheme, viewport: { width, height: 900 }, bypassCSP: true });
    await page.locator("section.metric").first().waitFor();
    expect(await violationsIn(page)).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
  });

  if (mode === "one-server") {
    it("a browser cannot join a task whose time is simulated, and the page says so", async () => {
      const page = await open("#/device/editor-health");
      await page.getByText("This browser cannot join: the service simulates its time").waitFor();
      expect(await page.getByRole("button", { name: "Join this task" }).count()).toBe(0);
    });
  } else {
    it("the console of the helper leads to the one of the leader", async () => {
      const { manifest } = (await (await fetch(`${address}v1/tasks/editor-health`)).json()) as { manifest: string };
      const [, helper] = (JSON.parse(manifest) as Manifest).servers;
      const page = await open();
      await page.goto(helper?.url ?? "");
      await page.getByText("The results are in the console of the leader").waitFor();
    });
  }

  it("says that the demonstration has ended, and keeps what it showed; no browser was opened", async () => {
    const page = await open();
    const before = await rowsWithTruth(page, "export.failed");
    command.kill("SIGINT");
    await once(command, "exit");
    await page.getByText("The demonstration has ended.").waitFor({ timeout: PATIENCE_MS });
    const after = await rowsIn(page, "export.failed", 0);
    // The truth of the newest window may have come meanwhile, behind the figures of the release.
    const kept = before.map(([name, values], i) => [name, after[i]?.[1].slice(0, values.length)]);
    expect(kept).toEqual(before);
    expect(after.slice(0, before.length).map(([name]) => name)).toEqual(before.map(([name]) => name));
    expect(existsSync(opened)).toBe(false);
  });
});
