import { fileURLToPath } from "node:url";
/// <reference lib="dom" />
import { createElement } from "react";
import { renderToString } from "react-dom/server";
import { rolldown } from "rolldown";
import { describe, expect, it } from "vitest";
import { eventually } from "../../server/test/eventually.ts";
import { createTask, EXACT_TASK, startTestService } from "../../server/test/service.ts";
import type { Lethe } from "../dist/index.js";
import { LetheProvider, useLethe } from "../dist/react.js";
import { chromiumPath, launch, PATIENCE_MS, servePage } from "../test/browser.ts";
import type {} from "../test/react-lethe.ts";

const WINDOW_SECONDS = EXACT_TASK.ticks * EXACT_TASK.tickSeconds;

/** Of React's own code for development, which alone knows strict mode. */
async function buildPage(): Promise<string> {
  const build = await rolldown({
    input: fileURLToPath(new URL("../test/react-lethe.ts", import.meta.url)),
    platform: "browser",
    transform: { define: { "process.env.NODE_ENV": '"development"' } },
    onLog: () => undefined,
  });
  const { output } = await build.generate({ format: "esm", codeSplitting: false });
  await build.close();
  return output[0].code;
}

describe("while a server renders", () => {
  const Recorder = () => {
    const { record, lethe } = useLethe();
    record("happened");
    return createElement("p", null, typeof lethe);
  };

  it("nothing is opened, and what is recorded is dropped", () => {
    const asked: unknown[] = [];
    const options = {
      server: "https://telemetry.example",
      task: "exact",
      operatorKey: "none is looked at",
      fetch: (async (what: unknown) => asked.push(what)) as unknown as typeof fetch,
    };
    expect(renderToString(createElement(LetheProvider, { options }, createElement(Recorder)))).toBe("<p>undefined</p>");
    expect(asked).toEqual([]);
  });

  it("a Lethe that is open already is used", () => {
    const recorded: unknown[] = [];
    const lethe = { record: (...event: unknown[]) => recorded.push(event) } as unknown as Lethe;
    expect(renderToString(createElement(LetheProvider, { lethe }, createElement(Recorder)))).toBe("<p>object</p>");
    expect(recorded).toEqual([["happened", undefined]]);
  });

  it("a hook without a provider says what is missing", () => {
    expect(() => renderToString(createElement(Recorder))).toThrow("useLethe needs a LetheProvider above it");
  });
});

describe.skipIf(!chromiumPath)("in a browser, in strict mode", () => {
  it("Lethe is opened once per mount, counts, closes on unmount, and goes on with one enrolment", async () => {
    const service = await startTestService();
    const task = { ...EXACT_TASK, minimumDevices: 1 };
    await createTask(service, task);
    const { clock } = service;
    const window = Math.floor(clock() / 1000 / WINDOW_SECONDS);
    const site = await servePage(
      `<!doctype html><body></body><script type="module" src="page.js"></script>`,
      { "page.js": await buildPage() },
      `connect-src ${service.url}`,
    );
    const browser = await launch();
    const page = await browser.newPage();
    page.setDefaultTimeout(PATIENCE_MS);
    const complaints: string[] = [];
    page.on("pageerror", ({ message }) => complaints.push(message));
    await page.goto(site.url);
    const mount = () =>
      page.evaluate(
        ([options, now]) => {
          app.now = now;
          app.mount(options);
        },
        [{ server: service.url, task: task.task, operatorKey: service.operatorKey }, clock()] as const,
      );
    const counts = () =>
      eventually(async () => {
        clock.advance(1);
        return (await page.evaluate((now) => app.live(now), clock())) || undefined;
      });

    await mount();
    await counts();
    expect(await page.evaluate(() => [app.opened, app.records.size])).toEqual([1, 1]);
    await page.getByRole("button").click();
    const closed = await page.evaluateHandle(() => app.used?.lethe);
    await page.evaluate(() => app.root?.unmount());
    // Closed, it has nothing in memory; what it counted is stored.
    await eventually(async () => (await closed.evaluate((lethe) => lethe?.inspect().memory.length)) === 0 || undefined);
    await mount();
    await counts();
    expect(await page.evaluate(() => app.opened)).toBe(2);

    clock.advance(WINDOW_SECONDS - ((clock() / 1000) % WINDOW_SECONDS));
    await page.evaluate((now) => app.live(now), clock());
    clock.advance(task.graceSeconds + 1);
    const release = await eventually(async () => {
      const answer = await fetch(`${service.url}/v1/tasks/${task.task}/releases/${window}`);
      return answer.ok ? ((await answer.json()) as object) : undefined;
    });
    expect(release).toMatchObject({ enrolled: 1, received: 1, metrics: [{ estimate: expect.closeTo(1, 3) }] });

    // What is wrong with the options reaches the application.
    await page.evaluate(() => app.mount({ server: "ftp://wrong", task: "exact", operatorKey: "wrong" }));
    await eventually(async () => complaints.length > 0 || undefined);
    expect(complaints[0]).toMatch(/operator|server/);
    await browser.close();
    site.close();
    await service.remove();
  });
});
