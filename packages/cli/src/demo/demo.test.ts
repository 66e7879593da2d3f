import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { fakeBrowser } from "../../test/fake-browser.ts";
import { bin, environment, letheWith } from "../../test/lethe.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "lethe-demo-command-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

it.runIf(process.platform === "linux")("lethe demo prints the address of its console first, and opens it", async () => {
  const { env, opened } = fakeBrowser(folder);
  const demo = spawn(process.execPath, [bin, "demo", "--devices", "2"], {
    env: environment(env),
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [errors, ended] = [text(demo.stderr), once(demo, "exit")];
  try {
    const first = await Promise.race([once(createInterface(demo.stdout), "line"), ended.then(() => errors)]);
    const [, page = ""] = /^console: (http:\/\/127\.0\.0\.1:\d+\/)$/.exec(String(first)) ?? [];
    expect(await (await fetch(page)).text()).toContain("<title>Lethe</title>");
    expect(await (await fetch(`${page}v1/console`)).json()).toMatchObject({ hasDemonstration: true });
    await vi.waitUntil(() => existsSync(opened) && readFileSync(opened, "utf8") !== "", { timeout: 60_000 });
    expect(readFileSync(opened, "utf8")).toBe(`${page}\n`);
  } finally {
    demo.kill("SIGINT");
    await ended;
  }
});

it.each(["one-server", "two-server"])(
  "lethe demo --mode %s on a port in use ends with one line, before a database is made",
  async (mode) => {
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const { port } = other.address() as AddressInfo;
    expect(letheWith({ env: { TMPDIR: folder } }, "demo", "--mode", mode, "--port", `${port}`)).toEqual({
      status: 2,
      stdout: "",
      stderr: `error: port ${port} of 127.0.0.1 is in use: choose another with --port\n`,
    });
    expect(readdirSync(folder)).toEqual([]);
    other.close();
  },
);
