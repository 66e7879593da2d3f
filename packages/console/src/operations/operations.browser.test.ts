import { type Operations, parseOperations, windowAt } from "@lethe/core/message";
import type { Browser, BrowserContextOptions } from "playwright-core";
import { launch as launchPuppeteer } from "puppeteer-core";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { readConsole } from "../../../cli/src/system/console.ts";
import { chromiumPath, launch, PATIENCE_MS, settings } from "../../../device/test/browser.ts";
import { startService } from "../../../server/dist/service.js";
import { enrolMany, fetchTask, type KnownTask, reportOf, upload } from "../../../server/test/device.ts";
import { startPostgres } from "../../../server/test/postgres.ts";
import {
  ADMIN_TOKEN,
  createTask,
  EXACT_TASK,
  SILENT,
  startTestService,
  type TestService,
} from "../../../server/test/service.ts";
import { makeTask, startPair } from "../../../server/test/two-servers.ts";
import { violationsIn } from "../../test/axe.ts";
import { expectedOf, shownIn } from "../../test/shown-operations.ts";
import { enterToken, type Visit, visit } from "../../test/visit.ts";

const GROUPED = { ...EXACT_TASK, task: "grouped", ticks: 60, groups: ["stable", "beta"] };
const WAIT = { timeout: PATIENCE_MS, interval: 50 };

