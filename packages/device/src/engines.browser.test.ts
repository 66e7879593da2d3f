/// <reference lib="dom" />
import type { Task } from "@lethe/core/message";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { askToEnrol } from "../../server/test/device.ts";
import { eventually } from "../../server/test/eventually.ts";
import { createTask, startTestService, type TestService } from "../../server/test/service.ts";
import { bundle, type Site, servePage } from "../test/browser.ts";
import type {} from "../test/browser-lethe.ts";
import { ENGINES } from "../test/engines.ts";
import type { RunningBrowser, Tab } from "../test/tab.ts";

const [TICK_SECONDS, TICKS, GRACE_SECONDS] = [60, 4, 120];
const WINDOW_SECONDS = TICKS * TICK_SECONDS;

/** One of these answers is wrong about once in a million releases. */
const METRICS: Task["metrics"] = [
  ...Array.from({ length: 8 }, (_, i) => {
    return { name: `event-${i}`, statistic: "occurrence", localEpsilon: 16 } as const;
  }),
  { name: "clicks", statistic: "histogram", edges: [0, 1, 2, 5], localEpsilon: 16 },
];

interface Released {
  readonly name: string;
  readonly estimate?: number;
  readonly buckets?: readonly { readonly estimate: number }[];
}

let service: TestService;
let site: Site;
let tasks = 0;

beforeAll(async () => {
  service = await startTestService({ keysAhead: 4 });
  const script = await bundle(new URL("../test/browser-lethe.ts", import.meta.url), true);
  const html = `<!doctype html><script type="module" src="page.js"></script>`;
  site = await servePage(html, { "page.js": script }, `default-src 'none'; connect-src ${service.url}`);
});
afterAll(async () => {
  site?.close();
  await service?.remove();
});

for (const { name, isInstalled, launch } of ENGINES) {
  describe.skipIf(!isInstalled)(`in ${name}, under a strict policy`, () => {
    let browser: RunningBrowser;
    let task: string;
    let window: number;
    /** Of others than the browser. */
    let enrolledBefore: number;

    beforeAll(async () => {
      browser = await launch();
    });
    afterAll(() => browser?.close());

    /** Each test has its own task, of which nothing is stored, in a window that begins. */
    beforeEach(async () => {
      task = `t${tasks++}`;
      const times = { tickSeconds: TICK_SECONDS, ticks: TICKS, graceSeconds: GRACE_SECONDS };
      await createTask(service, {
        version: 1,
        mode: "one-server",
        ...times,
        task,
        minimumDevices: 1,
        metrics: METRICS,
      });
      service.clock.advance(WINDOW_SECONDS - ((service.clock() / 1000) % WINDOW_SECONDS));
      window = Math.floor(service.clock() / 1000 / WINDOW_SECONDS);
      await eventually(async () => ((await askToEnrol(service, task, window)).ok ? true : undefined));
      enrolledBefore = (await state()).enrolled;
    });

    const ask = async (what: string): Promise<unknown> => {
      const response = await fetch(`${service.url}/v1/tasks/${task}${what}`);
      return response.ok ? response.json() : undefined;
    };
    const state = async () => (await ask(`/windows/${window}`)) as { enrolled: number; received: number };

    async function openLethe(tab: Tab): Promise<void> {
      const options = { server: service.url, task, operatorKey: service.operatorKey };
      await tab.evaluate((now, chosen) => counter.openAt(now, chosen), service.clock(), options);
    }
    const counts = (tab: Tab) =>
      eventually(async () => (await tab.evaluate(() => counter.lethe?.inspect().memory.length)) || undefined);
    const record = (tab: Tab, name: string) => tab.evaluate((what) => counter.lethe?.record(what), name);

    async function pass(seconds: number, ...tabs: readonly Tab[]): Promise<void> {
      service.clock.advance(seconds);
      for (const tab of tabs) await tab.evaluate((now) => counter.live(now), service.clock());
    }

    async function requireNoProblem(tab: Tab): Promise<void> {
      const problems = await tab.evaluate(() => counter.problems);
      expect(problems.filter(({ code }) => code !== "no-keys-left")).toEqual([]);
    }

    /** The events in the release, when the window is over; and how many devices enrolled in it. */
    async function released(
      ...tabs: readonly Tab[]
    ): Promise<{ happened: string[]; clicks: number[]; enrolled: number }> {
      await pass(WINDOW_SECONDS - ((service.clock() / 1000) % WINDOW_SECONDS), ...tabs);
      for (const tab of tabs) await requireNoProblem(tab);
      await eventually(async () => ((await state()).received === 1 ? true : undefined));
      const { enrolled } = await state();
      service.clock.advance(GRACE_SECONDS);
      const { metrics } = await eventually(
        async () => (await ask(`/releases/${window}`)) as { metrics: readonly Released[] } | undefined,
      );
      const happened = metrics.filter(({ estimate = 0 }) => Math.round(estimate) === 1).map(({ name }) => name);
      const buckets = metrics.flatMap((metric) => metric.buckets ?? []);
      const clicks = buckets.map(({ estimate }) => Math.abs(Math.round(estimate)));
      return { happened, clicks, enrolled: enrolled - enrolledBefore };
    }

    it("events before and after reloads and navigations are released, with one enrolment", async () => {
      const tab = await browser.openTab();
      const leave = [
        () => tab.reload(),
        () => tab.goto(`${site.url}other`),
        () => pass(TICK_SECONDS, tab).then(() => tab.reload()),
        () => tab.goto(site.url),
      ];
      await tab.goto(site.url);
      for (const [i, next] of leave.entries()) {
        await openLethe(tab);
        await counts(tab);
        await record(tab, `event-${i}`);
        // One click on each of three pages is as good as three on one.
        if (i < 3) await record(tab, "clicks");
        await requireNoProblem(tab);
        await next();
      }
      await openLethe(tab);
      await counts(tab);
      await record(tab, "event-4");
      const happened = [0, 1, 2, 3, 4].map((i) => `event-${i}`);
      expect(await released(tab)).toEqual({ happened, clicks: [0, 0, 1, 0], enrolled: 1 });
    });

    it("two tabs count as one device: one goes on when the other is left or closed", async () => {
      const [first, second] = [await browser.openTab(), await browser.openTab()];
      for (const tab of [first, second]) {
        await tab.goto(site.url);
        await openLethe(tab);
      }
      await counts(first);
      await record(first, "event-0");
      await record(second, "event-1");
      await first.goto(`${site.url}other`);
      await record(second, "event-2");
      await counts(second);
      await record(second, "event-3");
      await openLethe(first);
      // Firefox may end a tab that is closed as if it was killed: what was written by then stays.
      await pass(TICK_SECONDS, second);
      await second.close();
      await counts(first);
      await record(first, "event-4");
      const happened = [0, 1, 2, 3, 4].map((i) => `event-${i}`);
      expect(await released(first)).toEqual({ happened, clicks: [1, 0, 0, 0], enrolled: 1 });
    });
  });
}
