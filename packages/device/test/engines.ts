import { existsSync } from "node:fs";
import { chromium } from "playwright-core";
import { launch as launchPuppeteer } from "puppeteer-core";
import { chromiumPath, settings } from "./browser.ts";
import { callOf, type RunningBrowser } from "./tab.ts";
import { launchWebKit } from "./webkit.ts";

export interface Engine {
  readonly name: string;
  readonly isInstalled: boolean;
  /** With nothing stored. */
  launch(): Promise<RunningBrowser>;
}

/** The same as in `scripts/browsers.js`: the path in the variable, or what Debian installs, with what it needs. */
function find(path: string | undefined, ...files: readonly [string, ...string[]]): string | undefined {
  return path ?? (files.every(existsSync) ? files[0] : undefined);
}

const firefoxPath = find(process.env.FIREFOX_PATH, "/usr/bin/firefox-esr");
const webKitDriverPath = find(process.env.WEBKIT_DRIVER_PATH, "/usr/bin/WebKitWebDriver", "/usr/bin/Xvfb");

/** All that the SDK is tested in. */
export const ENGINES: readonly Engine[] = [
  { name: "Chromium", isInstalled: chromiumPath !== undefined, launch: launchChromium },
  { name: "Firefox", isInstalled: firefoxPath !== undefined, launch: () => launchFirefox(`${firefoxPath}`) },
  { name: "WebKit", isInstalled: webKitDriverPath !== undefined, launch: () => launchWebKit(`${webKitDriverPath}`) },
];

async function launchChromium(): Promise<RunningBrowser> {
  const browser = await chromium.launch(settings());
  const context = await browser.newContext();
  return {
    openTab: async () => {
      const page = await context.newPage();
      return {
        goto: async (url) => void (await page.goto(url)),
        reload: async () => void (await page.reload()),
        evaluate: (act, ...args) => page.evaluate(callOf(act, args)),
        close: async () => {
          await Promise.all([page.waitForEvent("close"), page.close({ runBeforeUnload: true })]);
        },
      };
    },
    close: () => browser.close(),
  };
}

async function launchFirefox(executablePath: string): Promise<RunningBrowser> {
  const browser = await launchPuppeteer({ browser: "firefox", executablePath });
  return {
    openTab: async () => {
      const page = await browser.newPage();
      return {
        goto: async (url) => void (await page.goto(url)),
        reload: async () => void (await page.reload()),
        evaluate: async <A extends readonly unknown[], T>(act: (...args: A) => T | Promise<T>, ...args: A) =>
          (await page.evaluate(callOf(act, args))) as T,
        close: () => page.close({ runBeforeUnload: true }),
      };
    },
    close: () => browser.close(),
  };
}
