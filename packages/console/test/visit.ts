import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { onTestFinished } from "vitest";
import { PATIENCE_MS } from "../../device/test/browser.ts";
import { ADMIN_TOKEN } from "../../server/test/service.ts";

/** A page of the console in a browser context of its own, until the test is over. */
export interface Visit {
  readonly page: Page;
  /** Every address that it asked for, in order. */
  readonly asked: string[];
  /** What the service answered at `/v1/operations`, in order. */
  readonly operations: string[];
}

/** Opens a view of the console that a service delivers. */
export async function visit(browser: Browser, url: string, options: BrowserContextOptions = {}): Promise<Visit> {
  const context = await browser.newContext({ locale: "en-US", timezoneId: "UTC", ...options });
  onTestFinished(() => context.close());
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  const [asked, operations]: [string[], string[]] = [[], []];
  page.on("request", (request) => asked.push(request.url()));
  page.on("response", async (response) => {
    // The page may be gone before the body is read.
    const body = response.url().endsWith("/v1/operations") ? await response.text().catch(() => undefined) : undefined;
    if (body !== undefined && response.ok()) operations.push(body);
  });
  await page.goto(url);
  return { page, asked, operations };
}

/** Enters a token as the admin does. */
export async function enterToken(page: Page, token: string = ADMIN_TOKEN): Promise<void> {
  await page.getByLabel("Admin token").fill(token);
  await page.getByLabel("Admin token").press("Enter");
}
