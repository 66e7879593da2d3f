import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, onTestFinished } from "vitest";
import { readConsole } from "../../cli/src/system/console.ts";
import { launch, PATIENCE_MS } from "../../device/test/browser.ts";
import { startTestService, type TestService } from "../../server/test/service.ts";

/** A real service that delivers the console itself, and a browser. */
export interface Served {
  /** While tests run. */
  service(): TestService;
  /** A browser that nobody has used yet, until the test is finished. */
  context(options?: BrowserContextOptions): Promise<BrowserContext>;
  /** Opens a view in a context of its own, until the test is finished. */
  open(hash: string, options?: BrowserContextOptions): Promise<Page>;
}

/** Starts both before the tests of a suite, and stops them after it. */
export function useServed(options: Parameters<typeof startTestService>[0] = {}): Served {
  let parts: { readonly service: TestService; readonly browser: Browser } | undefined;
  beforeAll(async () => {
    parts = { service: await startTestService({ console: readConsole(), ...options }), browser: await launch() };
  }, PATIENCE_MS);
  afterAll(async () => {
    await parts?.browser.close();
    await parts?.service.remove();
  });
  const running = (): NonNullable<typeof parts> => {
    if (!parts) throw new TypeError("the service does not run");
    return parts;
  };
  async function context(settings: BrowserContextOptions = {}): Promise<BrowserContext> {
    const opened = await running().browser.newContext({ locale: "en-US", timezoneId: "UTC", ...settings });
    onTestFinished(() => opened.close());
    return opened;
  }
  return {
    service: () => running().service,
    context,
    open: async (hash, settings) => {
      const page = await (await context(settings)).newPage();
      page.setDefaultTimeout(PATIENCE_MS);
      await page.goto(`${running().service.url}/${hash}`);
      return page;
    },
  };
}
