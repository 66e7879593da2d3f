import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, onTestFinished } from "vitest";
import { readConsole } from "../../cli/src/system/console.ts";
import { launch, PATIENCE_MS } from "../../device/test/browser.ts";
import { startTestService, type TestService } from "../../server/test/service.ts";

/** A real service that delivers the console itself, and a browser. */
export interface Served {
  /** While tests run. */
  service(): TestService;
  /** Opens a view in a context of its own, until the test is finished. */
  open(hash: string, options?: BrowserContextOptions): Promise<Page>;
}

/** Starts both before the tests of a suite, and stops them after it. */
export function useServed(): Served {
  let parts: { readonly service: TestService; readonly browser: Browser } | undefined;
  beforeAll(async () => {
    parts = { service: await startTestService({ console: readConsole() }), browser: await launch() };
  }, PATIENCE_MS);
  afterAll(async () => {
    await parts?.browser.close();
    await parts?.service.remove();
  });
  const running = (): NonNullable<typeof parts> => {
    if (!parts) throw new TypeError("the service does not run");
    return parts;
  };
  return {
    service: () => running().service,
    open: async (hash, options = {}) => {
      const { browser, service } = running();
      const context = await browser.newContext({ locale: "en-US", timezoneId: "UTC", ...options });
      onTestFinished(() => context.close());
      const page = await context.newPage();
      page.setDefaultTimeout(PATIENCE_MS);
      await page.goto(`${service.url}/${hash}`);
      return page;
    },
  };
}
