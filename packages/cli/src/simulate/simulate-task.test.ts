import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { letheIn } from "../../test/lethe.ts";

const TASK = {
  version: 1,
  task: "editor-health",
  tickSeconds: 300,
  ticks: 12,
  hides: 20,
  graceSeconds: 86_400,
  mode: "one-server",
  minimumDevices: 6,
  metrics: [
    { name: "export.failed", statistic: "occurrence", localEpsilon: 1 },
    { name: "export.clicks", statistic: "histogram", edges: [0, 1, 2, 5], localEpsilon: 1 },
    { name: "tabs.opened", statistic: "mean", limit: 3, sigma: 2 },
  ],
};

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "lethe-simulate-"));
  writeFileSync(join(directory, "task.json"), JSON.stringify(TASK));
  writeFileSync(
    join(directory, "bad.json"),
    JSON.stringify({ ...TASK, metrics: [{ name: "a", statistic: "median" }] }),
  );
});
afterAll(() => rmSync(directory, { recursive: true }));

const simulate = (...args: string[]) => letheIn(directory, "simulate", ...args);
const FLEET = ["--task", "task.json", "--devices", "6", "--rate", "0.1", "--seed", "7"];

describe("lethe simulate --task", () => {
  it("answers in JSON with the figures of every metric of the file", () => {
    const { status, stdout } = simulate(...FLEET, "--json");
    expect(status).toBe(0);
    const found = JSON.parse(stdout) as {
      metrics: { name: string; statistic: string; rows: Record<string, unknown>[] }[];
    };
    expect(found).toMatchObject({ task: "editor-health", devices: 6, ticks: 12, rate: 0.1, valid: 6 });
    expect(found.metrics.map(({ name, statistic }) => [name, statistic])).toEqual(
      TASK.metrics.map(({ name, statistic }) => [name, statistic]),
    );
    const [failed, clicks, opened] = found.metrics;
    const FIGURES = ["truth", "estimate", "standardError", "interval"];
    for (const metric of [failed, opened]) expect(metric?.rows.map(Object.keys)).toEqual([FIGURES]);
    for (const row of clicks?.rows ?? []) expect(Object.keys(row)).toEqual(["bucket", ...FIGURES]);
    expect(clicks?.rows.map(({ bucket }) => bucket)).toEqual(["0", "1", "2–4", "5+"]);
    expect(clicks?.rows.reduce((sum, { truth }) => sum + (truth as number), 0)).toBe(6);
    expect(simulate(...FLEET, "--json").stdout).toBe(stdout);
  });

  it("prints a table, and a note if a service would release nothing", () => {
    const enough = simulate(...FLEET).stdout;
    expect(enough).toMatch(/^metric +truth +estimate +± s\.e\. +95% interval\nexport\.failed +\d+ /);
    expect(enough).toMatch(/\nexport\.clicks 2–4 +\d+ /);
    expect(enough).toMatch(/\neditor-health: 6 of 6 devices sent valid reports after 12 ticks\n$/);
    const few = simulate("--task", "task.json", "--devices", "2").stdout;
    expect(few).toContain("\nnote: a service would release nothing of 2 devices: minimumDevices is 6\n");
  });

  it("refuses what it cannot do in one line, with exit code 2", () => {
    for (const [message, ...args] of [
      ["option '--ticks' cannot be used with --task: the task file sets it", "--task", "task.json", "--ticks", "3"],
      ["option '--scheme' cannot be used with --task", "--task", "task.json", "--scheme", "elgamal"],
      [
        "option '--statistic' cannot be used with --task: the task file sets it",
        "--task",
        "task.json",
        "--statistic",
        "mean",
      ],
      ["missing.json", "--task", "missing.json"],
      ["bad.json: metrics[0].statistic is one of", "--task", "bad.json"],
      ["--statistic is missing", "--devices", "3"],
      ["from 0 to 1", "--task", "task.json", "--rate", "2"],
      ["whole number", "--task", "task.json", "--devices", "0"],
    ] as [string, ...string[]][]) {
      const { status, stdout, stderr } = simulate(...args);
      expect({ status, stdout, stderr }).toEqual({ status: 2, stdout: "", stderr: expect.stringContaining(message) });
      expect(stderr.trim().split("\n").length).toBe(1);
    }
  });
});
