import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { describe, expect, it, onTestFinished } from "vitest";
import { fakeBrowser } from "../../test/fake-browser.ts";
import { bin, environment, letheWith } from "../../test/lethe.ts";

describe("lethe demo", () => {
  it("--once --json: all three statistics, every figure near the truth; no browser, and nothing left behind", () => {
    const folder = mkdtempSync(join(tmpdir(), "lethe-demo-once-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const { env, opened } = fakeBrowser(folder);
    const temporary = mkdtempSync(join(folder, "tmp-"));
    const options = ["--once", "--json", "--devices", "60"];
    const { status, stdout, stderr } = letheWith({ env: { ...env, TMPDIR: temporary } }, "demo", ...options);
    expect(stderr).toMatch(/^preparing the database …\nconsole: http:\/\/127\.0\.0\.1:\d+\/\n/);
    expect(status).toBe(0);
    expect([existsSync(opened), readdirSync(temporary)]).toEqual([false, []]);
    const result = JSON.parse(stdout) as {
      devices: number;
      received: number;
      metrics: {
        name: string;
        statistic: string;
        truth: number;
        estimate: number;
        standardError: number;
        interval: number[];
      }[];
      seconds: number;
    };
    expect([...new Set(result.metrics.map(({ statistic }) => statistic))]).toEqual(["occurrence", "histogram", "mean"]);
    for (const { truth, estimate, standardError, interval } of result.metrics) {
      // Six figures, unseeded. By the exact distributions of these answers, which are skewed, false alarms are below 5e-7.
      expect(Math.abs(estimate - truth)).toBeLessThan(6 * standardError);
      expect(interval.length).toBe(2);
    }
    expect(result.seconds).toBeGreaterThan(0);
  });
});

describe("lethe demo --mode two-server", () => {
  it("--once --json: all statistics, every figure near the truth, and no process left behind", async () => {
    const args = [bin, "demo", "--mode", "two-server", "--once", "--json", "--devices", "4"];
    const demo = spawn(process.execPath, args, { env: environment(), stdio: ["ignore", "pipe", "pipe"] });
    const printed = text(demo.stdout);
    // Once they report, both servers are there.
    await once(demo.stderr, "data");
    const { stdout: children } = spawnSync("ps", ["-o", "pid=,args=", "--ppid", `${demo.pid}`], { encoding: "utf8" });
    const servers = children.split("\n").filter((line) => line.includes(" serve "));
    expect(servers.length).toBe(2);
    expect(await once(demo, "exit")).toEqual([0, null]);
    for (const server of servers) expect(() => process.kill(Number.parseInt(server, 10), 0)).toThrow("ESRCH");

    const { received, metrics } = JSON.parse(await printed) as {
      received: number;
      metrics: { statistic: string; truth: number; estimate: number; standardError: number }[];
    };
    expect(received).toBe(4);
    expect(metrics.map(({ statistic }) => statistic)).toEqual([
      ...["occurrence", "occurrence"],
      ...["histogram", "histogram", "histogram", "histogram", "histogram", "histogram", "mean"],
    ]);
    // With four devices this finds gross errors only; the test of `lethe collect` is sharper. False alarms: below 1e-8.
    for (const { truth, estimate, standardError } of metrics) {
      expect(Math.abs(estimate - truth)).toBeLessThan(6 * standardError);
    }
  });
});
