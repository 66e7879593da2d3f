import type { Task } from "@lethe/core/message";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../../server/test/eventually.ts";
import { createTask, startTestService, type TestService } from "../../server/test/service.ts";
import { chromiumPath, launch, PATIENCE_MS, type Site, servePage } from "../test/browser.ts";
import type { Told } from "../test/worker-lethe.ts";
import { buildWorker, registerWorker } from "../test/workers.ts";

const WORKERS = 4;
/**
 * Ticks are too long for one to come while a worker lives: only what a session writes soon after its start can keep an
 * event. Windows are long enough that no device stores keys for the next one meanwhile.
 */
const [TICK_SECONDS, TICKS, GRACE_SECONDS] = [3600, 24, 3600];
const WINDOW_SECONDS = TICKS * TICK_SECONDS;
const TASK: Task = {
  version: 1,
  task: "killed",
  tickSeconds: TICK_SECONDS,
  ticks: TICKS,
  graceSeconds: GRACE_SECONDS,
  mode: "one-server",
  scheme: "lattice",
  minimumDevices: WORKERS,
  metrics: [{ name: "happened", statistic: "occurrence", localEpsilon: 16 }],
};

describe.skipIf(!chromiumPath)("service workers that are stopped seconds after they recorded an event", () => {
  let service: TestService;
  let site: Site;
  let browser: Browser;
  /** The time passes as the machine's does, from the beginning of a window on. */
  let ahead = (WINDOW_SECONDS - ((Date.now() / 1000) % WINDOW_SECONDS)) * 1000;
  const now = (): number => Date.now() + ahead;

  beforeAll(async () => {
    service = await startTestService({ clock: now });
    await createTask(service, TASK);
    site = await servePage("<!doctype html>", await buildWorker(), `default-src 'none'; connect-src ${service.url}`);
    browser = await launch();
  });
  afterAll(async () => {
    await browser?.close();
    site?.close();
    await service?.remove();
  });

  async function find<T>(path: string): Promise<T | undefined> {
    const answer = await fetch(`${service.url}/v1/tasks/${TASK.task}/${path}`);
    return answer.ok ? ((await answer.json()) as T) : undefined;
  }

  it("lose none of the events, and enrol once each", async () => {
    const options = { server: service.url, task: TASK.task, operatorKey: service.operatorKey };
    const window = Math.floor(now() / 1000 / WINDOW_SECONDS);
    const workers = await Promise.all(
      Array.from({ length: WORKERS }, async () => {
        const page = await (await browser.newContext()).newPage();
        page.setDefaultTimeout(PATIENCE_MS);
        await page.goto(site.url);
        return registerWorker(page);
      }),
    );
    for (const worker of workers) {
      const until = (done: (told: Told) => boolean): Promise<Told> =>
        eventually(async () => {
          const told = await worker.ask({ options, ahead });
          return done(told) ? told : undefined;
        });
      await until(({ counts }) => counts);
      const recorded = await worker.ask({ options, ahead, record: ["happened"] });
      const written = await until(({ stored }) => stored !== recorded.stored);
      expect(written.life).toBe(recorded.life);
      await worker.stop();
    }
    ahead += 1000 * (WINDOW_SECONDS - ((now() / 1000) % WINDOW_SECONDS));
    for (const worker of workers) {
      const { problems } = await worker.ask({ options, ahead, live: true });
      expect(problems.filter((problem) => !problem.startsWith("no-keys-left"))).toEqual([]);
    }
    expect(await find(`windows/${window}`)).toMatchObject({ enrolled: WORKERS, received: WORKERS });
    ahead += 1000 * GRACE_SECONDS;
    const release = await eventually(() => find<{ metrics: { estimate: number }[] }>(`releases/${window}`));
    expect(release.metrics.map(({ estimate }) => Math.round(estimate))).toEqual([WORKERS]);
  });
});
