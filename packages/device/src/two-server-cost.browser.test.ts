import { secret } from "@lethe/core/encryption";
import { issueShareKeys } from "@lethe/core/two-server";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bundle, chromiumPath, launch, PATIENCE_MS, type Site, servePage } from "../test/browser.ts";
import type { TwoServerRecorder } from "../test/two-server-recorder.ts";

const COUNTERS = 20;
const TICKS = 40;
const MOST_MEGABYTES = 6;

/** docs/two-servers.md states what this prints. Only memory has a limit here: time depends on the machine. */
describe.skipIf(!chromiumPath)("a page of a two-server task with 20 counters", () => {
  let site: Site;
  let browser: Browser;
  beforeAll(async () => {
    const code = await bundle(new URL("../test/two-server-recorder.ts", import.meta.url));
    site = await servePage(`<!doctype html><script type="module" src="recorder.js"></script>`, { "recorder.js": code });
    browser = await launch();
  });
  afterAll(async () => {
    await browser?.close();
    site?.close();
  });

  it(
    `keeps less than ${MOST_MEGABYTES} MB, its tables included, and no more after many ticks`,
    async () => {
      const at = { task: "page", window: 0 };
      const keys = (["leader", "helper"] as const).flatMap((role, i) => {
        return [...issueShareKeys(role, secret(new Uint8Array(32).fill(i + 1)), at, new Uint8Array(16))];
      });
      const page = await browser.newPage();
      await page.goto(site.url);
      await page.waitForFunction(() => "recorder" in globalThis);
      const debugging = await page.context().newCDPSession(page);
      const megabytes = async (): Promise<number> => {
        await debugging.send("HeapProfiler.collectGarbage");
        return (await debugging.send("Runtime.getHeapUsage")).usedSize / 1e6;
      };
      const recorder = "globalThis.recorder";
      const before = await megabytes();
      await page.evaluate(`${recorder}.start(${COUNTERS}, ${JSON.stringify(keys)})`);
      const run = async (count: number) =>
        (await page.evaluate(`${recorder}.ticks(${count})`)) as ReturnType<TwoServerRecorder["ticks"]>;
      const [first = 0] = await run(1);
      const early = await megabytes();
      const times = (await run(TICKS)).sort((a, b) => a - b);
      const late = await megabytes();
      console.log(JSON.stringify({ first, median: times[TICKS / 2], least: times[0], megabytes: late - before }));
      expect(times).toHaveLength(TICKS);
      expect(late - before).toBeLessThan(MOST_MEGABYTES);
      expect(late - early).toBeLessThan(1);
    },
    PATIENCE_MS,
  );
});
