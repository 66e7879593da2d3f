import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Figure, Release, ReleaseOrWithheld, WindowStatus } from "@lethe/core/message";
import type { FleetResult } from "@lethe/lab/fleet";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { letheWith, type RunningService, START_TIMEOUT, simulateInTime, startService } from "../test/lethe.ts";

const TASK = {
  version: 1,
  task: "editor-health",
  tickSeconds: 60,
  ticks: 10,
  graceSeconds: 3600,
  mode: "one-server",
  scheme: "lattice",
  hides: 100,
  minimumDevices: 1000,
  metrics: [
    { name: "export.failed", statistic: "occurrence", localEpsilon: 2 },
    { name: "export.clicks", statistic: "histogram", edges: [0, 1, 2, 5], localEpsilon: 2, eventsPerTick: 1 },
    { name: "tabs.opened", statistic: "mean", limit: 10, sigma: 0.5, eventsPerTick: 1 },
  ],
};
const DEVICES = 40;
/** On a busy machine a window of ten seconds can be over before the next command asks about it. */
const BUSY = { retry: 5 };

let folder: string;
let service: RunningService;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "lethe-service-"));
  writeFileSync(join(folder, "task.json"), JSON.stringify(TASK));
  service = await startService({ cwd: folder });
}, START_TIMEOUT);
afterAll(async () => {
  service.process.kill("SIGKILL");
  await service.ended;
  rmSync(folder, { recursive: true });
});

/** In the folder of the service, so that the admin token is found. */
function run(...args: string[]) {
  return letheWith({ cwd: folder, env: { LETHE_SERVER: service.url } }, ...args);
}

function runJson<T>(...args: string[]): T {
  const { status, stdout, stderr } = run(...args, "--json");
  expect({ status, stderr: status === 0 ? "" : stderr }).toEqual({ status: 0, stderr: "" });
  return JSON.parse(stdout) as T;
}

interface Created {
  created: boolean;
  from: number;
  to: number;
  manifest: { fromWindow: number; ticks: number; servers: { url: string; key: string }[] };
}

