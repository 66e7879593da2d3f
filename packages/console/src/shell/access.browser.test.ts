import { type Release, windowAt } from "@lethe/core/message";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { readConsole } from "../../../cli/src/system/console.ts";
import { chromiumPath, launch, PATIENCE_MS } from "../../../device/test/browser.ts";
import { fetchTask, reportFor } from "../../../server/test/device.ts";
import { eventually } from "../../../server/test/eventually.ts";
import {
  ADMIN_TOKEN,
  createTask,
  EXACT_TASK,
  startTestService,
  type TestService,
} from "../../../server/test/service.ts";
import { violationsIn } from "../../test/axe.ts";
import { enterToken, type Visit, visit } from "../../test/visit.ts";

const WRONG = "not-the-admin-token-at-all";
/** Wrong tokens that an address may send at once, and how long one of them counts. */
const [BURST, SECONDS] = [10, 6];
const WAIT = { timeout: PATIENCE_MS, interval: 50 };

describe.runIf(chromiumPath)("the admin token in the console", { timeout: 2 * PATIENCE_MS }, () => {
  let service: TestService;
  let browser: Browser;
  let window: number;
  const visits: Visit[] = [];
  beforeAll(async () => {
    service = await startTestService({ console: readConsole() });
    await createTask(service, EXACT_TASK);
    const task = await fetchTask(service, EXACT_TASK.task);
    window = windowAt(EXACT_TASK, service.clock() / 1000);
    for (let i = 0; i < 4; i++) await reportFor(service, task, window, ...(i < 3 ? ["happened"] : []));
    service.clock.advance(181);
    await eventually(async () => ((await published()).status === "released" ? true : undefined));
    browser = await launch();
  }, PATIENCE_MS);
  afterAll(async () => {
    await browser?.close();
    await service?.remove();
  });
  // Failed attempts of the test before this one are forgotten.
  beforeEach(() => service.clock.advance(BURST * SECONDS));

  async function published(): Promise<Release> {
    return (await fetch(`${service.url}/v1/tasks/exact/releases/${window}`)).json() as Promise<Release>;
  }

  async function open(hash: string, options = {}): Promise<Page> {
    const visited = await visit(browser, service.url + hash, options);
    visits.push(visited);
    return visited.page;
  }

  /** The service as it is, but for these options, at the same address. */
  async function restart(changed: Parameters<TestService["restart"]>[0]): Promise<void> {
    await service.restart({ port: Number(new URL(service.url).port), ...changed });
  }

  async function failUntilLimited(): Promise<void> {
    await eventually(async () => {
      const answer = await fetch(`${service.url}/v1/tasks`, { headers: { authorization: `Bearer ${WRONG}` } });
      return answer.status === 429 ? true : undefined;
    });
  }

  const kept = (page: Page): Promise<string[]> =>
    page.evaluate(() => [...Object.values({ ...sessionStorage }), ...Object.values({ ...localStorage })]);

  it("is entered once for a tab, which keeps it until its reader has it forgotten", async () => {
    const page = await open("/#/operations");
    await enterToken(page);
    await page.locator(".facts").waitFor();
    expect(await kept(page)).toEqual([ADMIN_TOKEN]);
    await page.reload();
    await page.locator(".facts").waitFor();
    const other = await page.context().newPage();
    await other.goto(`${service.url}/#/operations`);
    await other.getByLabel("Admin token").waitFor();
    expect(await kept(other)).toEqual([]);
    await page.getByRole("button", { name: "Forget the token" }).click();
    await page.getByLabel("Admin token").waitFor();
    expect(await kept(page)).toEqual([]);
  });

  it("is refused if it is wrong, and not kept", async () => {
    const page = await open("/#/operations");
    for (const wrong of [WRONG, "ö", "x".repeat(501)]) {
      await enterToken(page, wrong);
      await page
        .getByRole("alert")
        .getByText(/refuses this token|visible ASCII/)
        .waitFor();
      expect(await kept(page)).toEqual([]);
      expect(await page.getByLabel("Admin token").evaluate((input) => input === document.activeElement)).toBe(true);
    }
    await enterToken(page);
    await page.locator(".facts").waitFor();
  });

  it("is not compared after too many wrong ones; the form says for how long", async () => {
    const page = await open("/#/operations");
    for (let i = 0; i < BURST; i++) {
      const answered = page.waitForResponse((response) => response.url().endsWith("/v1/console"));
      await enterToken(page, WRONG);
      expect((await answered).status()).toBe(200);
      await page.locator("form button:enabled").waitFor();
    }
    await enterToken(page);
    await Promise.all([
      page.getByRole("alert").getByText(`compares none for ${SECONDS} s`).waitFor(),
      page.locator("form button:disabled", { hasText: /^Continue in [1-6] s$/ }).waitFor(),
    ]);
    expect(await kept(page)).toEqual([]);
    service.clock.advance(SECONDS);
    await page.getByRole("button", { name: "Continue", exact: true }).click();
    await page.locator(".facts").waitFor();
  });

  it("of a tab waits as well if others sent wrong ones from its address, and is used again by itself", async () => {
    const page = await open("/#/operations");
    await enterToken(page);
    await page.locator(".facts").waitFor();
    await failUntilLimited();
    // What was read before stays.
    await page.locator(".freshness").getByText("too many wrong admin tokens").waitFor();
    expect(await page.locator(".windows").count()).toBe(1);
    await page.reload();
    await page.getByRole("alert").getByText("Please wait").waitFor();
    await page.getByText(/This page tries again in \d+ s/).waitFor();
    service.clock.advance(BURST * SECONDS);
    await page.locator(".freshness").getByText("Live").waitFor();
  });

  it("can be forgotten instead of waiting, for what needs none", async () => {
    const page = await open("/#/operations");
    await enterToken(page);
    await page.locator(".facts").waitFor();
    await failUntilLimited();
    await page.goto(`${service.url}/#/results/exact`);
    await page.reload();
    await page.getByRole("button", { name: "Forget the token" }).click();
    await page.locator("section[aria-label=happened]").waitFor();
  });

  it("that a service does not accept any more is asked for again, and not sent again and again", async () => {
    const page = await open("/#/operations");
    await enterToken(page);
    await page.locator(".facts").waitFor();
    const other = "another-admin-token-of-the-same-service";
    await restart({ adminToken: other });
    await page.getByRole("alert").getByText("refuses this admin token").waitFor();
    const asked = (visits.at(-1) as Visit).asked;
    const wrong = asked.length;
    const second = await open("/#/operations");
    await enterToken(second, other);
    const polls = (): number => (visits.at(-1) as Visit).operations.length;
    await vi.waitFor(() => expect(polls()).toBeGreaterThan(3), WAIT);
    expect(asked.length).toBe(wrong);
    await enterToken(page, other);
    await page.locator(".facts").waitFor();
    await restart({ adminToken: ADMIN_TOKEN });
  });

  it("shows private results; without it, or with a wrong one, there are none", async () => {
    await restart({ privateResults: true });
    for (const view of ["results", "privacy"]) {
      const page = await open(`/#/${view}`);
      await page.getByLabel("Admin token").waitFor();
      expect(await page.getByText("happened").count()).toBe(0);
    }
    const page = await open("/#/results");
    await enterToken(page, WRONG);
    await page.getByRole("alert").getByText("refuses this token").waitFor();
    await enterToken(page);
    await page.locator("section[aria-label=happened]").waitFor();
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
    const answer = await fetch(`${service.url}/v1/tasks/exact/releases/${window}`, { headers });
    const [metric] = ((await answer.json()) as Release).metrics;
    const estimate = metric && "estimate" in metric ? metric.estimate : Number.NaN;
    expect(await page.locator(`section[aria-label=happened] td[data-value="${estimate}"]`).count()).toBeGreaterThan(0);
    await page.locator(".unfinished li").first().waitFor();
    // A tab that has a wrong one, because the service has another since.
    await restart({ adminToken: "another-admin-token-of-the-same-service" });
    await page.reload();
    await page.getByRole("alert").getByText("it refuses this token").waitFor();
    await restart({ adminToken: ADMIN_TOKEN, privateResults: false });
  });

  it.each(["light", "dark"] as const)(
    "axe finds nothing wrong in its form and its waiting, in %s",
    async (colorScheme) => {
      const page = await open("/#/operations", { colorScheme, viewport: { width: 360, height: 800 }, bypassCSP: true });
      await enterToken(page, WRONG);
      await page.getByRole("alert").getByText("refuses this token").waitFor();
      expect(await violationsIn(page)).toEqual([]);
      await failUntilLimited();
      await enterToken(page);
      await page.getByRole("alert").getByText("compares none").waitFor();
      expect(await violationsIn(page)).toEqual([]);
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);
    },
  );

  it("is in no address and in no cookie, and nothing is loaded from another origin", async () => {
    const page = await open("/#/operations");
    await enterToken(page);
    await page.locator(".facts").waitFor();
    expect(page.url()).not.toContain(ADMIN_TOKEN);
    expect(await page.context().cookies()).toEqual([]);
    for (const { asked } of visits) {
      expect(new Set(asked.map((url) => new URL(url).origin))).toEqual(new Set([new URL(service.url).origin]));
      for (const token of [ADMIN_TOKEN, WRONG]) expect(asked.join(" ")).not.toContain(token);
    }
  });
});
