import { existsSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { type Browser, type BrowserContext, chromium } from "playwright-core";
import { rolldown } from "rolldown";

const DEBIAN = "/usr/bin/chromium";

/**
 * Undefined if there is none: `npm test` then says so, and tests in a browser are skipped. The same as in
 * `scripts/browsers.js`.
 */
export const chromiumPath: string | undefined = process.env.CHROMIUM_PATH ?? (existsSync(DEBIAN) ? DEBIAN : undefined);

/** How long tests wait for a page, and for a browser to start: a busy machine takes its time. */
export const PATIENCE_MS = 180_000;

/** How Chromium is started. */
export function settings(): { executablePath: string; args: string[]; timeout: number } {
  if (!chromiumPath) throw new Error("there is no Chromium");
  // Chromium refuses to run its sandbox as root.
  const args = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
  return { executablePath: chromiumPath, args, timeout: PATIENCE_MS };
}

export function launch(): Promise<Browser> {
  return chromium.launch(settings());
}

/** One that keeps what a browser keeps, in a folder. */
export function launchWithProfile(folder: string): Promise<BrowserContext> {
  return chromium.launchPersistentContext(folder, settings());
}

/** Everything that a module needs, as one module for browsers. */
export async function bundle(entry: URL, minify = false): Promise<string> {
  const build = await rolldown({ input: fileURLToPath(entry), platform: "browser" });
  const { output } = await build.generate({ format: "esm", minify, codeSplitting: false });
  await build.close();
  return output[0].code;
}

export interface Site {
  /** Of the page, with a slash at its end. */
  readonly url: string;
  close(): void;
}

/**
 * Serves a page at `/` and `/other` and scripts by their names, under a policy that allows only scripts of the site
 * itself, and more if `policy` says so.
 */
export async function servePage(html: string, scripts: Readonly<Record<string, string>>, policy = ""): Promise<Site> {
  const server = createServer(({ url = "/" }, response) => {
    const script = scripts[url.slice(1)];
    const [type, body] = script === undefined ? ["text/html", html] : ["text/javascript", script];
    response.writeHead(script === undefined && !["/", "/other"].includes(url) ? 404 : 200, {
      "content-type": `${type}; charset=utf-8`,
      "content-security-policy": `script-src 'self'; ${policy}`,
      "cache-control": "no-store",
    });
    response.end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