describe("from a task file to a release", () => {
  it("begins with no task", () => {
    expect(run("task", "list").stdout).toBe("no tasks yet: npx lethe task create task.json\n");
    expect(runJson("task", "list")).toEqual({ tasks: [] });
  });

  it("task create signs the task, and again changes nothing", () => {
    const first = runJson<Created>("task", "create", "task.json");
    expect(first.created).toBe(true);
    expect(first.manifest.servers).toEqual([{ role: "tally", url: service.url, key: service.operatorKey }]);
    expect(first.to - first.from).toBe(10);
    expect(first.from).toBe(10 * first.manifest.fromWindow);
    expect(runJson<Created>("task", "create", "task.json")).toEqual({ ...first, created: false });
    const { stdout } = run("task", "create", "task.json");
    for (const part of [
      "editor-health, version 1, 3 metrics: exists already, exactly like this\n",
      "note: this service is for development: windows of 10 seconds, grace 5 seconds, at least 10 devices\n",
      "10 ticks and 100 page hides: at most 110 writes\n",
      "export.clicks, tabs.opened: at most 1 event between two writes is counted\n",
      `from window    ${first.manifest.fromWindow}\n`,
      " UTC\n",
      `operator key   ${service.operatorKey}\n`,
      "lethe plan --task task.json\n",
    ]) {
      expect(stdout).toContain(part);
    }
  });

  it("a version that says something else is refused in the service's words", () => {
    writeFileSync(join(folder, "changed.json"), JSON.stringify({ ...TASK, scheme: "elgamal" }));
    expect(run("task", "create", "changed.json")).toEqual({
      status: 2,
      stdout: "",
      stderr: "error: version 1 of editor-health is there already and says something else: raise it\n",
    });
  });

  it("task list and task show print what is collected", BUSY, () => {
    const { tasks } = runJson<{ tasks: { task: string; window: number }[] }>("task", "list");
    expect(tasks).toMatchObject([{ task: "editor-health", windowSeconds: 10, versions: [{ version: 1, metrics: 3 }] }]);
    expect(run("task", "list").stdout).toMatch(/\neditor-health +1 +3 +10 seconds +\d+ +\d+\n$/);
    const { manifest, windows } = runJson<{ manifest: { task: string }; windows: WindowStatus[] }>(
      "task",
      "show",
      "editor-health",
    );
    expect(manifest.task).toBe("editor-health");
    expect(windows[0]).toMatchObject({ state: "not-open", received: 0, minimumDevices: 10 });
    const { stdout } = run("task", "show", "editor-health");
    expect(stdout).toContain(`operator key ${service.operatorKey}\n`);
    expect(stdout).toMatch(/\n\d+ +not-open +\d{4}-\d\d-\d\d /);
    expect(stdout).toMatch(/\n\d+ +open +\d{4}-\d\d-\d\d /);
    expect(stdout).toContain("10 ticks and 100 page hides: at most 110 writes\n");
    expect(stdout).toContain("export.clicks, tabs.opened: at most 1 event between two writes is counted\n");
    expect(stdout).toContain(
      "a memory dump may hold how many events of export.clicks, tabs.opened were counted since the last write\n",
    );
    expect(stdout).not.toContain("post-quantum");
  });

  it("task show states that ElGamal is not post-quantum, and what a memory dump may hold", () => {
    const { scheme: _, hides: __, ...rest } = TASK;
    const metrics = TASK.metrics.map(({ eventsPerTick, ...metric }) => metric);
    writeFileSync(join(folder, "by-default.json"), JSON.stringify({ ...rest, task: "by-default", metrics }));
    runJson("task", "create", "by-default.json");
    const { stdout } = run("task", "show", "by-default");
    expect(stdout).toContain("10 ticks and 1,000 page hides: at most 1,010 writes\n");
    expect(stdout).toMatch(
      /\nexport.failed +occurrence +local ε 2 +lattice\nexport.clicks +histogram +local ε 2 +elgamal\n/,
    );
    expect(stdout).toContain("export.clicks, tabs.opened: ElGamal, which is not post-quantum");
    expect(stdout).toContain("a memory dump may hold old ciphertexts of export.clicks, tabs.opened");
    expect(stdout).not.toContain("between two writes");
  });

  it("simulate --server tells the truth, and results --wait what the service learns of it", BUSY, () => {
    const args = ["--server", service.url, "--task", "editor-health", "--devices", `${DEVICES}`, "--rate", "0.1"];
    const { status, stdout, stderr } = simulateInTime(() => run("simulate", ...args, "--json"));
    expect({ status, stderr }).toEqual({ status: 0, stderr: expect.stringContaining(`${DEVICES} devices … 100%\n`) });
    const simulated = JSON.parse(stdout) as {
      window: number;
      devices: number;
      truth: { name: string; bucket?: string; truth: number }[];
    };
    expect(simulated.devices).toBe(DEVICES);
    const window = `${simulated.window}`;

    const release = runJson<Release>("results", "editor-health", "--window", window, "--wait");
    expect(release).toMatchObject({ status: "released", window: simulated.window, received: DEVICES });
    const figures = release.metrics.flatMap((metric): readonly Figure[] =>
      "buckets" in metric ? metric.buckets : [metric],
    );
    expect(figures.length).toBe(simulated.truth.length);
    for (const [i, { estimate, standardError }] of figures.entries()) {
      // Six figures, unseeded. By the exact distributions of these answers, which are skewed, false alarms are below 3e-7.
      expect(Math.abs(estimate - (simulated.truth[i]?.truth as number))).toBeLessThan(7 * standardError);
    }

    checkText(run("results", "editor-health", "--window", window).stdout);
    checkCsv(run("results", "editor-health", "--window", window, "--csv").stdout, release);
    // Empty windows that ended since then do not hide it.
    expect(runJson<Release>("results", "editor-health").window).toBe(simulated.window);
  });

  it("simulate --server prints the truth as a table, and the next command", BUSY, () => {
    const args = ["simulate", "--server", service.url, "--task", "editor-health", "--devices", "3"];
    const { status, stdout } = simulateInTime(() => run(...args));
    expect(status).toBe(0);
    expect(stdout).toMatch(/^metric +truth\nexport.failed +\d\nexport.clicks 0 +\d\nexport.clicks 1 +\d\n/);
    const [, window = ""] = /\nnpx lethe results editor-health --window (\d+) --wait --server http/.exec(stdout) ?? [];
    const { status: waited, stdout: told, stderr } = run("results", "editor-health", "--window", window, "--wait");
    expect(waited).toBe(0);
    expect(told).toContain("not enough, 7 more: nothing is released, and the reports are erased\n");
    expect(told).toContain("3 of 3 enrolled devices reported; refused requests: none\n");
    expect(told).toContain(`create a higher version of the task with "minimumDevices": 1, or run more of them:\n`);
    expect(told).toContain(`  npx lethe simulate --server ${service.url} --task editor-health --devices 10\n`);
    expect(stderr).toContain("3 reports so far, at least 10 needed");
    const csv = run("results", "editor-health", "--window", window, "--csv");
    expect(csv.stdout).toMatch(/^task,[^\n]*\r\n$/);
    expect(csv.stderr).toContain("not enough, 7 more");
    expect(runJson("results", "editor-health", "--window", window)).toMatchObject({ status: "not-enough", missing: 7 });
  });

  it("a task with groups: devices are in them in turn, and results come per group, in total and compared", BUSY, () => {
    const groups = ["stable", "beta"];
    const metrics = TASK.metrics.slice(0, 2).map((metric) => ({ ...metric, localEpsilon: 8 }));
    writeFileSync(join(folder, "grouped.json"), JSON.stringify({ ...TASK, task: "grouped", groups, metrics }));
    runJson("task", "create", "grouped.json");
    const each = "groups stable, beta: each is released on its own, if at least 10 of its devices report\n";
    expect(run("task", "show", "grouped").stdout).toContain(each);
    expect(run("task", "snippet", "grouped").stdout).toContain('  group: "stable", // or beta\n');
    const args = ["simulate", "--server", service.url, "--task", "grouped", "--devices", "21", "--json"];
    const { status, stdout } = simulateInTime(() => run(...args));
    expect(status).toBe(0);
    const simulated = JSON.parse(stdout) as FleetResult;
    expect(simulated.groups?.map(({ group, devices }) => [group, devices])).toEqual([
      ["stable", 11],
      ["beta", 10],
    ]);
    const release = runJson<Release>("results", "grouped", "--window", `${simulated.window}`, "--wait");
    expect(release).toMatchObject({ status: "released", received: 21, devices: 21 });
    // A bit is another one with probability 1/3,000, a bucket with 1/1,000: never two of them, as good as always.
    const near = (figures: readonly { readonly estimate: number }[], truth: FleetResult["truth"]): void => {
      const found = figures.map(({ estimate }) => estimate);
      for (const [i, value] of found.entries()) {
        expect(Math.abs(value - (truth[i]?.truth as number))).toBeLessThan(2.5);
      }
    };
    const figuresIn = (found: Release["metrics"]): Figure[] =>
      found.flatMap((metric): readonly Figure[] => ("buckets" in metric ? metric.buckets : [metric]));
    near(figuresIn(release.metrics), simulated.truth);
    for (const [i, group] of release.groups?.entries() ?? []) {
      if (group.status !== "released") throw new TypeError("not released");
      near(figuresIn(group.metrics), simulated.groups?.[i]?.truth ?? []);
    }
    const text = run("results", "grouped", "--window", `${simulated.window}`).stdout;
    expect(text).toMatch(/\nall groups that are released: 21 devices\nmetric /);
    expect(text).toMatch(/\ngroup beta: 10 of 10 enrolled devices reported\nmetric +statistic +estimate /);
    expect(text).toMatch(/\nbeta minus stable, per device\nmetric +statistic +difference +± s\.e\. +95% interval +p\n/);
    expect(text).toMatch(/\nexport\.failed +occurrence +-?\d+\.\d\d pp +\d+\.\d\d pp +\[.*\] +[\d.<e -]+\n/);
    const csv = run("results", "grouped", "--window", `${simulated.window}`, "--csv").stdout.split("\r\n");
    const rows = csv.slice(1, -1).map((line) => line.split(","));
    // Five figures in total and per group, five differences.
    expect(rows).toHaveLength(20);
    for (const row of rows) expect(row).toHaveLength(csv[0]?.split(",").length as number);
  });

  it("results --last draws figures over the last windows, and prints all of them as JSON and CSV", () => {
    const { task, windows } = runJson<{ task: string; windows: ReleaseOrWithheld[] }>(
      ...["results", "editor-health", "--last", "200"],
    );
    expect(task).toBe("editor-health");
    const [first, last] = [windows[0]?.window ?? 0, windows.at(-1)?.window ?? 0];
    expect(windows.map(({ window }) => window)).toEqual(Array.from({ length: last - first + 1 }, (_, i) => first + i));
    const released = windows.filter(({ status }) => status === "released");
    const short = windows.filter((window) => window.status === "not-enough" && window.received === 3);
    expect(released.length).toBeGreaterThanOrEqual(1);
    expect(short.length).toBeGreaterThanOrEqual(1);
    const [{ window }] = released as [Release];
    expect(released[0]).toEqual(runJson("results", "editor-health", "--window", `${window}`));

    const text = run("results", "editor-health", "--last", "200").stdout;
    expect(text).toMatch(/^editor-health, windows \d+ to \d+: .* UTC\n\d+ released, \d+ with too few devices/);
    for (const title of ["export.failed (occurrence)", "export.clicks 2–4 (histogram)", "tabs.opened (mean)"]) {
      expect(text).toContain(`\n\n${title}\n`);
    }
    expect(text).toMatch(new RegExp(`\n${window} \\d\\d-\\d\\d \\d\\d:\\d\\d │.*●`));
    expect(text).toMatch(new RegExp(`\n${short[0]?.window} .* │ too few devices: 7 more needed\n`));

    const [header = "", ...rows] = run("results", "editor-health", "--last", "200", "--csv").stdout.split("\r\n");
    const at = header.split(",").indexOf("estimate");
    const estimates = rows.filter((row) => row.split(",")[2] === `${window}`).map((row) => row.split(",")[at]);
    expect(estimates.length).toBe(6);
    const empty = rows.filter((row) => row.endsWith(",not-enough"));
    expect(empty.length).toBeGreaterThanOrEqual(1);
    for (const row of empty) expect(row.split(",")[at]).toBe("");
    // Windows of ten seconds go on ending.
    expect(runJson<{ windows: unknown[] }>("results", "editor-health", "--last", "1").windows.length).toBe(1);
  });

  it("results --wait without a window waits for the next one to end", () => {
    const before = Math.floor(Date.now() / 1000);
    const { at } = runJson<Release>("results", "editor-health", "--wait");
    expect(at).toBeGreaterThanOrEqual(before - 1);
  });
});

