import { readFileSync } from "node:fs";
import { parseManifest, parseSignedManifest, parseTask, type Task } from "@lethe/core/message";
import { DEFAULT_DELTA, devicesToDetect, localEpsilonToDetect, metricQuestion } from "@lethe/core/plan";
import { entryOf, STATISTICS } from "@lethe/core/statistic";
import { describe, expect, it } from "vitest";
import { chromiumPath, PATIENCE_MS } from "../../../device/test/browser.ts";
import { ADMIN_TOKEN, createTask, EXACT_TASK } from "../../../server/test/service.ts";
import { violationsIn } from "../../test/axe.ts";
import {
  button,
  choice,
  EXACT,
  editor,
  number,
  PATIENT,
  PRICE,
  planAddress,
  rounded,
  settled,
  TASK,
  TEXT,
  valuesIn,
} from "../../test/plan-page.ts";
import { useServed } from "../../test/served.ts";
import { DEFAULTS } from "./settings.ts";

const { devices: DEVICES } = DEFAULTS;

describe.runIf(chromiumPath)("the plan in a browser, of a real service", { timeout: 2 * PATIENCE_MS }, () => {
  const { open, service } = useServed();

  describe("the file", () => {
    it("names the field that is wrong while it is typed, and keeps the last figures", async () => {
      const page = await open(planAddress());
      await settled(page);
      const before = await valuesIn(page, ".headline");
      await editor(page).fill(TEXT.replace(`"ticks": 288`, `"ticks": 0`));
      await page
        .locator(".verdict")
        .getByText(/^ticks /)
        .waitFor();
      expect(await editor(page).getAttribute("aria-invalid")).toBe("true");
      await button(page, "Go to the mistake").click();
      const selected = () =>
        editor(page).evaluate((area) => {
          const { value, selectionStart, selectionEnd } = area as HTMLTextAreaElement;
          return value.slice(selectionStart, selectionEnd);
        });
      expect(await selected()).toBe("0");
      await editor(page).fill(TEXT.replace(`"localEpsilon": 2`, `"localEpsilonn": 2`));
      await page.locator(".verdict").getByText("metrics[1].localEpsilonn is not a field").waitFor();
      await editor(page).fill(TEXT.replace("500,", "500"));
      await page.locator(".verdict").getByText("task is not JSON").waitFor();
      await page.getByText("the sliders work again").waitFor();
      expect(await page.getByLabel("Ticks of a window", { exact: true }).isDisabled()).toBe(true);
      expect(await valuesIn(page, ".headline")).toEqual(before);
      await page.getByText("Correct the file first").or(page.getByText("needs the admin token")).first().waitFor();
      await editor(page).fill(TEXT);
      await page.locator(".verdict").getByText("The file is correct").waitFor();
      expect(await editor(page).getAttribute("aria-invalid")).toBe("false");
    });

    it("follows the sliders, which change one number each, and the sliders follow it", async () => {
      const page = await open(planAddress({ metric: 1 }));
      await settled(page);
      const ticks = page.getByLabel("Ticks of a window", { exact: true });
      await ticks.focus();
      await page.keyboard.press("ArrowRight");
      let expected = TEXT.replace(`"ticks": 288`, `"ticks": 336`);
      await expect.poll(() => editor(page).inputValue(), PATIENT).toBe(expected);
      expect(await ticks.getAttribute("aria-valuetext")).toBe("336 ticks");
      await page.getByText("a window lasts 1 day 4 hours").first().waitFor();
      await number(page, "ε₀ of an answer").fill("0.35");
      expected = expected.replace(`"localEpsilon": 2`, `"localEpsilon": 0.35`);
      await expect.poll(() => editor(page).inputValue(), PATIENT).toBe(expected);
      await number(page, "Missing share").fill("0.2");
      expected = expected.replace(`500,`, `500, "missing": 0.2,`);
      await expect.poll(() => editor(page).inputValue(), PATIENT).toBe(expected);
      await editor(page).fill(expected.replace("336", "24").replace("500", "4000"));
      await expect.poll(() => number(page, "Ticks of a window").inputValue(), PATIENT).toBe("24");
      expect(await number(page, "Minimum devices").inputValue()).toBe("4000");
      expect(await ticks.getAttribute("aria-valuetext")).toBe("24 ticks");
      await number(page, "Devices").fill("3000");
      await page.getByText("no window is ever released").waitFor();
      expect(await editor(page).inputValue()).not.toContain("3000");
    });

    it("starts from any statistic of core's table; metrics are added and removed; undo brings it back", async () => {
      const page = await open("#/plan");
      await settled(page);
      const start = page.locator("form.start select");
      const offered = await start.locator("optgroup").first().locator("option").allTextContents();
      expect(offered).toEqual(STATISTICS.map((name) => `${name}: ${entryOf(name).words.question}`));
      for (const statistic of STATISTICS) {
        await start.selectOption(`template ${statistic}`);
        await button(page, "Start").click();
        await page.getByText(`The file is the template ${statistic}.`).waitFor();
        const { metric, ticks } = entryOf(statistic).task.example;
        expect(parseTask(await editor(page).inputValue())).toMatchObject({ ticks, metrics: [metric] });
        await page.getByRole("heading", { name: `How exact ${metric.name} is` }).waitFor();
      }
      await editor(page).fill(TEXT);
      await button(page, "Start").click();
      await expect.poll(() => editor(page).inputValue(), PATIENT).not.toBe(TEXT);
      await button(page, "Undo").click();
      await expect.poll(() => editor(page).inputValue(), PATIENT).toBe(TEXT);
      await choice(page, "Another metric").selectOption("funnel");
      await button(page, "Add it").click();
      await page.getByRole("heading", { name: "How exact checkout is" }).waitFor();
      expect(parseTask(await editor(page).inputValue()).metrics.length).toBe(4);
      await button(page, "Remove it").click();
      await expect.poll(() => editor(page).inputValue(), PATIENT).toBe(TEXT);
      await choice(page, "Metric").selectOption("clicks");
      await button(page, "Remove it").click();
      await expect.poll(() => editor(page).inputValue(), PATIENT).toBe(TEXT.replace(/ {4}\{ "name": "clicks".*\n/, ""));
    });

    it("is copied and downloaded as it is typed", async () => {
      const page = await open(planAddress(), { permissions: ["clipboard-read", "clipboard-write"] });
      await settled(page);
      const [download] = await Promise.all([page.waitForEvent("download"), button(page, "Download").click()]);
      expect(download.suggestedFilename()).toBe("editor-health.json");
      expect(readFileSync(await download.path(), "utf8")).toBe(TEXT);
      await button(page, "Copy").click();
      await button(page, "Copied").waitFor();
      expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(TEXT);
    });
  });

  it("the inverse question is answered, and its answers can be used", async () => {
    const page = await open("#/plan");
    await settled(page);
    await page.getByLabel("I must see", { exact: true }).fill("50");
    const task = parseTask(await editor(page).inputValue());
    const question = metricQuestion(task, task.metrics[0] as Task["metrics"][0], DEVICES, 1, DEFAULT_DELTA);
    const asked = { ...question, detect: 50, mode: "one-server" as const };
    const localEpsilon = localEpsilonToDetect({ ...asked, delta: DEFAULT_DELTA, scheme: "lattice" });
    const devices = devicesToDetect(asked);
    await expect.poll(() => valuesIn(page, ".inverse b"), PATIENT).toEqual(rounded([localEpsilon, devices]));
    await button(page, "Use this ε₀").click();
    await expect
      .poll(async () => parseTask(await editor(page).inputValue()).metrics[0], PATIENT)
      .toMatchObject({ localEpsilon });
    await page.getByLabel("ε₀ of an answer, as a number").fill("1");
    await expect.poll(() => valuesIn(page, ".inverse b"), PATIENT).toEqual(rounded([localEpsilon, devices]));
    await button(page, "Use this number of devices").click();
    await expect.poll(() => number(page, "Devices").inputValue(), PATIENT).toBe(String(devices));
    await expect
      .poll(async () => Number((await valuesIn(page, `${EXACT} .headline`))[1]), PATIENT)
      .toBeLessThanOrEqual((50 * devices) / DEVICES + 1);
  });

  it("a link shows what its sender saw, and its reader finds the plan again after another view", async () => {
    const sender = await open(planAddress());
    await settled(sender);
    await number(sender, "Devices").fill("7000");
    await choice(sender, "Metric").selectOption("clicks");
    await sender.getByLabel("I must see", { exact: true }).fill("321");
    await number(sender, "ε₀ of an answer").fill("1.5");
    await expect
      .poll(() => sender.url(), PATIENT)
      .toMatch(/localEpsilon%22%3A\+1\.5.*devices=7000&metric=1&detect=321$/);
    await settled(sender);
    const receiver = await open(new URL(sender.url()).hash);
    await settled(receiver);
    expect(await editor(receiver).inputValue()).toBe(TEXT.replace(`"localEpsilon": 2`, `"localEpsilon": 1.5`));
    expect(await valuesIn(receiver, ".headline, .inverse b")).toEqual(await valuesIn(sender, ".headline, .inverse b"));
    await sender.getByRole("link", { name: "Privacy" }).click();
    await sender.getByRole("heading", { name: "This service collects nothing yet" }).waitFor();
    await sender.getByRole("link", { name: "Plan" }).click();
    await settled(sender);
    expect(await number(sender, "Devices").inputValue()).toBe("7000");
    await expect.poll(() => sender.url(), PATIENT).toContain("detect=321");
  });

  describe("creating the task", () => {
    const KEPT = { ...EXACT_TASK, task: "agreed" };

    it("a wrong token is refused; with the right one the service has the task, and the page leads to it", async () => {
      const page = await open(planAddress());
      const origins = new Set<string>();
      page.on("request", (request) => origins.add(new URL(request.url()).origin));
      await page.reload();
      await settled(page);
      const token = page.getByLabel("Admin token");
      await token.fill("not-the-token");
      await button(page, "Continue").click();
      await page.getByRole("alert").getByText("The service refuses this token.").waitFor();
      expect((await fetch(`${service().url}/v1/tasks/editor-health`)).status).toBe(404);
      service().clock.advance(60);
      await token.fill(ADMIN_TOKEN);
      await button(page, "Continue").click();
      await button(page, "Create editor-health, version 1").click();
      await page.getByText("The service has created version 1 of editor-health.").waitFor();
      const manifest = await fetch(`${service().url}/v1/tasks/editor-health`);
      expect(manifest.status).toBe(200);
      expect(parseManifest(parseSignedManifest(await manifest.text()).manifest)).toMatchObject(TASK);
      await button(page, "Create editor-health, version 1").click();
      await page.getByText("The service had this very version 1 of editor-health already.").waitFor();
      expect(await page.context().cookies()).toEqual([]);
      expect(decodeURIComponent(page.url())).not.toContain(ADMIN_TOKEN);
      await page.getByRole("link", { name: "Results of editor-health" }).click();
      await page.getByText("editor-health").first().waitFor();
      await page.goBack();
      await settled(page);
      expect(await editor(page).inputValue()).toBe(TEXT);
      expect([...origins]).toEqual([new URL(service().url).origin]);
    });

    it("what the service refuses is said with its field, and a new version starts from what is there", async () => {
      await createTask(service(), KEPT);
      const page = await open(planAddress({ text: JSON.stringify({ ...KEPT, minimumDevices: 7 }) }));
      await page.getByLabel("Admin token").fill(ADMIN_TOKEN);
      await button(page, "Continue").click();
      await button(page, "Create agreed, version 1").click();
      await page
        .locator(".outcome")
        .getByText("version 1 of agreed is there already and says something else")
        .waitFor();
      await editor(page).fill(JSON.stringify({ ...KEPT, version: 2, ticks: 3 }));
      await button(page, "Create agreed, version 2").click();
      await page
        .locator(".outcome")
        .getByText(/^ticks and tickSeconds make windows of/)
        .waitFor();
      await page.locator("form.start select").selectOption("task agreed");
      await button(page, "Start").click();
      await page.getByText("The file is version 2 of agreed.").waitFor();
      await number(page, "Minimum devices").fill("9");
      await button(page, "Create agreed, version 2").click();
      await page.getByText("The service has created version 2 of agreed.").waitFor();
    });
  });

  it("planning that takes long blocks nothing", async () => {
    const page = await open("#/plan");
    await settled(page);
    const { metrics, ...task } = TASK;
    // Each of these takes about a second.
    const many = Array.from({ length: 400 }, (_, i) => ({ ...metrics[2], name: `tabs-${i}`, sigma: 2 + i / 1000 }));
    await editor(page).fill(JSON.stringify({ ...task, metrics: many }));
    await page.getByText("This file is too long for an address").waitFor();
    await page.getByRole("heading", { name: "How exact tabs-0 is" }).waitFor();
    for (const devices of ["5000", "6000", "7000"]) {
      await number(page, "Devices").fill(devices);
      await expect
        .poll(async () => Number((await valuesIn(page, `${EXACT} .headline`))[0]), PATIENT)
        .toBeCloseTo(20.02 / Math.sqrt(Number(devices)), 3);
      expect(await page.locator(PRICE).getAttribute("aria-busy")).toBe("true");
    }
  });

  it("a planner that cannot be loaded can be tried again", async () => {
    const page = await open("#/results");
    await page.getByRole("link", { name: "Plan" }).waitFor();
    await page.route(/worker-.*\.js/, (route) => route.abort());
    await page.getByRole("link", { name: "Plan" }).click();
    await page.getByRole("alert").getByText("the planner could not be loaded").waitFor();
    await page.unroute(/worker-.*\.js/);
    await button(page, "Try again").click();
    await settled(page);
  });

  it.each([
    ["light", 1400],
    ["dark", 360],
  ] as const)("axe finds nothing wrong in %s at %i pixels, and nothing is wider", async (colorScheme, width) => {
    const page = await open(planAddress({ metric: 2 }), {
      ...{ colorScheme, viewport: { width, height: 900 }, reducedMotion: "reduce", bypassCSP: true },
    });
    await settled(page);
    expect(await violationsIn(page)).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
    await editor(page).fill("nonsense");
    await page.locator(".verdict").getByText("task is not JSON").waitFor();
    expect(await violationsIn(page)).toEqual([]);
  });

  it("everything can be reached with the keyboard", async () => {
    const page = await open(planAddress());
    await settled(page);
    const reached = new Set<string>();
    for (let i = 0; i < 50; i++) {
      await page.keyboard.press("Tab");
      reached.add(
        await page.evaluate(() => {
          const { activeElement: element } = document;
          const labels = (element as HTMLInputElement | null)?.labels?.[0]?.textContent;
          return labels ?? element?.getAttribute("aria-label") ?? element?.textContent?.trim() ?? "";
        }),
      );
    }
    const expected = ["Devices", "Devices, as a number", "ε₀ of an answer", "Missing share", "Ticks of a window"];
    for (const name of [...expected, "The task file", "Copy", "Download", "Draw again", "I must see", "Admin token"]) {
      expect([...reached]).toContain(name);
    }
  });
});
