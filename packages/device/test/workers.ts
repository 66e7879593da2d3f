/// <reference lib="dom" />
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type BrowserContext, chromium, type Page } from "playwright-core";
import { rolldown } from "rolldown";
import { chromiumPath, PATIENCE_MS } from "./browser.ts";
import type { Asked, Told } from "./worker-lethe.ts";

/** A service worker that counts, of a page or of an extension. */
export interface WorkerDevice {
  /** Starts the worker, if it does not run. */
  ask(asked: Asked): Promise<Told>;
  /** Ends it at once, as the browser does with workers that are idle. */
  stop(): Promise<void>;
}

/**
 * The worker as an application's bundler makes it, with code splitting: what it imports on demand would be other files.
 * By name.
 */
export async function buildWorker(): Promise<Record<string, string>> {
  const build = await rolldown({
    input: { worker: fileURLToPath(new URL("worker-lethe.ts", import.meta.url)) },
    platform: "browser",
    // It is what `@lethe/device/all` is for.
    checks: { ineffectiveDynamicImport: false },
  });
  const { output } = await build.generate({ format: "esm", minify: true, chunkFileNames: "[name].js" });
  await build.close();
  return Object.fromEntries(output.flatMap((file) => (file.type === "chunk" ? [[file.fileName, file.code]] : [])));
}

/** Registers `worker.js` of the page's site. */
export async function registerWorker(page: Page): Promise<WorkerDevice> {
  await page.evaluate(async () => {
    await navigator.serviceWorker.register("worker.js", { type: "module" });
    await navigator.serviceWorker.ready;
  });
  const ask = (asked: Asked): Promise<Told> =>
    page.evaluate(async (message) => {
      const { active } = await navigator.serviceWorker.ready;
      const { port1, port2 } = new MessageChannel();
      return new Promise<Told>((resolve) => {
        port1.onmessage = ({ data }) => resolve(data as Told);
        active?.postMessage(message, [port2]);
      });
    }, asked);
  return { ask, stop: await stopper(page) };
}

/**
 * A browser with an extension of Manifest V3, whose worker this is, that may ask these services; its profile is in the
 * folder.
 */
export async function launchExtension(
  folder: string,
  files: Readonly<Record<string, string>>,
  services: readonly string[],
): Promise<{ context: BrowserContext; worker: WorkerDevice }> {
  const extension = join(folder, "extension");
  mkdirSync(extension);
  const manifest = {
    manifest_version: 3,
    name: "Lethe",
    version: "1",
    background: { service_worker: "worker.js", type: "module" },
    host_permissions: services.map((url) => `${url.replace(/:\d+$/, "")}/*`),
  };
  const all = { ...files, "manifest.json": JSON.stringify(manifest), "page.html": "<!doctype html>" };
  for (const [name, content] of Object.entries(all)) writeFileSync(join(extension, name), content);
  if (!chromiumPath) throw new Error("there is no Chromium");
  const sandbox = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
  const context = await chromium.launchPersistentContext(join(folder, "profile"), {
    executablePath: chromiumPath,
    ignoreDefaultArgs: ["--disable-extensions"],
    args: [...sandbox, `--disable-extensions-except=${extension}`, `--load-extension=${extension}`],
  });
  const [running] = context.serviceWorkers();
  const { host } = new URL((running ?? (await context.waitForEvent("serviceworker"))).url());
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  await page.goto(`chrome-extension://${host}/page.html`);
  const ask = (asked: Asked): Promise<Told> =>
    page.evaluate((message) => {
      const { chrome } = globalThis as unknown as {
        chrome: { runtime: { sendMessage(message: unknown): Promise<Told> } };
      };
      return chrome.runtime.sendMessage(message);
    }, asked);
  return { context, worker: { ask, stop: await stopper(page) } };
}

async function stopper(page: Page): Promise<() => Promise<void>> {
  const debug = await page.context().newCDPSession(page);
  await debug.send("ServiceWorker.enable");
  return async () => {
    await debug.send("ServiceWorker.stopAllWorkers");
  };
}
