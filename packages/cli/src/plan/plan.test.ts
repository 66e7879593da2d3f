import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { letheIn } from "../../test/lethe.ts";

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "lethe-plan-"));
});
afterAll(() => rmSync(directory, { recursive: true }));

function plan(...args: string[]) {
  return letheIn(directory, "plan", ...args);
}

function answer(...args: string[]) {
  const { status, stdout, stderr } = plan(...args, "--json");
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  return JSON.parse(stdout) as Record<string, number> & { parameters: Record<string, number | string> };
}

const OCCURRENCE = ["--statistic", "occurrence", "--devices", "10000"];
const TASK = {
  version: 1,
  task: "editor-health",
  tickSeconds: 300,
  ticks: 288,
  graceSeconds: 86_400,
  mode: "one-server",
  scheme: "lattice",
  hides: 100,
  minimumDevices: 1000,
  metrics: [
    { name: "export.failed", statistic: "occurrence", localEpsilon: 1 },
    { name: "tabs.opened", statistic: "mean", limit: 10, sigma: 2, eventsPerTick: 3 },
  ],
};

function taskFile(task: object, name = "task.json"): string {
  writeFileSync(join(directory, name), JSON.stringify(task));
  return name;
}

describe("lethe plan --detect", () => {
  const fleet = ["--devices", "20000", "--ticks", "12", "--hides", "0"];

  it("finds the ε with which 50 devices stand out, for every statistic, with one server and two", () => {
    for (const [detect, ...args] of [
      ["50", "--statistic", "occurrence"],
      ["50", "--statistic", "histogram"],
      ["0.1", "--statistic", "mean", "--limit", "3"],
      ["50", "--statistic", "occurrence", "--mode", "two-server", "--noise", "servers"],
      ["0.01", "--statistic", "mean", "--mode", "two-server", "--limit", "3"],
    ] as [string, ...string[]][]) {
      const found = answer(...fleet, "--detect", detect, ...args);
      expect(found.detect).toBe(Number(detect));
      expect(found.detectable).toBeLessThanOrEqual(Number(detect));
      expect(found.detectable).toBeGreaterThan(0.9 * Number(detect));
      expect(found.epsilon).toBeLessThanOrEqual(found.localEpsilon as number);
      // The same plan, asked for by its ε.
      const { detect: _, parameters, ...plan } = found;
      const again = answer(...fleet, "--local-epsilon", `${found.localEpsilon}`, ...args);
      expect(again).toMatchObject(plan);
    }
  });

  it("says in the table what the ε is for", () => {
    const { stdout } = plan(...fleet, "--detect", "50", "--statistic", "occurrence");
    expect(stdout).toMatch(/\nto make visible +50 of 20,000 devices +take ε₀ = 3\.\d+: it is the least that does\n/);
  });

  it("refuses what cannot be in one line", () => {
    for (const [message, ...args] of [
      ["give either --epsilon with --delta, or --local-epsilon, or --detect", "--detect", "5", "--local-epsilon", "1"],
      ["detect is a number of devices up to all of them, 20000, not 30000", "--detect", "30000"],
      ["It must be a number above 0.", "--detect", "0"],
    ] as [string, ...string[]][]) {
      const { status, stdout, stderr } = plan(...fleet, "--statistic", "occurrence", ...args);
      expect({ status, stdout, stderr }).toEqual({ status: 2, stdout: "", stderr: expect.stringContaining(message) });
      expect(stderr.trim().split("\n").length).toBe(1);
    }
    const task = plan("--task", taskFile(TASK), "--detect", "5");
    expect(task.stderr).toContain("option '--detect' cannot be used with --task: the task file sets it");
    expect(task.status).toBe(2);
  });
});

