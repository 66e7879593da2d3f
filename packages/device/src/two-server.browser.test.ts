/// <reference lib="dom" />
import { readdirSync, readFileSync } from "node:fs";
import type { Task } from "@lethe/core/message";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../../server/test/eventually.ts";
import { collect, makeTask, type Pair, SHARED_TASK, startPair } from "../../server/test/two-servers.ts";
import { chromiumPath, launch, PATIENCE_MS, type Site, servePage } from "../test/browser.ts";
import type {} from "../test/browser-lethe.ts";

/** The SDK as it is for pages without a bundler, in its own files. */
const files = new URL("../dist/browser/", import.meta.url);
const SDK = Object.fromEntries(readdirSync(files).map((name) => [name, readFileSync(new URL(name, files), "utf8")]));

const PAGE = `
  import { openLethe } from "./lethe.js";
  const onProblem = ({ code, message }) => counter.problems.push({ code, message });
  globalThis.counter = {
    problems: [],
    async open(options) {
      counter.lethe = await openLethe({ ...options, clock: () => counter.now, onProblem });
    },
    async live(now) {
      counter.now = now;
      await counter.lethe.sendPending();
    },
  };`;

const WINDOW_SECONDS = SHARED_TASK.ticks * SHARED_TASK.tickSeconds;

/** The same events, of which two happen once and one twice, and the file that only such tasks load. */
const KINDS = [
  {
    task: { ...SHARED_TASK, minimumDevices: 1 },
    file: "two-server.js",
    figures: [expect.closeTo(1, 5), 0, [0, 0, 1], 1],
  },
  {
    task: {
      ...SHARED_TASK,
      task: "guarded",
      collusion: "one-server",
      minimumDevices: 1,
      metrics: [
        { name: "happened", statistic: "occurrence", localEpsilon: 20 },
        { name: "counted", statistic: "occurrence", localEpsilon: 20 },
        { name: "times", statistic: "histogram", edges: [0, 1, 2], localEpsilon: 20 },
        { name: "average", statistic: "choice", options: ["average"], localEpsilon: 20 },
      ],
    },
    file: "collusion.js",
    figures: [1, 0, [0, 0, 1], [0, 1]].map((figure) => closeTo(figure)),
  },
] as const satisfies readonly { readonly task: Task; readonly file: string; readonly figures: readonly unknown[] }[];

function closeTo(figure: number | readonly number[]): unknown {
  return typeof figure === "number" ? expect.closeTo(figure, 5) : figure.map((each) => expect.closeTo(each, 5));
}

describe.skipIf(!chromiumPath)("in a browser, under a strict policy, with two servers of other origins", () => {
  let pair: Pair;
  let site: Site;
  let browser: Browser;
  const complaints: string[] = [];
  const asked: string[] = [];

  beforeAll(async () => {
    pair = await startPair();
    const html = `<!doctype html><script type="module" src="page.js"></script>`;
    const policy = `default-src 'none'; connect-src ${pair.leader.url}`;
    site = await servePage(html, { ...SDK, "page.js": PAGE }, policy);
    browser = await launch();
  });
  afterAll(async () => {
    await browser?.close();
    site?.close();
    await pair?.remove();
  });

  async function openPage(): Promise<Page> {
    const page = await browser.newPage();
    page.setDefaultTimeout(PATIENCE_MS);
    page.on("console", (message) => complaints.push(message.text()));
    page.on("pageerror", ({ message }) => complaints.push(message));
    page.on("request", (request) => asked.push(request.url().replace(/^.*\//, "")));
    await page.goto(site.url);
    return page;
  }

  it.each(KINDS)("a window is counted, over reloads, even if one fails to load $file", async (kind) => {
    const { file, figures: expected } = kind;
    const task = await makeTask(pair, kind.task);
    const page = await openPage();
    const { clock } = pair.helper;
    const window = Math.floor(clock() / 1000 / WINDOW_SECONDS);
    const server = pair.leader.url;
    const options = { server, task: kind.task.task, operatorKey: pair.keys.leader, helperKey: pair.keys.helper };
    const open = (): Promise<void> =>
      page.evaluate(
        ([chosen, now]) => {
          counter.now = now;
          return counter.open(chosen);
        },
        [options, clock()] as const,
      );
    const counts = (): Promise<number> =>
      eventually(async () => {
        clock.advance(1);
        await page.evaluate((now) => counter.live(now), clock());
        return (await page.evaluate(() => counter.lethe?.inspect().memory.length)) || undefined;
      });
    const codes = (): Promise<string[]> => page.evaluate(() => counter.problems.map(({ code }) => code));
    await open();
    await counts();
    expect(asked.splice(0)).toContain(file);
    await page.evaluate(() => {
      for (const name of ["happened", "times", "average"]) counter.lethe?.record(name);
    });
    // The site forgets a file: what was counted is kept for when it is there again.
    await page.route(`**/${file}`, (route) => route.abort());
    await page.reload();
    await open();
    expect(await codes()).toEqual(["unreachable"]);
    expect(complaints.splice(0)).toEqual([expect.stringContaining("ERR_FAILED")]);
    await page.unroute(`**/${file}`);
    await page.reload();
    clock.advance(SHARED_TASK.tickSeconds);
    await open();
    await counts();
    await page.evaluate(() => counter.lethe?.record("times"));
    clock.advance(WINDOW_SECONDS - ((clock() / 1000) % WINDOW_SECONDS));
    await page.evaluate((now) => counter.live(now), clock());
    expect((await codes()).filter((code) => code !== "no-keys-left")).toEqual([]);
    clock.advance(WINDOW_SECONDS);
    const { metrics, received } = await collect(pair, task, window);
    const figures = metrics.map((metric) =>
      "buckets" in metric ? metric.buckets.map(({ estimate }) => estimate) : metric.estimate,
    );
    expect({ received, figures }).toEqual({ received: 1, figures: expected });
    expect(complaints).toEqual([]);
    await page.close();
  });
});
