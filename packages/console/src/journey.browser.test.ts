import { beginningOf, type Figure, type Release, windowAt, windowSeconds } from "@lethe/core/message";
import { openLethe } from "@lethe/device";
import { describe, expect, it, onTestFinished } from "vitest";
import { chromiumPath, PATIENCE_MS } from "../../device/test/browser.ts";
import { eventually } from "../../server/test/eventually.ts";
import { button, editor, planAddress, settled } from "../test/plan-page.ts";
import { useServed } from "../test/served.ts";
import { enterToken } from "../test/visit.ts";

const DEVICES = 12;
const TASK = {
  ...{ version: 1, task: "checkout", tickSeconds: 60, ticks: 4, graceSeconds: 60, mode: "one-server" as const },
  ...{ scheme: "lattice", hides: 10, minimumDevices: 10 },
  metrics: [{ name: "paid", statistic: "occurrence", localEpsilon: 4 }],
};

describe.runIf(chromiumPath)("the console, from a plan to results", { timeout: 3 * PATIENCE_MS }, () => {
  const { open, service } = useServed();

  /** Devices with the real SDK: on every other one it happens. They report, and the service releases the window. */
  async function runWindow(): Promise<Release> {
    const { url: server, operatorKey, clock } = service();
    const fleet = await Promise.all(
      Array.from({ length: DEVICES }, () => openLethe({ server, task: TASK.task, operatorKey, clock })),
    );
    onTestFinished(async () => void (await Promise.all(fleet.map((lethe) => lethe.close()))));
    const work = (): Promise<unknown> => Promise.all(fleet.map((lethe) => lethe.sendPending()));
    await eventually(async () => {
      await work();
      if (fleet.every((lethe) => lethe.inspect().memory.length > 0)) return true;
      clock.advance(1);
      return undefined;
    });
    const window = windowAt(TASK, clock() / 1000);
    for (const [i, lethe] of fleet.entries()) if (i % 2 === 0) lethe.record("paid");
    clock.advance(beginningOf(TASK, window + 1) - clock() / 1000);
    return eventually(async () => {
      await work();
      clock.advance(2);
      const answer = await fetch(`${server}/v1/tasks/${TASK.task}/releases/${window}`);
      return answer.ok ? ((await answer.json()) as Release) : undefined;
    });
  }

  it("a task is created in the page, its fleet reports, and every view shows it", async () => {
    const page = await open(planAddress({ text: JSON.stringify(TASK, null, 2) }));
    const origins = new Set<string>();
    page.on("request", (request) => origins.add(new URL(request.url()).origin));
    await settled(page);
    expect(await editor(page).inputValue()).toContain('"task": "checkout"');
    await enterToken(page);
    await button(page, "Create checkout, version 1").click();
    await page.getByText("The service has created version 1 of checkout.").waitFor();
    service().clock.advance(windowSeconds(TASK));

    const release = await runWindow();
    expect(release).toMatchObject({ status: "released", received: DEVICES });
    await page.getByRole("link", { name: "Results of checkout" }).click();
    const figures = page.locator("section.metric table td[data-value]");
    await page.locator("section.metric").getByRole("button", { name: "Show the table" }).first().click();
    const [metric] = release.metrics as unknown as readonly [Figure];
    await expect
      .poll(() => figures.evaluateAll((cells) => cells.map((cell) => Number((cell as HTMLElement).dataset.value))), {
        timeout: PATIENCE_MS,
      })
      .toEqual(expect.arrayContaining([metric.estimate, ...metric.interval]));

    const views = page.getByRole("navigation", { name: "Views" });
    await views.getByRole("link", { name: "Privacy" }).click();
    await page.getByRole("heading", { name: "What a device pays" }).waitFor();
    await page.locator(".headline[data-value]").first().waitFor();
    await views.getByRole("link", { name: "Operations" }).click();
    // The tab has the token: nobody asks for it again.
    await page.locator("table").getByText("released").first().waitFor();
    expect(await page.getByLabel("Admin token").count()).toBe(0);
    await views.getByRole("link", { name: "Inside a device" }).click();
    await page.getByRole("heading", { name: "A device in this page" }).waitFor();
    expect([...origins]).toEqual([new URL(service().url).origin]);
    expect(page.url()).not.toContain("token");
  });
});
