import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import type { DeviceCost, StepCost } from "./cost.ts";
import { type Growth, quantile, rateBetween } from "./growth.ts";
import { trendOf } from "./memory.ts";
import { ASSUMPTIONS, needsOf } from "./needs.ts";
import { withFigures } from "./page.ts";
import { findHierarchy } from "./quota.ts";
import { faultsOf } from "./soak.ts";
import { growthTable, perAddedMachine } from "./tables.ts";

const page = readFileSync(fileURLToPath(new URL("../../../../../docs/scale.md", import.meta.url)), "utf8");

const NOTHING: StepCost = { intake: 0, tally: 0, postgres: 0, sent: 0, received: 0, stored: 0, wal: 0 };
const COST: DeviceCost = {
  enrol: { ...NOTHING, intake: 200, tally: 300, postgres: 60, sent: 100, received: 4000, stored: 300, wal: 3000 },
  upload: { ...NOTHING, intake: 300, postgres: 40, sent: 3300, received: 200, stored: 3700, wal: 3500 },
  count: { ...NOTHING, tally: 700, postgres: 100, wal: 300 },
  erase: { ...NOTHING, tally: 1, postgres: 30, stored: -4000, wal: 800 },
};

const growth = (machines: number, uploads: number, databases = 1): Growth => ({
  ...{ databases, machines, uploads, enrolments: 100, counted: 100 },
  open: { perSecond: 1, p50: 2, p99: 3 },
  waits: { statements: 10, rowLocks: 0 },
});

it("an added machine counts 1 if it brings as much as the first, whatever the numbers of machines are", () => {
  const rows = [growth(8, 700), growth(1, 100), growth(2, 200), growth(1, 90, 2), growth(4, 380, 2)];
  const added = rows.map((row) => perAddedMachine(rows, row, ({ uploads }) => uploads)?.toFixed(3));
  // (700 − 200) / 6 / 100, none before the first, (200 − 100) / 100, none, (380 − 90) / 3 / 90
  expect(added).toEqual(["0.833", undefined, "1.000", undefined, "1.074"]);
  expect(growthTable(rows)).toContain("| 1 × 8 | 100 | 0.00 | 700 | 0.83 |");
});

it("ten times the devices need ten times the cores, disk and network", () => {
  const [small, large] = [needsOf(COST, 1e8), needsOf(COST, 1e9)];
  expect(large.peakPerSecond).toBeCloseTo((ASSUMPTIONS.peak * 1e9) / 86_400, 6);
  for (const of of ["disk", "walPerSecond", "network", "peakPerSecond"] as const) {
    expect(large[of] / small[of]).toBeCloseTo(10, 9);
  }
  expect(large.cores.intake).toBeCloseTo((large.peakPerSecond * 500) / 1e6, 9);
  expect(large.cores.tally / small.cores.tally).toBeCloseTo(10, 9);
  // 4,000 bytes, two windows, twice: 16 TB, in databases of 4 TB.
  expect(large.disk).toBe(16e12);
  expect(large.databases).toBe(4);
  expect(needsOf(COST, 1000)).toMatchObject({ machines: 2, databases: 1 });
});

it("each of log, disk and processors can be what takes another database", () => {
  const withMore = (more: Partial<StepCost>): number =>
    needsOf({ ...COST, upload: { ...COST.upload, ...more } }, 1e9).databases;
  expect(withMore({ wal: 80_000 })).toBe(10);
  expect(withMore({ stored: 40_000 })).toBeGreaterThan(40);
  expect(withMore({ postgres: 5000 })).toBe(16);
});

it("rates leave out the beginning and the end of counting", () => {
  const samples = [0, 0, 10, 30, 50, 70, 90, 95, 97, 100].map((counted, i) => ({ at: 1000 * i, counted }));
  expect(rateBetween(samples, 10, 90)).toBe(20);
  const atOnce = [0, 0, 100].map((counted, i) => ({ at: 1000 * i, counted }));
  expect(rateBetween(atOnce, 10, 90)).toBe(100);
  expect(() => rateBetween([{ at: 0, counted: 100 }], 10, 90)).toThrow("use more --devices");
});

