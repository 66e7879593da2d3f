/// <reference lib="dom" />
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { eventually } from "../../../server/test/eventually.ts";
import { createTask, startTestService } from "../../../server/test/service.ts";
import { bundle, chromiumPath, launch, PATIENCE_MS, servePage } from "../../test/browser.ts";
import type {} from "../../test/browser-lethe.ts";
import { DAILY, DAY } from "../../test/budgeted.ts";

it.skipIf(!chromiumPath)(
  "two tabs with different tasks pay from the one budget of their origin, in Chromium",
  async () => {
    const service = await startTestService({ enrolment: { rate: { perSecond: 1e6, burst: 1e6 } }, keysAhead: 4 });
    const script = await bundle(new URL("../../test/browser-lethe.ts", import.meta.url), true);
    const html = `<!doctype html><script type="module" src="page.js"></script>`;
    const site = await servePage(html, { "page.js": script }, `default-src 'none'; connect-src ${service.url}`);
    const browser = await launch();
    try {
      const context = await browser.newContext();
      const left = new Set<string>();
      context.on("request", (request) => {
        if (request.method() === "PUT") left.add(request.url());
      });
      const tabs = new Map<string, Page>();
      const openTab = async (task: string): Promise<void> => {
        const page = tabs.get(task) ?? (await context.newPage());
        page.setDefaultTimeout(PATIENCE_MS);
        await page.goto(site.url);
        await page.waitForFunction(() => globalThis.counter !== undefined);
        const options = { server: service.url, task, operatorKey: service.operatorKey };
        const budget = { epsilon: 3, days: 30 };
        await page.evaluate(([now, how]) => counter.openAt(now, how), [
          service.clock(),
          { ...options, budget },
        ] as const);
        tabs.set(task, page);
      };
      const live = () =>
        Promise.all([...tabs.values()].map((page) => page.evaluate((now) => counter.live(now), service.clock())));
      const isCounting = (page: Page) => page.evaluate(() => (counter.lethe?.inspect().memory.length ?? 0) > 0);
      const day = async (): Promise<void> => {
        await eventually(async () => {
          service.clock.advance(1);
          await live();
          const counting = await Promise.all([...tabs.values()].map(isCounting));
          return counting.every(Boolean) ? true : undefined;
        });
        service.clock.advance(DAY - ((service.clock() / 1000) % DAY));
        // Both at once: they wait for each other's charges.
        await live();
      };
      for (const task of ["one", "two"]) {
        await createTask(service, { ...DAILY, task });
        await openTab(task);
      }
      await day();
      await day();
      expect(left.size).toBe(3);
      // Neither a new page nor the withdrawal of consent gives anything back.
      await openTab("one");
      const page = tabs.get("one");
      await page?.evaluate(async () => {
        await counter.lethe?.setConsent(false);
        await counter.lethe?.setConsent(true);
      });
      await day();
      expect(left.size).toBe(3);
      const problems = await Promise.all([...tabs.values()].map((tab) => tab.evaluate(() => counter.problems)));
      for (const each of problems) expect(each.map(({ code }) => code)).toContain("budget-spent");
      // As it is stored: damaged, it counts as spent.
      const stored = await page?.evaluate(
        () =>
          new Promise<number>((resolve, reject) => {
            const opening = indexedDB.open("lethe");
            opening.onerror = () => reject(opening.error);
            opening.onsuccess = () => {
              const found = opening.result.transaction("records").objectStore("records").get("budget");
              found.onsuccess = () => resolve((found.result as Uint8Array).length);
            };
          }),
      );
      expect(stored).toBeGreaterThan(100);
    } finally {
      await browser.close();
      site.close();
      await service.remove();
    }
  },
);