describe.runIf(chromiumPath)(
  "operations in a browser, of the service that delivers it",
  {
    timeout: 2 * PATIENCE_MS,
  },
  () => {
    let service: TestService;
    let task: KnownTask;
    let browser: Browser;
    const visits: Visit[] = [];
    beforeAll(async () => {
      service = await startTestService({ console: readConsole() });
      await createTask(service, EXACT_TASK);
      await createTask(service, GROUPED);
      task = await fetchTask(service, EXACT_TASK.task);
      browser = await launch();
    }, PATIENCE_MS);
    afterAll(async () => {
      await browser?.close();
      await service?.remove();
    });

    const running = (): number => windowAt(EXACT_TASK, service.clock() / 1000);

    async function open(options: BrowserContextOptions = {}, at: { readonly url: string } = service): Promise<Visit> {
      const visited = await visit(browser, `${at.url}/#/operations`, options);
      visits.push(visited);
      await enterToken(visited.page);
      await visited.page.locator(".facts").waitFor();
      return visited;
    }

    /** Waits until the page shows a document for which this holds, and checks every figure. */
    async function expectShown(
      { page, operations }: Visit,
      holds: (found: Operations) => boolean,
    ): Promise<Operations> {
      return vi.waitFor(async () => {
        const found = parseOperations(operations.at(-1) ?? "");
        expect(holds(found)).toBe(true);
        expect(await shownIn(page)).toEqual(expectedOf(found));
        return found;
      }, WAIT);
    }

    const stateOf = (found: Operations, window: number): string | undefined =>
      found.tasks.find((each) => each.task === EXACT_TASK.task)?.windows.find((each) => each.window === window)?.state;

    it("every figure is that of the service's document, and refusals appear by reason when they happen", async () => {
      const visited = await open();
      await expectShown(visited, ({ backlog }) => backlog?.keys === 20);
      const window = running();
      const devices = await enrolMany(service, task, window, 4);
      for (const device of devices) expect((await upload(service, device, reportOf(device))).status).toBe(201);
      const [first] = devices;
      if (!first) throw new TypeError("nobody enrolled");
      // Other bytes than before, and a device that nobody knows.
      expect((await upload(service, first, reportOf(first))).status).toBe(409);
      const unknown = { ...first, id: new Uint8Array(16) };
      for (let i = 0; i < 2; i++) expect((await upload(service, unknown, reportOf(first))).status).toBe(404);
      const refused = { "unknown-device": 2, "report-differs": 1 };
      await expectShown(visited, ({ tasks, backlog }) => {
        const status = tasks.flatMap(({ windows }) => windows).find((each) => each.window === window);
        return JSON.stringify(status?.refused).includes('"unknown-device":2') && backlog?.reports === 0;
      });
      const { tasks } = await shownIn(visited.page);
      expect(tasks[0]?.refused).toEqual({ [window]: refused });
      await visited.page.getByText("This device has sent a different report before").waitFor();
    });

    it("windows change their states in the page, while it is open", async () => {
      const visited = await open();
      const window = running();
      await expectShown(visited, (found) => stateOf(found, window) === "open");
      const strip = visited.page.locator(`section[aria-label="${EXACT_TASK.task}"] .window-strip > svg`);
      expect(await strip.getAttribute("aria-label")).toContain("1 running");
      service.clock.advance(120);
      const after = await expectShown(visited, (found) => stateOf(found, window) === "grace");
      expect(after.tasks[0]?.nextRelease).toEqual({ window, at: (window + 1) * 120 + 60 });
      expect(await strip.getAttribute("aria-label")).toContain("1 late reports");
      service.clock.advance(60);
      await expectShown(visited, (found) => stateOf(found, window) === "released");
      expect(await strip.locator("title").allTextContents()).toContain(`window ${window}: released`);
    });

    it("a window is closed after a confirmation, and not without", async () => {
      const { page } = await open();
      const window = running();
      const ask = page.getByRole("button", { name: `Close window ${window} now` });
      const dialog = page.getByRole("dialog");
      await ask.focus();
      await page.keyboard.press("Enter");
      await dialog.getByText("This cannot be undone").waitFor();
      await dialog.getByText("That is too few: 3 more are needed").waitFor();
      await page.keyboard.press("Escape");
      await dialog.waitFor({ state: "detached" });
      expect(await ask.evaluate((button) => button === document.activeElement)).toBe(true);
      const status = await (await fetch(`${service.url}/v1/tasks/exact/windows/${window}`)).json();
      expect(status).toMatchObject({ state: "open" });
      await ask.click();
      await dialog.getByRole("button", { name: "Close the window" }).click();
      await page.getByText(`Window ${window} is closed with 0 reports.`).waitFor();
      const row = page.locator(".windows tbody tr", { hasText: String(window) });
      await row.getByText("too few devices").waitFor();
      await ask.waitFor({ state: "detached" });
    });

    it("a window that cannot be closed any more stays as it is, and the dialog says why", async () => {
      const { page } = await open();
      service.clock.advance(120);
      const window = running();
      await page.getByRole("button", { name: `Close window ${window} now` }).click();
      service.clock.advance(180);
      await page.getByRole("button", { name: "Close the window" }).click();
      await page.getByRole("alert").getByText(`window ${window} takes no more reports`).waitFor();
    });

    it("last figures stay when the service goes away, marked as old, and are live again when it is back", async () => {
      const { page } = await open({ viewport: { width: 360, height: 900 }, bypassCSP: true });
      const { port } = new URL(service.url);
      const freshness = page.locator(".freshness");
      await freshness.getByText("Live").waitFor();
      const before = (await shownIn(page)).tasks;
      await service.stop();
      await freshness.getByText("Old figures").getByText("The service does not answer").waitFor();
      expect(await freshness.getAttribute("data-old")).toBe("true");
      expect((await shownIn(page)).tasks).toEqual(before);
      expect(await violationsIn(page)).toEqual([]);
      await service.restart({ port: Number(port) });
      await freshness.getByText("Live").waitFor();
      expect(await freshness.getAttribute("data-old")).toBe("false");
    });

    it("a hidden tab asks for nothing, and asks again when it is visible", async () => {
      // Playwright keeps every tab visible; this one is really hidden behind the other.
      const tabs = await launchPuppeteer(settings());
      onTestFinished(() => tabs.close());
      const openTab = async () => {
        const page = await tabs.newPage();
        const polls: string[] = [];
        page.on("request", (request) => {
          if (request.url().endsWith("/v1/operations")) polls.push(request.url());
        });
        page.setDefaultTimeout(PATIENCE_MS);
        await page.goto(`${service.url}/#/operations`);
        await (await page.waitForSelector("input[type=password]"))?.type(`${ADMIN_TOKEN}\n`);
        await page.waitForSelector(".facts");
        return { page, polls };
      };
      const hidden = await openTab();
      const visible = await openTab();
      expect(await hidden.page.evaluate(() => document.visibilityState)).toBe("hidden");
      const [asked, others] = [hidden.polls.length, visible.polls.length];
      await vi.waitFor(() => expect(visible.polls.length).toBeGreaterThan(others + 3), WAIT);
      expect(hidden.polls.length).toBe(asked);
      await hidden.page.bringToFront();
      await vi.waitFor(() => expect(hidden.polls.length).toBeGreaterThan(asked + 1), WAIT);
    });

    it("a leader shows whether its helper answers", async () => {
      const pair = await startPair({ leader: { console: readConsole() }, helper: { console: readConsole() } });
      onTestFinished(pair.remove);
      await makeTask(pair);
      const { page } = await open({}, pair.leader);
      const helper = page.locator(".fact", { hasText: "Helper" });
      await helper.getByText("Ready").waitFor();
      await helper.getByText(pair.helper.url).waitFor();
      const atHelper = await open({}, pair.helper);
      await atHelper.page.getByText("Role helper").waitFor();
      // Only the leader closes windows.
      expect(await atHelper.page.getByText("Close window").count()).toBe(0);
      const { port } = new URL(pair.helper.url);
      await pair.helper.stop();
      await helper.getByText("Does not answer").waitFor();
      await page.locator(".fact.bad", { hasText: "no answer within 2 s" }).waitFor();
      await pair.helper.restart({ port: Number(port) });
      await helper.getByText("Ready").waitFor();
    });

    it.each([
      ["light", 1400],
      ["light", 360],
      ["dark", 1400],
      ["dark", 360],
    ] as const)(
      "axe finds nothing wrong in %s at %i pixels, nothing is too wide, and nothing jumps",
      async (colorScheme, width) => {
        const options = {
          colorScheme,
          viewport: { width, height: 900 },
          reducedMotion: "reduce",
          bypassCSP: true,
        } as const;
        const visited = await open(options);
        const { page, operations } = visited;
        // Windows of the tests before this one are finished.
        const areFinished = ({ tasks }: Operations): boolean =>
          tasks.every(({ windows }) => windows.every(({ state }) => state !== "closed"));
        await expectShown(visited, (found) => found.backlog?.windows === 0 && areFinished(found));
        const isNarrow = async () =>
          expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
        expect(await violationsIn(page)).toEqual([]);
        await isNarrow();
        // Whatever moves from now on moves by itself.
        await page.evaluate(() => {
          const shifts: string[] = [];
          Object.assign(window, { shifts });
          new PerformanceObserver((list) => {
            for (const entry of list.getEntries()) shifts.push(JSON.stringify(entry));
          }).observe({ type: "layout-shift" });
        });
        const polls = operations.length;
        await vi.waitFor(() => expect(operations.length).toBeGreaterThan(polls + 2), WAIT);
        expect(await page.evaluate(() => (window as unknown as { shifts: string[] }).shifts)).toEqual([]);
        await page.getByRole("button", { name: "Close window" }).first().click();
        await page.getByRole("dialog").waitFor();
        expect(await violationsIn(page)).toEqual([]);
        await isNarrow();
      },
    );

    it("everything can be reached with the keyboard", async () => {
      const { page } = await open();
      const named = new Set<string>();
      for (let i = 0; i < 20; i++) {
        await page.keyboard.press("Tab");
        named.add(
          await page.evaluate(() => {
            const element = document.activeElement;
            return element?.getAttribute("aria-label") ?? element?.textContent?.trim() ?? "";
          }),
        );
      }
      for (const name of ["Operations", "Forget the token", `Windows of ${EXACT_TASK.task}, as a table`]) {
        expect([...named]).toContain(name);
      }
      expect([...named].some((name) => name.startsWith("Close window"))).toBe(true);
    });

    it("a service without tasks says so, and shows how it is", async () => {
      const empty = await startTestService({ console: readConsole() });
      onTestFinished(empty.remove);
      const { page } = await open({}, empty);
      await page.getByText("This service collects nothing yet").waitFor();
      await page.locator(".fact", { hasText: "Next release" }).getByText("None", { exact: true }).waitFor();
    });

    it("an intake without an admin token says where operations are, and asks for none", async () => {
      const postgres = await startPostgres();
      onTestFinished(postgres.remove);
      const intake = await startService({
        ...{ role: "intake", host: "127.0.0.1", port: 0, log: SILENT, console: readConsole() },
        databaseUrl: await postgres.createDatabase(),
      });
      onTestFinished(intake.close);
      const { page } = await visit(browser, `${intake.url}/#/operations`);
      await page.getByText("This process answers no admin").waitFor();
      expect(await page.getByLabel("Admin token").count()).toBe(0);
    });

    it("nothing was loaded from another origin, and no address, cookie or answer had the token", async () => {
      const { page } = await open();
      expect(await page.context().cookies()).toEqual([]);
      expect(visits.length).toBeGreaterThan(0);
      for (const { asked, operations } of visits) {
        const origins = new Set(asked.map((url) => new URL(url).origin));
        expect(origins.size).toBe(1);
        expect(asked.length).toBeGreaterThan(5);
        expect([...asked, ...operations].join(" ")).not.toContain(ADMIN_TOKEN);
      }
    });
  },
);
