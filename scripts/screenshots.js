// Takes the screenshots of the README, in docs/: the results of a demonstration, and the inside of a device. They come
// from a real service with 200 devices, after some windows, so this takes minutes. `npm run screenshots -- --devices 20`
// is faster; all options are those of `lethe demo`.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { statSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { findOrInstallBrowsers } from "./browsers.js";

const WINDOWS = 8;
const MOST_BYTES = 150_000;
/** Only a page that hangs takes longer, also on a busy machine. */
const MOST_MS = 600_000;

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const { CHROMIUM_PATH: executablePath } = findOrInstallBrowsers().paths;
if (!executablePath) throw new Error("there is no Chromium: install it, or set CHROMIUM_PATH");

const demo = spawn(
  process.execPath,
  [join(root, "packages/cli/bin/lethe.js"), "demo", "--no-open", "--json", ...process.argv.slice(2)],
  {
    stdio: ["ignore", "pipe", "pipe"],
  },
);
process.once("exit", () => demo.kill("SIGKILL"));
const address = await new Promise((resolve) => {
  createInterface(demo.stderr).on("line", (line) => {
    if (line.startsWith("console: ")) resolve(line.slice("console: ".length));
  });
});
const windows = createInterface(demo.stdout)[Symbol.asyncIterator]();
for (let done = 0; done < WINDOWS; done++) {
  console.error(`${address}: ${done} of ${WINDOWS} windows`);
  await windows.next();
}

// Chromium refuses to run its sandbox as root.
const args = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
const browser = await chromium.launch({ executablePath, args });
await take("results", "#/results/editor-health?metric=export.clicks", { width: 1000, height: 1000 }, async (page) => {
  // A horizontal line has no height, and counts as hidden.
  await page.locator("section.metric svg line.truth").first().waitFor({ state: "attached" });
  await page.locator(".live").getByText("tick 3 of 6").waitFor();
});
await take("inside-a-device", "#/device", { width: 1000, height: 836 }, async (page) => {
  const button = page.locator(".record button").first();
  for (const times of [2, 1]) {
    for (let i = 0; i < times; i++) await button.click();
    await page.getByRole("button", { name: "Next tick" }).click();
  }
  await page.evaluate(() => scrollTo(0, 0));
});
await browser.close();
demo.kill("SIGINT");
await once(demo, "exit");

/** Opens a view in the light theme, prepares it, and saves what the window shows as docs/<name>.png. */
async function take(name, hash, viewport, prepare) {
  const context = await browser.newContext({ viewport, colorScheme: "light", locale: "en-US", timezoneId: "UTC" });
  const page = await context.newPage();
  page.setDefaultTimeout(MOST_MS);
  await page.goto(address + hash);
  await prepare(page);
  const path = join(root, "docs", `${name}.png`);
  await page.screenshot({ path, animations: "disabled" });
  await context.close();
  const { size } = statSync(path);
  if (size > MOST_BYTES)
    throw new Error(`docs/${name}.png has ${size} bytes, more than ${MOST_BYTES}: make it smaller`);
  console.error(`docs/${name}.png: ${size} bytes`);
}