describe("lethe plan", () => {
  it("answers in JSON with the fields that programs rely on", () => {
    const found = answer(...OCCURRENCE, "--epsilon", "1", "--delta", "1e-6");
    expect(found).toMatchObject({
      epsilon: 1,
      delta: 1e-6,
      bound: "exact",
      mechanism: "randomized-response",
      sigma: null,
      ticks: 288,
      hides: 1000,
      writes: 1288,
      eventsPerTick: null,
    });
    // Computed elsewhere.
    expect(found.localEpsilon).toBeCloseTo(5.68900188126394, 6);
    expect(found.standardError).toBeCloseTo(5.83607, 4);
    expect(found.detectable).toBe(12);
    expect(found.informationTheoreticStandardError).toBeCloseTo(Math.sqrt(288) * (found.standardError as number), 6);
    const { parameters } = found;
    expect(parameters.scheme).toBe("lattice");
    expect(parameters.localEpsilon).toBeLessThanOrEqual(found.localEpsilon as number);
    expect(Math.log((parameters.t as number) / (parameters.z as number) - 1)).toBeCloseTo(
      parameters.localEpsilon as number,
      9,
    );
    expect(parameters.stateBytes).toBeGreaterThan(1000);
    expect((parameters.microseconds as unknown as { write: number }).write).toBeGreaterThan(1);
  });

  it("from a local ε, with a δ of 1e-6 unless told otherwise", () => {
    const found = answer(...OCCURRENCE, "--local-epsilon", "1");
    expect(found).toMatchObject({ localEpsilon: 1, delta: 1e-6 });
    expect(found.epsilon).toBeCloseTo(0.035658816386356415, 7);
    const smaller = answer(...OCCURRENCE, "--local-epsilon", "1", "--delta", "1e-9");
    expect(smaller.epsilon).toBeGreaterThan(found.epsilon as number);
  });

  it("plans histograms and means, with devices missing", () => {
    const histogram = answer(
      "--statistic",
      "histogram",
      "--devices",
      "1e5",
      "--epsilon",
      "0.5",
      "--delta",
      "1e-6",
      "--edges",
      "0,1,5",
      "--mechanism",
      "kary",
    );
    expect(histogram).toMatchObject({ mechanism: "kary", bound: "upper", hides: 1000, eventsPerTick: null });
    expect(histogram.parameters.scheme).toBe("elgamal");
    expect(histogram.localEpsilon).toBeCloseTo(6.605, 2);
    const mean = answer(
      "--statistic",
      "mean",
      "--devices",
      "10000",
      "--epsilon",
      "1",
      "--delta",
      "1e-6",
      "--limit",
      "10",
      "--missing",
      "0.2",
    );
    expect(((mean.sigma as number) * 10) ** 2).toBeCloseTo(0.25567976379117596, 6);
    expect(mean.parameters.scheme).toBe("elgamal");
    expect(mean).toMatchObject({ reporting: 8000, mechanism: "discrete-gaussian" });
  });

  it("says the same to people, local beside aggregate", () => {
    const { status, stdout, stderr } = plan(...OCCURRENCE, "--epsilon", "1", "--delta", "1e-6");
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    for (const words of [
      "ε₀ = 5.689",
      "ε = 1, δ = 1e-6",
      "± 5.836 devices",
      "12 devices",
      "± 99.04 devices",
      "lattice",
    ]) {
      expect(stdout).toContain(words);
    }
    expect(stdout).not.toContain("hides next to nothing");
    const weak = plan("--statistic", "mean", "--devices", "10000", "--epsilon", "1", "--delta", "1e-6");
    expect(weak.stdout).toContain("hides next to nothing");
  });

  it("on lattices has no page hides and one event in a segment, unless told otherwise", () => {
    const histogram = ["--statistic", "histogram", "--devices", "1000", "--local-epsilon", "1", "--scheme", "lattice"];
    expect(answer(...histogram)).toMatchObject({ ticks: 288, hides: 0, writes: 288, eventsPerTick: 1 });
    const more = answer(...histogram, "--hides", "20", "--events-per-tick", "2");
    expect(more).toMatchObject({ hides: 20, writes: 308, eventsPerTick: 2 });
    expect(more.parameters).toMatchObject({ scheme: "lattice", dimension: 4096 });
    const { stdout } = plan(...histogram, "--hides", "1", "--ticks", "10", "--events-per-tick", "3");
    expect(stdout).toContain("10 ticks and 1 page hide: at most 11 writes");
    expect(stdout).toContain("at most 3 events between two writes are counted");
    expect(plan(...histogram, "--ticks", "1").stdout).toContain("at most 1 event between two writes is counted");
    expect(plan(...histogram, "--hides", "1000").stderr).toContain("hides 517 is the most that fits");
    const { stdout: unlimited } = plan(...histogram.slice(0, -2));
    expect(unlimited).toContain("288 ticks and 1,000 page hides: at most 1,288 writes");
    expect(unlimited).toContain("every event is counted");
  });

  it("draws error against devices, in the terminal and as SVG", () => {
    const { status, stdout } = plan(...OCCURRENCE, "--epsilon", "1", "--delta", "1e-6", "--plot", "error.svg");
    expect(status).toBe(0);
    expect(stdout).toContain("Standard error of a count");
    expect(stdout).toContain("Lethe");
    const svg = readFileSync(join(directory, "error.svg"), "utf8");
    expect(svg).toMatch(/^<svg/);
    expect(svg).toContain("devices");
  });

  it("prices a task", () => {
    const { status, stdout } = plan("--task", taskFile(TASK), "--windows", "7", "--json");
    expect(status).toBe(0);
    const found = JSON.parse(stdout) as {
      metrics: { name: string; epsilon: number; scheme: string; eventsPerTick: number | null }[];
      ticks: number;
      hides: number;
      writes: number;
      perWindow: { aggregate: { epsilon: number }; local: { epsilon: number } };
      total: { windows: number; aggregate: { epsilon: number } };
    };
    expect(found.metrics.map(({ name }) => name)).toEqual(["export.failed", "tabs.opened"]);
    expect(found.perWindow.local.epsilon).toBeGreaterThan(2.25);
    expect(found.total.windows).toBe(7);
    expect(found.total.aggregate.epsilon).toBeGreaterThan(found.perWindow.aggregate.epsilon);
    expect(found).toMatchObject({ ticks: 288, hides: 100, writes: 388 });
    expect(found.metrics.map(({ scheme, eventsPerTick }) => ({ scheme, eventsPerTick }))).toEqual([
      { scheme: "lattice", eventsPerTick: null },
      { scheme: "lattice", eventsPerTick: 3 },
    ]);
    const words = plan("--task", "task.json").stdout;
    expect(words).toContain("per window");
    expect(words).toContain("288 ticks and 100 page hides: at most 388 writes");
    expect(words).toContain("tabs.opened: at most 3 events between two writes are counted");
  });

  it("prices a task with groups as one group of it", () => {
    const occurrence = { ...TASK, metrics: TASK.metrics.slice(0, 1) };
    const { groups, ...priced } = answer(
      "--task",
      taskFile({ ...occurrence, groups: ["stable", "beta"] }, "groups.json"),
    );
    expect(groups).toEqual(["stable", "beta"]);
    expect(priced).toEqual(answer("--task", taskFile(occurrence, "none.json")));
    expect(plan("--task", "groups.json").stdout).toMatch(
      /^groups stable, beta: all figures below are those of one group; a group of fewer than 1,000 devices is not released\n/,
    );
  });

  it("prices a task against collusion by K-ary response, which each of the servers sees", () => {
    const { scheme: _, ...task } = { ...TASK, scheme: undefined, mode: "two-server", collusion: "one-server" };
    const steps = Array.from({ length: 20 }, (_, i) => `step-${i}`);
    const metrics = [{ name: "steps", statistic: "funnel", steps, localEpsilon: 1 }];
    const file = taskFile({ ...task, metrics }, "guarded.json");
    const priced = answer("--task", file) as unknown as { metrics: object[]; perWindow: { hijackedEpsilon: number } };
    expect(priced).toMatchObject({ metrics: [{ mechanism: "kary", noise: "device" }] });
    expect(Number.isFinite(priced.perWindow.hijackedEpsilon)).toBe(true);
    expect(plan("--task", file).stdout).toMatch(/\na device pays +to each of the servers: local ε /);
    const { status, stderr } = plan("--task", taskFile({ ...task, mode: "one-server", metrics }, "one.json"));
    expect({ status, stderr }).toEqual({
      status: 2,
      stderr: "error: one.json: collusion one-server is for mode two-server, not one-server\n",
    });
  });

  it("with a budget, of the task or of the options, says what devices skip and what to change", () => {
    const budget = { epsilon: 5, days: 30 };
    const occurrences = { ...TASK, budget, metrics: TASK.metrics.slice(0, 1) };
    const file = taskFile(occurrences, "budget.json");
    const { budget: found } = answer("--task", file, "--windows", "52") as unknown as { budget: object };
    expect(found).toMatchObject({ ...budget, delta: 1e-6, windows: 52, answered: 10, affordablePerPeriod: 5 });
    expect(found).toMatchObject({ changes: [{ change: "longer-windows", ticks: 1728 }, { change: "server-noise" }] });
    const { stdout } = plan("--task", file, "--windows", "52");
    expect(stdout).toContain("answers 5 of 30 in 30 days, 10 of 52 in all");
    expect(stdout).toContain('longer windows: windows of 6 days ("ticks": 1728, "tickSeconds": 300)');
    expect(stdout).toContain('noise at the servers: mode two-server, "noise": "servers", "sigma": ');
    const enough = plan("--task", file, "--budget-epsilon", "30", "--budget-days", "30");
    expect(enough.stdout).toContain("no window is skipped");
    const none = taskFile({ ...occurrences, budget: undefined }, "none.json");
    expect(answer("--task", none)).not.toHaveProperty("budget");
  });

  it("prices a task at the share that it says may be missing, unless told another", () => {
    const occurrence = { ...TASK, metrics: TASK.metrics.slice(0, 1) };
    const file = taskFile({ ...occurrence, missing: 0.2 }, "missing.json");
    const priced = (...args: string[]) => answer("--task", ...args) as unknown as { reporting: number };
    expect(priced(file).reporting).toBe(800);
    expect(priced(file, "--missing", "0.5").reporting).toBe(500);
    expect(priced(file, "--missing", "0").reporting).toBe(1000);
    expect(priced(taskFile(occurrence, "none.json")).reporting).toBe(1000);
    for (const missing of [1, -0.1, "0.2"]) {
      const { status, stderr } = plan("--task", taskFile({ ...TASK, missing }, "bad.json"));
      expect({ status, stderr }).toEqual({
        status: 2,
        stderr: expect.stringMatching(/^error: bad\.json: missing .*\n$/),
      });
    }
  });

  it("nonsense ends with one line naming the field, and exit code 2", () => {
    const goal = ["--local-epsilon", "1"];
    const misspelt = { ...TASK, metrics: [{ ...TASK.metrics[0], localEpsilonn: 1 }] };
    for (const [field, ...args] of [
      ["--statistic", "--devices", "10", ...goal],
      ["--devices", "--statistic", "occurrence", ...goal],
      ["--devices", "--statistic", "occurrence", "--devices", "0", ...goal],
      ["--epsilon", ...OCCURRENCE],
      ["--epsilon", ...OCCURRENCE, "--epsilon", "0", "--delta", "1e-6"],
      ["--epsilon", ...OCCURRENCE, "--epsilon", "-1", "--delta", "1e-6"],
      ["--epsilon", ...OCCURRENCE, "--epsilon", "x", "--delta", "1e-6"],
      ["--delta", ...OCCURRENCE, "--epsilon", "1"],
      ["--delta", ...OCCURRENCE, "--epsilon", "1", "--delta", "1"],
      ["--delta", ...OCCURRENCE, "--epsilon", "1", "--delta", "0"],
      ["--local-epsilon", ...OCCURRENCE, "--epsilon", "1", "--delta", "0.1", ...goal],
      ["localEpsilon", ...OCCURRENCE, "--local-epsilon", "30"],
      ["edges", "--statistic", "histogram", "--devices", "9", ...goal, "--edges", "0,5,2"],
      ["--edges", ...OCCURRENCE, ...goal, "--edges", "0,1"],
      ["--limit", "--statistic", "mean", "--devices", "9", ...goal, "--limit", "0"],
      ["--missing", ...OCCURRENCE, ...goal, "--missing", "1"],
      ["--ticks", ...OCCURRENCE, ...goal, "--ticks", "0"],
      ["--hides", ...OCCURRENCE, ...goal, "--hides", "-1"],
      ["--events-per-tick", ...OCCURRENCE, ...goal, "--events-per-tick", "2"],
      ["--scheme lattice", "--statistic", "mean", "--devices", "9", ...goal, "--events-per-tick", "2"],
      ["--hides", "--task", taskFile(TASK), "--hides", "2"],
      ["--events-per-tick", "--task", taskFile(TASK), "--events-per-tick", "2"],
      ["--budget-epsilon", ...OCCURRENCE, ...goal, "--budget-epsilon", "2"],
      ["--budget-days", "--task", taskFile(TASK), "--budget-epsilon", "2"],
      ["--budget-days", "--task", taskFile(TASK), "--budget-epsilon", "2", "--budget-days", "0"],
      ["--budget-epsilon", "--task", taskFile(TASK), "--budget-days", "2"],
      ["budget.days", "--task", taskFile({ ...TASK, budget: { epsilon: 1, days: 0 } }, "wrong-budget.json")],
      ["budget.epsilon", "--task", taskFile({ ...TASK, budget: { epsilon: "1", days: 1 } }, "wrong-epsilon.json")],
      ["--windows", ...OCCURRENCE, ...goal, "--windows", "2"],
      ["sigma", "--statistic", "mean", "--devices", "1", "--epsilon", "1e-6", "--delta", "1e-6"],
      ["--local-epsilon", "--task", taskFile(TASK), ...goal],
      ["no such file", "--task", "nowhere.json"],
      ["--devices", "--task", taskFile(TASK), "--devices", "10"],
      ["--plot", ...OCCURRENCE, ...goal, "--plot", "nowhere/error.svg"],
      ["metrics[0].localEpsilonn", "--task", taskFile(misspelt, "misspelt.json")],
    ]) {
      const { status, stdout, stderr } = plan(...args);
      expect({ args, status, stdout }).toEqual({ args, status: 2, stdout: "" });
      expect(stderr).toMatch(/^error: .*\n$/);
      expect(stderr).toContain(field);
    }
    plan("--statistic", "occurrence", ...goal, "--plot", "never.svg");
    expect(existsSync(join(directory, "never.svg"))).toBe(false);
  });
});
