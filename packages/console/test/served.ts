import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { onTestFinished } from "vitest";
import { readConsole } from "../../cli/src/system/console.ts";
import { launch, PATIENCE_MS } from "../../device/test/browser.ts";
import { startTestService, type TestService } from "../../server/test/service.ts";

/** A real service that delivers the console itself, and a browser. */
export interface Served {
  readonly service: TestService;
  /** Opens a view in a context of its own, until the test is finished. */
  open(hash: string, options?: BrowserContextOptions): Promise<Page>;
  close(): Promise<void>;
}

/** Starts both. */
export async function startServed(): Promise<Served> {
  const service = await startTestService({ console: readConsole() });
  const browser: Browser = await launch();
  return {
    service,
    open: async (hash, options = {}) => {
      const context = await browser.newContext({ locale: "en-US", timezoneId: "UTC", ...options });
      onTestFinished(() => context.close());
      const page = await context.newPage();
      page.setDefaultTimeout(PATIENCE_MS);
      await page.goto(`${service.url}/${hash}`);
      return page;
    },
    close: async () => {
      await browser.close();
      await service.remove();
    },
  };
}
