/// <reference lib="dom" />
import type { Task } from "@lethe/core/message";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { askToEnrol } from "../../server/test/device.ts";
import { eventually } from "../../server/test/eventually.ts";
import { createTask, startTestService, type TestService } from "../../server/test/service.ts";
import { bundle, chromiumPath, launch, PATIENCE_MS, type Site, servePage } from "../test/browser.ts";
import type {} from "../test/browser-lethe.ts";

const [TICK_SECONDS, TICKS, GRACE_SECONDS, STEP_SECONDS] = [60, 4, 120, 10];
const WINDOW_SECONDS = TICKS * TICK_SECONDS;

/** Answers as good as exact. Two of them count "paid". A period has two ticks. */
const METRICS: Task["metrics"] = [
  {
    name: "checkout",
    statistic: "funnel",
    steps: ["cart.opened", "checkout.started", "paid"],
    localEpsilon: 16,
    mechanism: "kary",
  },
  { name: "weeks", statistic: "retention", event: "used", periods: 2, localEpsilon: 16, mechanism: "kary" },
  { name: "sold", event: "paid", statistic: "occurrence", localEpsilon: 16 },
];

interface Released {
  readonly metrics: readonly {
    readonly name: string;
    readonly estimate?: number;
    readonly buckets?: readonly { readonly bucket: string; readonly estimate: number }[];
  }[];
}

describe.skipIf(!chromiumPath)("a funnel and a retention in a browser, across reloads", () => {
  let service: TestService;
  let site: Site;
  let browser: Browser;
  const devices: BrowserContext[] = [];

  beforeAll(async () => {
    service = await startTestService({ keysAhead: 4 });
    const script = await bundle(new URL("../test/browser-lethe.ts", import.meta.url), true);
    const html = `<!doctype html><script type="module" src="page.js"></script>`;
    site = await servePage(html, { "page.js": script }, `default-src 'none'; connect-src ${service.url}`);
    browser = await launch();
  });
  afterAll(async () => {
    await browser?.close();
    site?.close();
    await service?.remove();
  });

  async function pass(seconds: number): Promise<void> {
    for (let left = seconds; left > 0; left -= STEP_SECONDS) {
      service.clock.advance(STEP_SECONDS);
      for (const device of devices) await device.clock.runFor(1000 * STEP_SECONDS);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  async function openLethe(page: Page, task: string): Promise<void> {
    const options = { server: service.url, task, operatorKey: service.operatorKey };
    await page.evaluate((chosen) => counter.open(chosen), options);
    await page.waitForFunction(() => counter.lethe?.inspect().memory.length);
  }

  it("are released with the right figures", async () => {
    const task = "automata";
    const times = { tickSeconds: TICK_SECONDS, ticks: TICKS, hides: 20, graceSeconds: GRACE_SECONDS };
    const how = { version: 1, mode: "one-server", scheme: "elgamal", task, minimumDevices: 2 } as const;
    await createTask(service, { ...how, ...times, metrics: METRICS });
    service.clock.advance(WINDOW_SECONDS - ((service.clock() / 1000) % WINDOW_SECONDS));
    const window = Math.floor(service.clock() / 1000 / WINDOW_SECONDS);
    await eventually(async () => ((await askToEnrol(service, task, window)).ok ? true : undefined));
    const pages: Page[] = [];
    for (let i = 0; i < 2; i++) {
      const device = await browser.newContext();
      devices.push(device);
      await device.clock.install({ time: service.clock() });
      const page = await device.newPage();
      page.setDefaultTimeout(PATIENCE_MS);
      await page.goto(site.url);
      await openLethe(page, task);
      pages.push(page);
    }
    const [first, second] = pages as [Page, Page];
    const record = (page: Page, ...names: readonly string[]) =>
      page.evaluate((all) => {
        for (const name of all) counter.lethe?.record(name);
      }, names);
    const reload = async (page: Page) => {
      await page.reload();
      await openLethe(page, task);
    };

    // The first pays before the checkout, which is no step of the funnel; the second goes all the way.
    await record(first, "cart.opened", "paid", "used");
    await record(second, "cart.opened");
    for (const page of pages) await reload(page);
    await record(second, "checkout.started");
    await pass(TICK_SECONDS);
    await reload(second);
    await record(second, "paid");
    await record(first, "checkout.started");
    // Into the second period, with a reload on its other side.
    await pass(1.5 * TICK_SECONDS);
    for (const page of pages) await reload(page);
    for (const page of pages) await record(page, "used", "used");
    await pass(1.5 * TICK_SECONDS + 0.6 * GRACE_SECONDS);

    const answer = async <T>(path: string) => {
      const response = await fetch(`${service.url}/v1/tasks/${task}${path}`);
      return response.ok ? ((await response.json()) as T) : undefined;
    };
    await eventually(async () => {
      const found = await answer<{ received: number }>(`/windows/${window}`);
      return found?.received === 2 ? true : undefined;
    });
    service.clock.advance(GRACE_SECONDS);
    const { metrics } = await eventually(() => answer<Released>(`/releases/${window}`));
    const figures = metrics.map(({ name, estimate, buckets }) => [
      name,
      buckets ? buckets.map((each) => Math.round(each.estimate) + 0) : Math.round(estimate ?? Number.NaN),
    ]);
    expect(Object.fromEntries(figures)).toEqual({
      // No step, the cart, the checkout, all.
      checkout: [0, 0, 1, 1],
      // The first in both periods, the second in the second only.
      weeks: [0, 1, 0, 1],
      sold: 2,
    });
  });
});
