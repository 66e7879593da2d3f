import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Task } from "@lethe/core/message";
import type { Browser, BrowserContext } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../../server/test/eventually.ts";
import { createTask, EXACT_TASK, startTestService, type TestService } from "../../server/test/service.ts";
import { collect, makeTask, type Pair, SHARED_TASK, startPair } from "../../server/test/two-servers.ts";
import { chromiumPath, launch, PATIENCE_MS, type Site, servePage } from "../test/browser.ts";
import type { Asked, Told } from "../test/worker-lethe.ts";
import { buildWorker, launchExtension, registerWorker, type WorkerDevice } from "../test/workers.ts";

const { tickSeconds: TICK_SECONDS, ticks: TICKS, graceSeconds: GRACE_SECONDS } = EXACT_TASK;
const WINDOW_SECONDS = TICKS * TICK_SECONDS;
/** Two events that happen and one that does not; answers as good as exact. */
const METRICS: Task["metrics"] = ["first", "second", "never"].map((name) => {
  return { name, statistic: "occurrence", localEpsilon: 16 } as const;
});

type Options = Asked["options"];

describe.skipIf(!chromiumPath)("in a service worker, which may not import on demand", () => {
  let service: TestService;
  let pair: Pair;
  let files: Record<string, string>;
  let site: Site;
  let browser: Browser;
  let folder: string;
  let extension: BrowserContext;
  const workers: Partial<Record<"page" | "extension", WorkerDevice>> = {};

  beforeAll(async () => {
    [service, pair, files, browser] = await Promise.all([startTestService(), startPair(), buildWorker(), launch()]);
    const services = [service.url, pair.leader.url];
    site = await servePage("<!doctype html>", files, `default-src 'none'; connect-src ${services.join(" ")}`);
    const page = await browser.newPage();
    page.setDefaultTimeout(PATIENCE_MS);
    await page.goto(site.url);
    workers.page = await registerWorker(page);
    folder = mkdtempSync(join(tmpdir(), "lethe-extension-"));
    const launched = await launchExtension(folder, files, services);
    extension = launched.context;
    workers.extension = launched.worker;
  });
  afterAll(async () => {
    await browser?.close();
    await extension?.close();
    site?.close();
    await service?.remove();
    await pair?.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  /**
   * Records an event, is stopped after the next tick, started again, and records another; sends its report at the
   * window's end. The number of the window.
   */
  async function live(worker: WorkerDevice, options: Options, clock: TestService["clock"]): Promise<number> {
    clock.advance(WINDOW_SECONDS - ((clock() / 1000) % WINDOW_SECONDS));
    const window = Math.floor(clock() / 1000 / WINDOW_SECONDS);
    const ask = (record: readonly string[] = []): Promise<Told> =>
      worker.ask({ options, now: clock(), live: true, record });
    const counts = (): Promise<Told> =>
      eventually(async () => {
        clock.advance(1);
        const told = await ask();
        return told.counts ? told : undefined;
      });
    const { life } = await counts();
    await ask(["first"]);
    clock.advance(TICK_SECONDS);
    await ask();
    await worker.stop();
    const again = await counts();
    expect(again.life).not.toBe(life);
    await ask(["second"]);
    clock.advance(WINDOW_SECONDS - ((clock() / 1000) % WINDOW_SECONDS));
    const { problems } = await ask();
    // A service that has just made a task may have no keys for a moment.
    expect(problems.filter((problem) => !problem.startsWith("no-keys-left"))).toEqual([]);
    const path = `${options.server}/v1/tasks/${options.task}/windows/${window}`;
    expect(await (await fetch(path)).json()).toMatchObject({ enrolled: 1, received: 1 });
    return window;
  }

  describe.each(["page", "extension"] as const)("of %s", (kind) => {
    const worker = (): WorkerDevice => workers[kind] as WorkerDevice;

    it.each(["lattice", "elgamal"] as const)(
      "%s counts, over a stop of the worker, with one enrolment",
      async (scheme) => {
        const task: Task = { ...EXACT_TASK, task: `${kind}-${scheme}`, scheme, minimumDevices: 1, metrics: METRICS };
        await createTask(service, task);
        const options = { server: service.url, task: task.task, operatorKey: service.operatorKey };
        const window = await live(worker(), options, service.clock);
        service.clock.advance(GRACE_SECONDS + 1);
        const { metrics } = await eventually(async () => {
          const answer = await fetch(`${service.url}/v1/tasks/${task.task}/releases/${window}`);
          return answer.ok ? ((await answer.json()) as { metrics: { name: string; estimate: number }[] }) : undefined;
        });
        expect(metrics.map(({ estimate }) => Math.abs(Math.round(estimate)))).toEqual([1, 1, 0]);
      },
    );

    it("two servers count, over a stop of the worker, with one enrolment", async () => {
      const shared = { ...SHARED_TASK, task: `${kind}-shared`, minimumDevices: 1, metrics: METRICS };
      const task = await makeTask(pair, shared);
      const { leader, helper } = pair.keys;
      const options = { server: pair.leader.url, task: shared.task, operatorKey: leader, helperKey: helper };
      const window = await live(worker(), options, pair.helper.clock);
      pair.helper.clock.advance(SHARED_TASK.graceSeconds + 1);
      const { metrics } = await collect(pair, task, window);
      expect(metrics.map((metric) => "estimate" in metric && Math.abs(Math.round(metric.estimate)))).toEqual([1, 1, 0]);
    });
  });
});
