/// <reference lib="dom" />
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Release } from "@lethe/core/message";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { chromiumPath, launch, PATIENCE_MS } from "../../../device/test/browser.ts";
import { eventually } from "../../../server/test/eventually.ts";
import { letheWith, type RunningService, START_TIMEOUT, startService } from "../../test/lethe.ts";
import type { Snippet } from "./snippet.ts";

const TASK = {
  version: 1,
  task: "clicked",
  tickSeconds: 60,
  ticks: 10,
  graceSeconds: 60,
  mode: "one-server",
  scheme: "elgamal",
  minimumDevices: 1,
  metrics: [{ name: "clicked", statistic: "occurrence", localEpsilon: 20 }],
};

describe.skipIf(!chromiumPath)("lethe task snippet", () => {
  let folder: string;
  let service: RunningService;
  let browser: Browser;
  let snippet: Snippet;

  const run = (...args: string[]) => letheWith({ cwd: folder, env: { LETHE_SERVER: service.url } }, ...args);

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "lethe-snippet-"));
    writeFileSync(join(folder, "task.json"), JSON.stringify(TASK));
    service = await startService({ cwd: folder });
    expect(run("task", "create", "task.json").stderr).toBe("");
    snippet = JSON.parse(run("task", "snippet", "clicked", "--json").stdout) as Snippet;
    browser = await launch();
  }, START_TIMEOUT);
  afterAll(async () => {
    await browser?.close();
    service?.process.kill("SIGKILL");
    await service?.ended;
    rmSync(folder, { recursive: true });
  });

  /** A page of another site, under the policy that the snippet names and nothing else; its script ends with a mark. */
  async function openPage(html: string): Promise<{ page: Page; complaints: string[]; close(): Promise<void> }> {
    const script = `${snippet.script}\nglobalThis.opened = lethe ?? "nothing";`;
    const site = createServer(({ url }, response) => {
      const [type, body] =
        url === "/telemetry.js" ? ["text/javascript", script] : ["text/html", `<!doctype html>${html}`];
      const policy = `default-src 'none'; ${snippet.policy}`;
      response.writeHead(200, { "content-type": type, "content-security-policy": policy }).end(body);
    });
    await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
    const page = await browser.newPage();
    page.setDefaultTimeout(PATIENCE_MS);
    const complaints: string[] = [];
    page.on("console", (message) => complaints.push(message.text()));
    page.on("pageerror", ({ message }) => complaints.push(message));
    await page.goto(`http://127.0.0.1:${(site.address() as AddressInfo).port}/page`);
    await page.waitForFunction(() => "opened" in globalThis);
    return {
      page,
      complaints,
      close: async () => {
        await page.close();
        site.close();
        site.closeAllConnections();
      },
    };
  }

  it("prints tags, a file and a policy, for reading too", () => {
    expect(snippet.src).toMatch(new RegExp(`^${service.url}/lethe-[0-9a-f]{32}\\.js$`));
    expect(snippet.integrity).toMatch(/^sha384-[\w+/]{64}$/);
    expect(snippet.html).toContain(
      `<script type="module" src="${snippet.src}" integrity="${snippet.integrity}" crossorigin="anonymous"></script>`,
    );
    const { stdout } = run("task", "snippet", "clicked");
    for (const part of [snippet.html, snippet.script, snippet.policy]) expect(stdout).toContain(part);
    expect(snippet.script).toContain(`operatorKey: "${service.operatorKey}"`);
    expect(snippet.script).not.toContain("helperKey");
  });

  it("a page with it counts, under a policy without inline script", async () => {
    const { page, complaints, close } = await openPage(snippet.html);
    type Opened = { record(name: string): void; inspect(): { memory: readonly unknown[] } };
    await page.waitForFunction(() => (globalThis as unknown as { opened: Opened }).opened.inspect().memory.length > 0);
    // A window may end between two of these lines.
    const released = await eventually(async () => {
      await page.evaluate(() => (globalThis as unknown as { opened: Opened }).opened.record("clicked"));
      const answer = await fetch(`${service.url}/v1/tasks/clicked/releases`);
      const { releases } = (await answer.json()) as { releases: readonly Release[] };
      return releases.find(({ metrics: [clicked] = [] }) => clicked && "estimate" in clicked && clicked.estimate > 0.5);
    });
    expect(released).toMatchObject({ received: 1, metrics: [{ estimate: expect.closeTo(1, 3) }] });
    expect(complaints).toEqual([]);
    await close();
  });

  it("with another integrity the browser does not run the SDK, and the page goes on without", async () => {
    const forged = snippet.html.replace(snippet.integrity, `sha384-${"A".repeat(64)}`);
    const { page, complaints, close } = await openPage(forged);
    expect(
      await page.evaluate(() => [
        (globalThis as { opened?: unknown }).opened,
        typeof (globalThis as { Lethe?: unknown }).Lethe,
      ]),
    ).toEqual(["nothing", "undefined"]);
    expect(complaints).toEqual([expect.stringContaining("integrity")]);
    await close();
  });

  it("is refused for a task or a service that is not there", () => {
    expect(run("task", "snippet", "missing")).toMatchObject({ status: 2, stdout: "" });
    const nowhere = run("task", "snippet", "clicked", "--server", "http://127.0.0.1:1");
    expect(nowhere).toMatchObject({ status: 2, stderr: expect.stringMatching(/^error: no service answers [^\n]*\n$/) });
  });
});
