import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { letheIn } from "../../test/lethe.ts";

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "lethe-task-"));
});
afterAll(() => rmSync(directory, { recursive: true }));

const TASK = {
  version: 1,
  task: "editor-health",
  tickSeconds: 300,
  ticks: 288,
  graceSeconds: 93_600,
  mode: "one-server",
  scheme: "lattice",
  hides: 100,
  minimumDevices: 1000,
  metrics: [
    { name: "export.failed", statistic: "occurrence", localEpsilon: 1 },
    { name: "export.clicks", statistic: "histogram", edges: [0, 1, 2, 5], localEpsilon: 0.5, eventsPerTick: 2 },
    { name: "tabs.opened", statistic: "mean", limit: 10, sigma: 2, eventsPerTick: 1 },
  ],
};
const MISSPELT = JSON.stringify(TASK).replace("localEpsilon", "localEpsilonn");
const COMPLAINT =
  "task.json: metrics[0].localEpsilonn is not a field of an occurrence metric; did you mean localEpsilon?";

/** Runs in the directory of the files, so that paths in messages are short. */
function check(...args: string[]) {
  return letheIn(directory, "task", "check", ...args);
}

function write(content: string | Uint8Array): string {
  writeFileSync(join(directory, "task.json"), content);
  return "task.json";
}

describe("lethe task check", () => {
  it("describes a good task", () => {
    expect(check(write(JSON.stringify(TASK)))).toEqual({
      status: 0,
      stderr: "",
      stdout: [
        "editor-health, version 1: a good task",
        "window of 1 day: 288 ticks of 5 minutes; reports are accepted for 1 day 2 hours after it",
        "288 ticks and 100 page hides: at most 388 writes",
        "one-server, lattice; released if at least 1000 devices report",
        "",
        "metric         statistic   noise",
        "export.failed  occurrence  local ε 1",
        "export.clicks  histogram   local ε 0.5",
        "tabs.opened    mean        sigma 2",
        "",
        "export.clicks: at most 2 events between two writes are counted",
        "tabs.opened: at most 1 event between two writes is counted",
        "",
      ].join("\n"),
    });
  });

  it("of a task that leaves schemes and page hides to their defaults, says which it got", () => {
    const { scheme: _, hides: __, ...task } = TASK;
    const metrics = task.metrics.map(({ eventsPerTick, ...metric }) => metric);
    expect(check(write(JSON.stringify({ ...task, metrics })))).toEqual({
      status: 0,
      stderr: "",
      stdout: [
        "editor-health, version 1: a good task",
        "window of 1 day: 288 ticks of 5 minutes; reports are accepted for 1 day 2 hours after it",
        "288 ticks and 1,000 page hides: at most 1,288 writes",
        "one-server; released if at least 1000 devices report",
        "",
        "metric         statistic   noise        scheme",
        "export.failed  occurrence  local ε 1    lattice",
        "export.clicks  histogram   local ε 0.5  elgamal",
        "tabs.opened    mean        sigma 2      elgamal",
        "",
      ].join("\n"),
    });
  });

  it("names the page hides that would fit, and the field that a lattice histogram cannot do without", () => {
    const complaint = (metrics: readonly object[]): string => {
      const { hides: _, ...task } = TASK;
      return check(write(JSON.stringify({ ...task, metrics }))).stderr;
    };
    const [, histogram] = TASK.metrics;
    expect(complaint([{ ...histogram, eventsPerTick: 1 }])).toMatch(/hides 517 is the most that fits\n$/);
    expect(complaint([{ ...histogram, eventsPerTick: undefined }])).toContain("metrics[0].eventsPerTick is required");
  });

  it("--json prints the task", () => {
    const { status, stdout, stderr } = check(write(JSON.stringify(TASK)), "--json");
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    expect(JSON.parse(stdout)).toEqual({ valid: true, task: { ...TASK, missing: 0 } });
  });

  it("a byte order mark, as some editors write it, does no harm", () => {
    expect(check(write(`\ufeff${JSON.stringify(TASK)}`)).status).toBe(0);
  });

  it("a bad task ends with one line and exit code 2", () => {
    expect(check(write(MISSPELT))).toEqual({ status: 2, stdout: "", stderr: `error: ${COMPLAINT}\n` });
  });

  it("--json says so on stdout too", () => {
    const { status, stdout, stderr } = check(write(MISSPELT), "--json");
    expect({ status, stderr }).toEqual({ status: 2, stderr: `error: ${COMPLAINT}\n` });
    expect(stdout).toBe(`${JSON.stringify({ valid: false, error: COMPLAINT })}\n`);
  });

  it("what is no task file at all ends the same way", () => {
    for (const [path, complaint] of [
      ["missing.json", "there is no such file"],
      [".", "this is a directory, not a file"],
      [write(new Uint8Array(1_000_001).fill(32)), "a task file must have at most 1 MB"],
    ] as const) {
      expect(check(path)).toEqual({ status: 2, stdout: "", stderr: `error: ${path}: ${complaint}\n` });
    }
    expect(check(write(Uint8Array.of(0x22, 0xff, 0x22))).stderr).toBe(
      "error: task.json: a task file must be text in UTF-8\n",
    );
    expect(check(write('{"version": 1,}')).stderr).toBe(
      'error: task.json: task is not JSON: unexpected "}" at line 1, column 15\n',
    );
    expect(check("missing.json", "--json").stdout).toBe(
      `${JSON.stringify({ valid: false, error: "missing.json: there is no such file" })}\n`,
    );
  });

  it("without a file or with a misspelt name says so", () => {
    expect(check()).toEqual({ status: 2, stdout: "", stderr: "error: missing required argument 'file'\n" });
    const { status, stderr } = letheIn(directory, "task", "chek");
    expect({ status, stderr }).toEqual({ status: 2, stderr: "error: unknown command 'chek' (Did you mean check?)\n" });
  });
});
