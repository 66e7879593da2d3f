/// <reference lib="dom" />
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import type { Release } from "@lethe/core/message";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { chromiumPath, launch, PATIENCE_MS } from "../../../device/test/browser.ts";
import { bin, environment, letheWith } from "../../test/lethe.ts";

const MOST_SECONDS = 120;

let temporary: string;
beforeAll(() => {
  temporary = mkdtempSync(join(tmpdir(), "lethe-trying-"));
});
afterAll(() => rmSync(temporary, { recursive: true }));

describe.skipIf(!chromiumPath)("lethe try", () => {
  let command: ChildProcess;
  let ended: Promise<[number | null]>;
  let stderr: Promise<string>;
  let addresses: { page: string; server: string; operatorKey: string; task: string };
  let browser: Browser;
  const releases: Release[] = [];

  beforeAll(async () => {
    command = spawn(process.execPath, [bin, "try", "--json"], {
      env: environment({ TMPDIR: temporary }),
      stdio: ["ignore", "pipe", "pipe"],
    });
    process.once("exit", () => command.kill("SIGKILL"));
    ended = once(command, "exit") as Promise<[number | null]>;
    if (!command.stdout || !command.stderr) throw new TypeError("its output is not piped");
    stderr = text(command.stderr);
    const lines = createInterface(command.stdout);
    addresses = JSON.parse(String((await once(lines, "line"))[0])) as typeof addresses;
    expect(addresses).toEqual({
      page: `${addresses.server}/#/device/try`,
      server: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      operatorKey: expect.stringMatching(/^ed25519:/),
      task: "try",
    });
    lines.on("line", (line) => releases.push(JSON.parse(line) as Release));
    browser = await launch();
  });
  afterAll(async () => {
    await browser?.close();
    command?.kill("SIGKILL");
  });

  // Again, because a busy machine may have no window that counts at the moment; then the page says so.
  it("a click is in a release within two minutes, on the page and in the terminal", { retry: 2 }, async () => {
    const page = await browser.newPage();
    page.setDefaultTimeout(PATIENCE_MS);
    const complaints: string[] = [];
    page.on("console", (message) => complaints.push(message.text()));
    page.on("pageerror", ({ message }) => complaints.push(message));
    await page.goto(addresses.page);
    await page.getByRole("button", { name: "Join this task" }).click();
    const button = page.getByRole("button", { name: "button.clicked" });
    await expect.poll(() => button.isEnabled(), { timeout: 120_000 }).toBe(true);
    const stored = page.locator("figure", { hasText: "What the Lethe device stored" }).getByRole("img");
    await expect
      .poll(() => stored.getAttribute("aria-label"))
      .toMatch(/^[\d,]+ bytes; changed since the tick before: /);
    // In the first second of a window the SDK may still count in the one before.
    await page.getByText(/^Window [\d,]+ ends in [234] s\./).waitFor();
    const clicked = Date.now();
    await button.click();
    const learned = page.getByRole("region", { name: "What the service learns" });
    const promised = await learned.getByText(/^What you recorded is in the release of window \d+, /).textContent();
    const window = Number(/\d+/.exec(promised ?? "")?.[0]);
    const told = `The release of window ${window} contains what you recorded, with the reports of 1 device.`;
    await learned.getByText(told).waitFor({ timeout: 1000 * MOST_SECONDS });
    const seconds = (Date.now() - clicked) / 1000;
    console.log(JSON.stringify({ seconds, most: MOST_SECONDS }));
    const cell = learned.getByRole("row", { name: "button.clicked" }).getByRole("cell");
    expect(await cell.textContent()).toMatch(/^1 ± 0\.0\d+$/);
    await expect
      .poll(() => releases.find((release) => release.window === window))
      .toMatchObject({
        status: "released",
        received: 1,
        metrics: [{ name: "button.clicked", estimate: Number(await cell.getAttribute("data-value")) }],
      });
    expect(Number(await cell.getAttribute("data-value"))).toBeCloseTo(1, 1);
    expect(seconds).toBeLessThan(MOST_SECONDS);
    // A service that has just begun may have no keys for a moment, which Chromium notes.
    expect(complaints.filter((complaint) => !complaint.includes("503"))).toEqual([]);
    await page.close();
  });

  it("Ctrl-C ends it well, and leaves nothing behind", async () => {
    command.kill("SIGINT");
    expect((await ended)[0]).toBe(0);
    expect(await stderr).toBe("preparing the database …\n");
    expect(readdirSync(temporary)).toEqual([]);
    await expect(fetch(addresses.server)).rejects.toThrow();
  });
});

describe("lethe try, where it cannot", () => {
  it("a port in use ends it with one line, before the database is made", async () => {
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const { port } = other.address() as AddressInfo;
    const { status, stdout, stderr } = letheWith({ env: { TMPDIR: temporary } }, "try", "--port", `${port}`);
    expect({ status, stdout, stderr }).toEqual({
      status: 2,
      stdout: "",
      stderr: `error: port ${port} of 127.0.0.1 is in use: choose another with --port\n`,
    });
    expect(readdirSync(temporary)).toEqual([]);
    other.close();
  });
});