function checkText(text: string): void {
  expect(text).toMatch(/^editor-health version 1, window \d+: .* UTC, released /);
  expect(text).toMatch(/\nmetric +statistic +estimate +± s\.e\. +95% interval +consistent +local ε₀ +aggregate ε\n/);
  expect(text).toMatch(
    /\nexport\.failed +occurrence +-?\d+ +\d+ +\[-?\d+, -?\d+\] +\d+ +\d[\d.]* +\d[\d.]* \(δ 1e-6\)\n/,
  );
  expect(text).toMatch(/\ntabs\.opened +mean .* \d[\d.]* \(δ 1e-6\) +\d[\d.]* \(δ 1e-6\)\n/);
  expect(text).toMatch(/\nto the server: local +\d[\d.]* +1e-6 .*\nin releases: aggregate +\d[\d.]* +1e-6 /);
  expect(text).toContain(`\n${DEVICES} of ${DEVICES} enrolled devices reported; refused requests: none\n`);
  expect(text).toMatch(/\nfound invalid when opened: -?\d+ ± \d+\.\d+, with noise \(ε 0\.1\)\n/);
  expect(text).toMatch(/\nexport\.failed │.*├─*●─*┤\n/);
  expect(text).toMatch(/\n2–4 │.*●.*\n/);
}

