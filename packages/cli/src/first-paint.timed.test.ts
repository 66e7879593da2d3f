/// <reference lib="dom" />
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { chromiumPath, launch } from "../../device/test/browser.ts";
import { type RunningService, START_TIMEOUT, startService } from "../test/lethe.ts";

const MOST_MS = 1000;

describe.runIf(chromiumPath)("the console of a local service", () => {
  let folder: string;
  let service: RunningService;
  let browser: Browser;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "lethe-paint-"));
    service = await startService({ cwd: folder });
    browser = await launch();
  }, START_TIMEOUT);
  afterAll(async () => {
    await browser?.close();
    service?.process.kill("SIGKILL");
    await service?.ended;
    rmSync(folder, { recursive: true, force: true });
  });

  // Again, because a machine that does something else for a moment is no slow page.
  it("is painted within a second, by a browser that has never seen it", { retry: 3 }, async () => {
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(service.url);
    // The first view, and not only the line that says that it is loading.
    await page.getByText("This service collects nothing yet").waitFor();
    const times = await page.evaluate(() => ({
      firstContentfulPaint: performance.getEntriesByName("first-contentful-paint")[0]?.startTime,
      firstView: performance.now(),
    }));
    await context.close();
    console.log(JSON.stringify({ ...times, most: MOST_MS }));
    expect(times.firstContentfulPaint).toBeGreaterThan(0);
    expect(times.firstContentfulPaint).toBeLessThan(MOST_MS);
    expect(times.firstView).toBeLessThan(MOST_MS);
  });
});
