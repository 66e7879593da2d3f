/// <reference lib="dom" />
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { figuresOf, type Release } from "@lethe/core/message";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { chromiumPath, launch, PATIENCE_MS } from "../../../device/test/browser.ts";
import { letheWith, type RunningService, START_TIMEOUT, startService } from "../../test/lethe.ts";
import type { Snippet } from "./snippet.ts";

const STEPS = ["cart.opened", "checkout.started", "paid"];
const WEAK = { localEpsilon: 20, mechanism: "kary" };
/** In development a window is as long as its periods need: 30 of a second each. */
const TASK = {
  version: 1,
  task: "reloads",
  tickSeconds: 60,
  ticks: 3000,
  graceSeconds: 60,
  mode: "one-server",
  minimumDevices: 1,
  metrics: [
    { name: "checkout", statistic: "funnel", steps: STEPS, ...WEAK },
    { name: "format", statistic: "choice", options: ["paid", "used"], keep: "last", ...WEAK },
    { name: "seconds", statistic: "active-periods", event: "used", periodTicks: 100, edges: [0, 1, 2, 30], ...WEAK },
    { name: "halves", statistic: "retention", event: "used", periods: 2, ...WEAK },
  ],
};
const WINDOW_MS = 30_000;

/** What was recorded, and when. */
interface Recorded {
  readonly event: string;
  readonly at: number;
}

type Opened = { record(name: string): void; inspect(): { memory: readonly unknown[] } };

describe.skipIf(!chromiumPath)("statistics that are automata, in a page that is reloaded", () => {
  let folder: string;
  let service: RunningService;
  let browser: Browser;
  let site: Server;
  let page: Page;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "lethe-automata-"));
    writeFileSync(join(folder, "task.json"), JSON.stringify(TASK));
    service = await startService({ cwd: folder });
    const run = (...args: string[]) => letheWith({ cwd: folder, env: { LETHE_SERVER: service.url } }, ...args);
    expect(run("task", "create", "task.json").stderr).toBe("");
    const { html, script } = JSON.parse(run("task", "snippet", "reloads", "--json").stdout) as Snippet;
    site = createServer(({ url }, response) => {
      const isScript = url === "/telemetry.js";
      response.writeHead(200, { "content-type": isScript ? "text/javascript" : "text/html" });
      response.end(isScript ? `${script}\nglobalThis.opened = lethe;` : `<!doctype html>${html}`);
    });
    await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
    browser = await launch();
    page = await browser.newPage();
    page.setDefaultTimeout(PATIENCE_MS);
  }, START_TIMEOUT);
  afterAll(async () => {
    await browser?.close();
    site?.close();
    service?.process.kill("SIGKILL");
    await service?.ended;
    rmSync(folder, { recursive: true });
  });

  /** Loads the page again, waits until it counts, and records an event. */
  async function recordAfterReload(event: string): Promise<Recorded> {
    await page.goto(`http://127.0.0.1:${(site.address() as AddressInfo).port}/page`);
    await page.waitForFunction(
      () => ((globalThis as unknown as { opened?: Opened }).opened?.inspect().memory.length ?? 0) > 0,
    );
    const at = await page.evaluate((name) => {
      (globalThis as unknown as { opened: Opened }).opened.record(name);
      return Date.now();
    }, event);
    return { event, at };
  }

  async function releasesOf(): Promise<readonly Release[]> {
    const answer = await fetch(`${service.url}/v1/tasks/reloads/releases`);
    const { releases } = (await answer.json()) as { releases: readonly Release[] };
    return releases.filter(({ status }) => status === "released");
  }

  /** The categories that a release has a device in. */
  function categoriesIn({ metrics }: Release): (string | undefined)[] {
    return metrics.map((metric) => figuresOf(metric).find(({ figure }) => figure.estimate > 0.5)?.label);
  }

  /** The same from what was recorded. */
  function expectedOf(recorded: readonly Recorded[], from: number): string[] {
    const names = recorded.map(({ event }) => event);
    const reached = STEPS.filter(
      (_, i) =>
        names
          .filter((name) => STEPS.includes(name))
          .slice(0, i + 1)
          .join() === STEPS.slice(0, i + 1).join(),
    );
    const used = recorded.filter(({ event }) => event === "used").map(({ at }) => at - from);
    const seconds = new Set(used.map((at) => Math.floor(at / 1000))).size;
    const halves = [0, 1].map((half) => Number(used.some((at) => Math.floor((2 * at) / WINDOW_MS) === half))).join("");
    return [
      STEPS[reached.length - 1] ?? "none",
      names.findLast((name) => name === "paid" || name === "used") ?? "none",
      seconds < 2 ? `${seconds}` : "2–29",
      halves,
    ];
  }

  it("are released as they happened, whatever was recorded before which reload", async () => {
    const sequence = ["cart.opened", "used", "checkout.started", "paid", "used"];
    const windows = new Map<number, Recorded[]>();
    let found: Release | undefined;
    for (let window = 0; !found && window < 12; window++) {
      // Begins in time for all of it, and waits for the second half before the last two.
      const from = Math.ceil(Date.now() / WINDOW_MS) * WINDOW_MS;
      await new Promise((resolve) => setTimeout(resolve, from + 1500 - Date.now()));
      const recorded: Recorded[] = [];
      for (const [i, event] of sequence.entries()) {
        if (i === 3) await new Promise((resolve) => setTimeout(resolve, Math.max(0, from + 16_000 - Date.now())));
        recorded.push(await recordAfterReload(event));
      }
      windows.set(from, recorded);
      const releases = await releasesOf();
      found = releases.find(({ from: begin }) => isInTime(windows.get(1000 * begin), 1000 * begin));
    }
    if (!found) throw new Error("no window was long enough for all of it");
    const from = 1000 * found.from;
    expect(found.received).toBe(1);
    expect(categoriesIn(found)).toEqual(expectedOf(windows.get(from) as Recorded[], from));
    expect(categoriesIn(found)).toEqual(["paid", "used", "2–29", "11"]);
    const checkout = found.metrics[0] as { reached?: readonly { estimate: number }[] };
    expect(checkout.reached?.map(({ estimate }) => Math.round(estimate))).toEqual([1, 1, 1]);
    const halves = found.metrics[3] as { curve?: readonly { estimate: number }[] };
    expect(halves.curve?.map(({ estimate }) => Math.round(estimate))).toEqual([1, 1]);
  });

  /** Whether all of a window's events were well inside its halves: a busy machine may take longer. */
  function isInTime(recorded: readonly Recorded[] | undefined, from: number): boolean {
    const at = recorded?.map((each) => each.at - from) ?? [];
    const half = WINDOW_MS / 2;
    return (
      at.length === 5 &&
      at.slice(0, 3).every((each) => each > 0 && each < half - 300) &&
      at.slice(3).every((each) => each > half + 300 && each < WINDOW_MS - 1000)
    );
  }
});