function checkCsv(csv: string, { metrics }: Release): void {
  const lines = csv.split("\r\n");
  expect(lines.at(-1)).toBe("");
  const [header, ...rows] = lines.slice(0, -1).map((line) => line.split(","));
  expect(rows.length).toBe(6);
  for (const row of rows) expect(row.length).toBe(header?.length);
  expect(rows.map((row) => row[header?.indexOf("bucket") ?? -1])).toEqual(["", "0", "1", "2–4", "5+", ""]);
  const [first] = metrics;
  if (first?.statistic !== "occurrence") throw new TypeError("the first metric is an occurrence");
  expect(Number(rows[0]?.[header?.indexOf("estimate") ?? -1])).toBe(first.estimate);
}

describe("before a release", () => {
  it("results says how far the window is", () => {
    writeFileSync(join(folder, "fresh.json"), JSON.stringify({ ...TASK, task: "fresh" }));
    const { manifest } = runJson<Created>("task", "create", "fresh.json");
    const window = manifest.fromWindow + 1000;
    expect(run("results", "fresh", "--window", `${window}`).stdout).toMatch(
      new RegExp(
        `^no release yet: window ${window} of fresh begins .* UTC\\nwait for it: npx lethe results fresh --window ${window} --wait\\n$`,
      ),
    );
    expect(runJson("results", "fresh", "--window", `${window}`)).toMatchObject({
      status: "pending",
      state: "not-open",
      window,
      received: 0,
      minimumDevices: 10,
    });
    const { status, stderr } = run("results", "fresh", "--window", "7");
    expect({ status, stderr }).toEqual({
      status: 2,
      stderr: `error: fresh begins with window ${manifest.fromWindow}\n`,
    });
  });
});