it("a quantile is a value that occurred", () => {
  const values = Array.from({ length: 100 }, (_, i) => 100 - i);
  expect([quantile(values, 0.5), quantile(values, 0.99), quantile([7], 0.99)]).toEqual([50, 99, 7]);
});

it("cgroups are found where they are mounted, of either version", () => {
  const first = "tmpfs /sys/fs/cgroup tmpfs rw 0 0\ncgroup /sys/fs/cgroup/cpu,cpuacct cgroup rw,cpu,cpuacct 0 0\n";
  const second = "cgroup2 /sys/fs/cgroup cgroup2 rw,nosuid 0 0\n";
  const folder = "/sys/fs/cgroup/cpu,cpuacct/user";
  expect(findHierarchy(first + second, "4:cpu,cpuacct:/user\n0::/x\n")).toEqual({ version: 1, folder });
  expect(findHierarchy(second, "0::/user.slice/a.scope\n")).toEqual({
    ...{ version: 2, folder: "/sys/fs/cgroup/user.slice/a.scope" },
  });
  expect(findHierarchy("proc /proc proc rw 0 0\n", "")).toBeUndefined();
});

it("docs/scale.md states what the model assumes", () => {
  const stated = (name: string): number =>
    Number(new RegExp(`^\\| ${name} \\| ([0-9.]+)`, "m").exec(page)?.[1] ?? Number.NaN);
  expect({
    peak: stated("busiest ten minutes / mean"),
    utilization: stated("processors in use at the peak") / 100,
    coresPerMachine: stated("cores of a machine, and of a database"),
    coresPerDatabase: stated("cores of a machine, and of a database"),
    walPerSecond: 1e6 * stated("write-ahead log that a database takes"),
    diskPerDatabase: 1e12 * stated("data in a database"),
    windowsStored: stated("windows that are stored at once"),
    diskFactor: stated("disk / data"),
  }).toEqual(ASSUMPTIONS);
});

it("figures replace those between the marks of the page, and docs/scale.md has the marks", () => {
  const renewed = withFigures(page, "| figures |");
  expect(renewed).toContain("\n| figures |\n");
  expect(withFigures(renewed, "| figures |")).toBe(renewed);
  expect(withFigures(renewed, page)).toContain(page);
  expect(() => withFigures("# A page", "")).toThrow("no place for figures");
});

describe("the memory of a process", () => {
  /** Six hours, a sample per minute: a saw as garbage collection makes it, and what grows beside it. */
  const samplesWith = (perHour: number) =>
    Array.from({ length: 360 }, (_, minute) => ({
      seconds: 60 * minute,
      resident: 150 + 10 * ((minute * 0.37) % 1) + (perHour * minute) / 60,
      heap: 40,
    }));

  it("that goes up and down does not grow", () => {
    expect(trendOf(samplesWith(0))).toMatchObject({ grows: false, heap: 40 });
  });

  it("that gains megabytes every hour grows, in the amount that it gains", () => {
    const { grows, perHour, first, last } = trendOf(samplesWith(5));
    expect(grows).toBe(true);
    expect(perHour).toBeCloseTo(5, 0);
    // Between the middles of the first and the last quarter of four hours.
    expect(last - first).toBeGreaterThan(13);
  });

  it("is not judged from a few samples", () => {
    expect(() => trendOf(samplesWith(0).slice(0, 6))).toThrow("too few samples");
  });

  it("that grows, and reports that are in no release, are faults", () => {
    const memory = { "intake 1": trendOf(samplesWith(5)), "tally 1": trendOf(samplesWith(0)) };
    const figures = { capacity: 100, perSecond: 70, acknowledged: 10, windows: 1, p50: 1, worstP99: 2, memory };
    expect(faultsOf({ ...figures, released: 10 })).toEqual([
      expect.stringMatching(/^intake 1 grew from 16\d MB to 1\d\d MB$/),
    ]);
    expect(faultsOf({ ...figures, memory: {}, released: 9 })).toEqual([
      "10 reports were acknowledged, 9 are in releases",
    ]);
  });
});
