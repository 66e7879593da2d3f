import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { fakeBrowser } from "../../test/fake-browser.ts";
import { browserCommand, openBrowser } from "./browser.ts";

const PAGE = "http://127.0.0.1:4242/#/device/try";

it.each([
  ["linux", { DISPLAY: ":0" }, ["xdg-open", PAGE]],
  ["linux", { WAYLAND_DISPLAY: "wayland-0" }, ["xdg-open", PAGE]],
  ["linux", {}, []],
  ["linux", { DISPLAY: ":0", CI: "true" }, []],
  ["darwin", {}, ["open", PAGE]],
  ["darwin", { CI: "true" }, []],
  ["win32", {}, ["cmd", "/c", "start", "", PAGE]],
] as const)("on %s with %j a page is opened by %j", (platform, env, command) => {
  expect(browserCommand(PAGE, { platform, env })).toEqual(command);
});

it.runIf(process.platform === "linux")("a page is opened where there is a screen", async () => {
  const folder = mkdtempSync(join(tmpdir(), "lethe-browser-"));
  const { opened, env } = fakeBrowser(folder);
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
  onTestFinished(() => {
    vi.unstubAllEnvs();
    rmSync(folder, { recursive: true });
  });
  openBrowser(PAGE);
  await vi.waitUntil(() => existsSync(opened) && readFileSync(opened, "utf8") !== "", { timeout: 60_000 });
  expect(readFileSync(opened, "utf8")).toBe(`${PAGE}\n`);
  vi.stubEnv("PATH", join(folder, "missing"));
  expect(() => openBrowser(PAGE)).not.toThrow();
});