describe("task types", () => {
  const tsc = fileURLToPath(new URL("../../../node_modules/.bin/tsc", import.meta.url));

  it("writes a module that the compiler checks names with", () => {
    const { status, stdout } = run("task", "types", "task.json", "-o", "metrics.ts");
    expect({ status, stdout }).toEqual({ status: 0, stdout: "3 names written to metrics.ts\n" });
    const text = readFileSync(join(folder, "metrics.ts"), "utf8");
    expect(text).toMatch(/^\/\/ Metrics of task editor-health, version 1\./);
    const use =
      'import { metrics, type Metric } from "./metrics.js";\nexport const first: "export.failed" = metrics[0];\n';
    writeFileSync(join(folder, "good.ts"), `${use}export const known: Metric = "tabs.opened";\n`);
    writeFileSync(join(folder, "bad.ts"), `${use}export const unknown: Metric = "tabs.open";\n`);
    const compile = (file: string) =>
      spawnSync(tsc, ["--noEmit", "--strict", "--module", "nodenext", "--types", "", file], {
        cwd: folder,
        encoding: "utf8",
      });
    expect(compile("good.ts")).toMatchObject({ status: 0, stdout: "" });
    expect(compile("bad.ts").stdout).toContain("bad.ts(3,");
  });

  it("come from the service if there is no such file", () => {
    expect(run("task", "types", "editor-health").stdout).toBe(readFileSync(join(folder, "metrics.ts"), "utf8"));
    const names = TASK.metrics.map(({ name }) => name);
    expect(runJson("task", "types", "editor-health")).toEqual({ task: "editor-health", version: 1, metrics: names });
  });

  it("of nothing, or to nowhere, are refused", () => {
    for (const [message, ...args] of [
      [`there is no file tsk.json, and no task of that name at ${service.url}`, "tsk.json"],
      [`there is no file ./task, and no task of that name at ${service.url}`, "./task"],
      ["none/metrics.ts cannot be written: there is no such folder", "task.json", "-o", "none/metrics.ts"],
    ] as const) {
      expect(run("task", "types", ...args)).toEqual({ status: 2, stdout: "", stderr: `error: ${message}\n` });
    }
  });
});

