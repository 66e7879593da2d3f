/// <reference lib="dom" />
import type { Release } from "@lethe/core/message";
import { chanceOf, PLAYERS } from "@lethe/lab/duel";
import type { BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { chromiumPath, PATIENCE_MS } from "../../../device/test/browser.ts";
import { createTask } from "../../../server/test/service.ts";
import { violationsIn } from "../../test/axe.ts";
import { useServed } from "../../test/served.ts";
import { drawnIn, recordNames, recordOf } from "../../test/stored.ts";

/** Short windows, and next to no noise: a person sees the own event in a release. */
const TASK = {
  ...{ version: 1, task: "try", tickSeconds: 1, ticks: 10, graceSeconds: 10, mode: "one-server" as const },
  ...{ scheme: "lattice" as const, minimumDevices: 1 },
  metrics: [{ name: "button.clicked", statistic: "occurrence" as const, localEpsilon: 10 }],
};
const STILL: BrowserContextOptions = { reducedMotion: "reduce" };
const ROUNDS = 40;
/** The probability that luck alone fails the game, over all players. */
const FALSE_ALARM = 1e-6;

describe.runIf(chromiumPath)("inside a device, in a browser", { timeout: 4 * PATIENCE_MS }, () => {
  const { service, context: newContext } = useServed({ clock: Date.now });
  beforeAll(() => createTask(service(), TASK));

  /** Opens the view; afterwards nothing may have come from elsewhere, and nothing may have gone wrong in the page. */
  async function open(hash: string, context: BrowserContext): Promise<Page> {
    const page = await context.newPage();
    page.setDefaultTimeout(PATIENCE_MS);
    const [asked, complaints]: [string[], string[]] = [[], []];
    page.on("request", (request) => asked.push(request.url()));
    page.on("console", (message) => complaints.push(message.text()));
    page.on("pageerror", ({ message }) => complaints.push(message));
    onTestFinished(() => {
      expect(asked.filter((url) => !url.startsWith(`${service().url}/`))).toEqual([]);
      // Chromium notes that a service which has just begun has no keys for a moment, and that the test reads pictures.
      expect(complaints.filter((complaint) => !/503|willReadFrequently/.test(complaint))).toEqual([]);
    });
    await page.goto(`${service().url}/${hash}`);
    return page;
  }

  const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });
  const device = "What the Lethe device stored";
  const counter = "What an ordinary counter stored";
  /** What a table says about both stores. */
  const fact = (page: Page, row: string): Promise<string[]> =>
    page
      .getByRole("table", { name: "Both stores in numbers" })
      .getByRole("row", { name: row })
      .locator("td")
      .allTextContents();

  const isStill = (page: Page): Promise<void> => page.locator(".stores[aria-busy=false]").waitFor();

  /** Lets a tick pass, and waits until its write is shown. */
  async function nextTick(page: Page): Promise<void> {
    await isStill(page);
    const [writes] = await fact(page, "Writes");
    await button(page, "Next tick").click();
    await expect.poll(async () => (await fact(page, "Writes"))[0], { timeout: PATIENCE_MS }).not.toBe(writes);
    await isStill(page);
  }

  async function openStill(): Promise<Page> {
    const page = await open("#/device", await newContext(STILL));
    // The first writes add what the record did not have before.
    for (let tick = 0; tick < 3; tick++) await nextTick(page);
    return page;
  }

  it("the picture is what IndexedDB has, and changes at every tick without an event", async () => {
    const page = await openStill();
    const versions: string[] = [];
    for (let tick = 0; tick < 4; tick++) {
      await nextTick(page);
      const { bytes, changed } = await drawnIn(page, device);
      expect(bytes).toEqual((await recordOf(page, "console inside"))?.record);
      // Half of the record is free space, and keys stay.
      expect(changed).toBeGreaterThan(0.2);
      expect((await fact(page, "Bytes that changed"))[1]).toBe("0.0%");
      versions.push(bytes.join());
    }
    expect(new Set(versions).size).toBe(4);
    const sizes = versions.map((version) => version.split(",").length);
    expect(new Set(sizes).size).toBe(1);
    expect((await fact(page, "Bytes"))[0]).toBe(sizes[0]?.toLocaleString("en-US"));
  });

  it("an event changes nothing before the tick, but the counter has it", async () => {
    const page = await openStill();
    const before = await drawnIn(page, device);
    const writes = await fact(page, "Writes");
    await button(page, "button.clicked").click();
    await button(page, "button.clicked").click();
    await button(page, "export.failed").click();
    await page.getByText("You recorded export.failed.").waitFor();
    expect(await drawnIn(page, device)).toEqual(before);
    expect((await recordOf(page, "console inside"))?.record).toEqual(before.bytes);
    expect(await fact(page, "Writes")).toEqual([writes[0], "3"]);
    const text = (await page.locator("pre").textContent()) ?? "";
    expect(JSON.parse(text)).toMatchObject({ "button.clicked": { count: 2 }, "export.failed": { count: 1 } });
    expect((await drawnIn(page, counter)).bytes).toEqual([...new TextEncoder().encode(text)]);
    await nextTick(page);
    const after = await drawnIn(page, device);
    expect(after.bytes).not.toEqual(before.bytes);
    expect(after.changed).toBeGreaterThan(0.2);
    expect(new TextDecoder("latin1").decode(Uint8Array.from(after.bytes))).not.toContain("clicked");
  });

  it("goes on in the next window, with new keys", async () => {
    const page = await openStill();
    await button(page, "Next tick").evaluate((next: HTMLElement) => {
      for (let i = 0; i < 290; i++) next.click();
    });
    await page.getByText(/^5 of 288 ticks of this window have passed/).waitFor();
    await button(page, "button.clicked").click();
    await page.getByText("You recorded button.clicked.").waitFor();
    await nextTick(page);
    expect((await drawnIn(page, device)).bytes).toEqual((await recordOf(page, "console inside"))?.record);
  });

  it("ticks pass by themselves, unless they are paused", async () => {
    const page = await open("#/device", await newContext({}));
    const pause = button(page, "Pause");
    await expect.poll(() => pause.getAttribute("aria-pressed"), { timeout: PATIENCE_MS }).toBe("false");
    await expect.poll(async () => Number((await fact(page, "Writes"))[0]), { timeout: PATIENCE_MS }).toBeGreaterThan(3);
    await pause.click();
    expect(await pause.getAttribute("aria-pressed")).toBe("true");
    await nextTick(page);
  });

  it("wiping and leaving leave nothing; a device of another tab ends this one", async () => {
    const context = await newContext(STILL);
    const page = await open("#/device", context);
    await button(page, "Wipe what this device stored").click();
    await page.getByText("Nothing is stored any more").waitFor();
    expect(await recordNames(page)).toEqual([]);
    await button(page, "Start a new device").click();
    await nextTick(page);
    expect(await recordNames(page)).toEqual(["console inside"]);
    const other = await open("#/device", context);
    await nextTick(other);
    await button(page, "Next tick").click();
    await page.getByText("Another tab has this device now").waitFor();
    await page.goto(`${service().url}/#/privacy`);
    await nextTick(other);
    expect((await drawnIn(other, device)).bytes).toEqual((await recordOf(other, "console inside"))?.record);
    await other.getByRole("link", { name: "Privacy" }).click();
    await expect.poll(() => recordNames(other), { timeout: PATIENCE_MS }).toEqual([]);
  });

  /** The figures of the score: right guesses and rounds of each player. */
  const scores = async (page: Page): Promise<Map<string, readonly [right: number, rounds: number]>> => {
    const rows = await page.locator(".scores tbody tr").evaluateAll((all) =>
      all.map((row) => ({
        name: row.querySelector("th")?.textContent ?? "",
        values: [...row.querySelectorAll<HTMLElement>("td")].map(({ dataset }) => Number(dataset.value)),
      })),
    );
    return new Map(rows.map(({ name, values: [right = Number.NaN, rounds = Number.NaN] }) => [name, [right, rounds]]));
  };

  /** Plays rounds as a visitor who always names the same device. Returns how many guesses the page calls right. */
  async function playRounds(page: Page, rounds: number): Promise<number> {
    await button(page, "Play a round").click();
    await button(page, "It was device A").waitFor();
    let right = 0;
    for (let round = 1; round <= rounds; round++) {
      await button(page, "It was device A").click();
      await expect.poll(async () => (await scores(page)).get("you")?.[1], { timeout: PATIENCE_MS }).toBe(round);
      const news = page.locator(".game .news", { hasText: "Here is the next round" });
      await news.waitFor();
      if ((await news.textContent())?.startsWith("Right: it was device A")) right++;
    }
    return right;
  }

  it("the game keeps everybody's score, and nobody beats Lethe", async () => {
    const context = await newContext(STILL);
    await context.addInitScript(() => {
      const stored = new Set<string>();
      const { put } = IDBObjectStore.prototype;
      IDBObjectStore.prototype.put = function (value, key) {
        stored.add(String((key as string[])[0]));
        return put.call(this, value, key);
      };
      Object.assign(globalThis, { stored });
    });
    const page = await open("#/device", context);
    const right = await playRounds(page, ROUNDS);
    const found = await scores(page);
    expect([...found.keys()]).toEqual(["you", ...PLAYERS]);
    expect(found.get("you")).toEqual([right, ROUNDS]);
    const luck = [...found.values()].map(([wins, rounds]) => chanceOf(wins, rounds) * found.size);
    expect(luck.filter((chance) => chance < FALSE_ALARM)).toEqual([]);
    const chance = page.locator(".scores tbody tr", { hasText: "you" }).locator("td").nth(2);
    expect(Number(await chance.getAttribute("data-value"))).toBeCloseTo(chanceOf(right, ROUNDS), 9);
    // They did store, each under its name, and are gone.
    const names = await page.evaluate(() => [...(globalThis as unknown as { stored: Set<string> }).stored].sort());
    expect(names).toEqual(["console game left", "console game right", "console inside"]);
    expect(await recordNames(page)).toEqual(["console inside"]);
  });

  it.each(["an ordinary counter", "Lethe, broken on purpose"])(
    "the distinguishers win against %s",
    async (opponent) => {
      const page = await open("#/device", await newContext(STILL));
      await page.getByLabel("Play against").selectOption(opponent);
      for (const rounds of [20, 40]) {
        await button(page, "Let the distinguishers play 20 rounds").click();
        await expect.poll(async () => (await scores(page)).get("sizes"), { timeout: PATIENCE_MS }).toContain(rounds);
        await page.getByText("played 20 rounds without you").waitFor();
      }
      const found = await scores(page);
      // The first round teaches what to look at. All clicks of a broken device leave no trace in 1 of 4,096 rounds.
      expect(Math.max(...PLAYERS.map((player) => found.get(player)?.[0] ?? 0))).toBeGreaterThanOrEqual(36);
      expect(found.get("you")).toEqual([0, 0]);
      await page.getByText(/^More than luck: /).waitFor();
    },
  );

  it("a visitor wins against an ordinary counter", async () => {
    const page = await open("#/device", await newContext(STILL));
    await page.getByLabel("Play against").selectOption("an ordinary counter");
    await button(page, "Play a round").click();
    await page.getByText("The same as a table").click();
    const rows = page.getByRole("table", { name: "What both devices stored" }).locator("tbody tr");
    for (let round = 1; round <= 15; round++) {
      const [ofA, , , ofB] = await rows.last().locator("td").allTextContents();
      await button(page, `It was device ${ofA === "0" ? "B" : "A"}`).click();
      await expect.poll(async () => (await scores(page)).get("you"), { timeout: PATIENCE_MS }).toEqual([round, round]);
      await page.locator(".game .news", { hasText: "Here is the next round" }).waitFor();
      expect([ofA, ofB]).toContain("0");
    }
    await page.getByText("More than luck: you (15 of 15)").waitFor();
  });

  it("a task of the service can be joined, and its release contains the event", async () => {
    const page = await open("#/device", await newContext({}));
    await page.getByRole("link", { name: `A device of the task ${TASK.task}` }).click();
    await button(page, "Join this task").click();
    const released = page.getByText(/^The release of window \d+(, or the one before it,)? contains what you recorded/);
    // A busy machine may miss a window: then a later one has the event.
    await expect
      .poll(
        async () => {
          const record = button(page, "button.clicked");
          if (await record.isEnabled()) await record.click();
          return released.count();
        },
        { timeout: 2 * PATIENCE_MS, interval: 2000 },
      )
      .toBeGreaterThan(0);
    await page.getByText(/^Window \d+ ends in \d+ s\./).waitFor();
    const sentence = (await released.first().textContent()) ?? "";
    expect(sentence).toContain("with the reports of 1 device");
    const window = /\d+/.exec(sentence)?.[0];
    const shown = page.getByRole("table", { name: `The release of window ${window}` }).locator("td");
    const answer = await fetch(`${service().url}/v1/tasks/${TASK.task}/releases/${window}`);
    const { metrics } = (await answer.json()) as Release;
    expect(Number(await shown.getAttribute("data-value"))).toBe((metrics[0] as { estimate: number }).estimate);
    expect(await recordNames(page)).toEqual(["console try"]);
    await button(page, "Wipe what this device stored").click();
    await page.getByText("Nothing is stored any more").waitFor();
    expect(await recordNames(page)).toEqual([]);
  });

  it.each([
    ["light", 1400],
    ["dark", 360],
  ] as const)("axe finds nothing wrong in %s at %i pixels, and nothing jumps", async (colorScheme, width) => {
    const context = await newContext({ ...STILL, colorScheme, viewport: { width, height: 900 }, bypassCSP: true });
    await context.addInitScript(() => {
      const shifts: number[] = [];
      const observer = new PerformanceObserver((list) => {
        const entries = list.getEntries() as unknown as { value: number; hadRecentInput: boolean }[];
        shifts.push(...entries.filter(({ hadRecentInput }) => !hadRecentInput).map(({ value }) => value));
      });
      observer.observe({ type: "layout-shift", buffered: true });
      Object.assign(globalThis, { shifts });
    });
    const page = await open("#/device", context);
    await nextTick(page);
    await button(page, "Play a round").click();
    await button(page, "It was device A").waitFor();
    for (const summary of await page.locator("summary").all()) await summary.click();
    expect(await violationsIn(page)).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
    const shifts = await page.evaluate(() => (globalThis as unknown as { shifts: number[] }).shifts);
    expect(shifts.reduce((sum, shift) => sum + shift, 0)).toBeLessThan(0.1);
    await page.getByRole("link", { name: `A device of the task ${TASK.task}` }).click();
    await button(page, "Join this task").waitFor();
    expect(await violationsIn(page)).toEqual([]);
  });

  it("works with the keyboard alone", async () => {
    const page = await openStill();
    await button(page, "button.clicked").focus();
    await page.keyboard.press("Enter");
    await page.getByText("You recorded button.clicked.").waitFor();
    await button(page, "Play a round").focus();
    await page.keyboard.press("Enter");
    await button(page, "It was device B").waitFor();
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await expect.poll(async () => (await scores(page)).get("you")?.[1], { timeout: PATIENCE_MS }).toBe(1);
    await button(page, "Wipe what this device stored").focus();
    await page.keyboard.press("Enter");
    await page.getByText("Nothing is stored any more").waitFor();
    await page.keyboard.press("Enter");
    await button(page, "Next tick").waitFor();
  });

  it("a task that is not there can be tried again", async () => {
    const context = await newContext(STILL);
    const page = await context.newPage();
    await page.goto(`${service().url}/#/device/unknown`);
    await page.getByRole("alert").getByText("Try again").waitFor();
  });
});