describe("what the user can mend ends with one line and exit code 2", () => {
  it("with a service", () => {
    for (const [message, ...args] of [
      ["there is no task nosuch", "results", "nosuch"],
      ["there is no task nosuch", "results", "nosuch", "--wait"],
      ["there is no task nosuch", "task", "show", "nosuch"],
      ["there is no task nosuch", "task", "close", "nosuch"],
      ["there is no task nosuch", "task", "close", "nosuch", "5"],
      ["there is no task nosuch", "simulate", "--server", service.url, "--task", "nosuch"],
      ["task is not of the right form", "results", "../etc"],
      ["--csv and --json exclude each other", "results", "editor-health", "--csv", "--json"],
      ["--last and --window exclude each other", "results", "editor-health", "--last", "3", "--window", "9"],
      [
        "--last and --wait exclude each other: it prints windows that are finished",
        ...["results", "editor-health", "--last", "3", "--wait"],
      ],
      ["there is no task nosuch", "results", "nosuch", "--last", "3"],
      ["missing.json: there is no such file", "task", "create", "missing.json"],
    ] as const) {
      expect({ args, ...run(...args) }).toEqual({ args, status: 2, stdout: "", stderr: `error: ${message}\n` });
    }
  });

  it("without the right admin token", () => {
    const cwd = mkdtempSync(join(tmpdir(), "lethe-no-token-"));
    const list = (env: Record<string, string>) =>
      letheWith({ cwd, env: { LETHE_SERVER: service.url, ...env } }, "task", "list");
    expect(list({})).toEqual({
      status: 2,
      stdout: "",
      stderr:
        "error: the admin token is missing: set LETHE_ADMIN_TOKEN, or LETHE_DATA to the service's data folder (no lethe-data/admin-token)\n",
    });
    expect(list({ LETHE_ADMIN_TOKEN: "not the right one".replaceAll(" ", "-") })).toEqual({
      status: 2,
      stdout: "",
      stderr: `error: the service at ${service.url} refuses this admin token: set LETHE_ADMIN_TOKEN, or LETHE_DATA to its data folder\n`,
    });
    expect(list({ LETHE_DATA: service.data, LETHE_ADMIN_TOKEN: "" }).status).toBe(0);
    expect(existsSync(join(cwd, "lethe-data"))).toBe(false);
    rmSync(cwd, { recursive: true });
  });

  it("without a service", () => {
    const env = { LETHE_SERVER: "http://127.0.0.1:9", LETHE_ADMIN_TOKEN: "0123456789abcdef" };
    const stderr =
      "error: no service answers at http://127.0.0.1:9: is the address right, and the service running (npx lethe serve)?\n";
    for (const args of [
      ["results", "editor-health"],
      ["results", "editor-health", "--wait", "--json"],
      ["task", "list"],
      ["task", "show", "editor-health"],
      ["task", "close", "editor-health"],
      ["task", "create", "task.json"],
      ["simulate", "--server", "http://127.0.0.1:9", "--task", "editor-health"],
    ]) {
      expect({ args, ...letheWith({ cwd: folder, env }, ...args) }).toEqual({ args, status: 2, stdout: "", stderr });
    }
    expect(letheWith({ cwd: folder, env }, "task", "types", "editor-health").stderr).toBe(
      "error: there is no file editor-health, and no service answers at http://127.0.0.1:9: is the address right, and the service running (npx lethe serve)?\n",
    );
    for (const server of ["localhost:8080", "ftp://a.example", "http://", "http://a.example/?b"]) {
      const { status, stderr } = letheWith({}, "results", "editor-health", "--server", server);
      expect({ server, status }).toEqual({ server, status: 2 });
      expect(stderr).toMatch(/^error: option '--server <url>' .* is invalid. It must be an http or https address.\n$/);
    }
  });

  it("with options of the other kind of simulation", () => {
    const online = ["simulate", "--server", "http://127.0.0.1:9"];
    for (const [message, ...args] of [
      ["--task is missing: --server needs the name of a task", ...online],
      [
        "option '--statistic' cannot be used with --server: the task of the service sets it",
        ...online,
        "--statistic",
        "mean",
      ],
      [
        "option '--local-epsilon' cannot be used with --server: the task of the service sets it",
        ...online,
        "--local-epsilon",
        "1",
      ],
      [
        "option '--seed' cannot be used with --server: the task of the service sets it",
        ...online,
        "--task",
        "t",
        "--seed",
        "1",
      ],
      [
        "option '--statistic' cannot be used with --task: the task file sets it",
        "simulate",
        "--statistic",
        "mean",
        "--task",
        "t",
      ],
    ] as const) {
      expect({ args, ...letheWith({}, ...args) }).toEqual({
        args,
        status: 2,
        stdout: "",
        stderr: `error: ${message}\n`,
      });
    }
  });
});
