import { spawn, spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { expect, it, onTestFinished } from "vitest";
import type { DeviceCost } from "./cost.ts";
import type { Growth } from "./growth.ts";
import { createQuotas, findHierarchy } from "./quota.ts";

const MAIN = fileURLToPath(new URL("../../../dist/bench/machines/main.js", import.meta.url));

/** Clock ticks of processor time, of which a second has 100. */
function ticksOf(pid: number | undefined): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "latin1")
    .replace(/^.*\) /s, "")
    .split(" ")
    .map(Number);
  return (fields[11] as number) + (fields[12] as number);
}

it("a group of processes gets its quota of a core and no more, or it is said that there are no quotas", async () => {
  const quotas = createQuotas(0.2);
  if (!quotas.isLimited) {
    expect(quotas.about).toMatch(/^no quota: /);
    return;
  }
  expect(quotas.about).toMatch(/^20% of a core per machine \(cgroups v[12]\)$/);
  const group = quotas.create();
  const busy = [0, 1].map(() => spawn(process.execPath, ["-e", "for (;;);"]));
  onTestFinished(async () => {
    await Promise.all(busy.map((child) => new Promise((resolve) => child.once("exit", resolve) && child.kill())));
    group.remove();
  });
  for (const { pid } of busy) group.add(pid as number);
  const before = busy.map(({ pid }) => ticksOf(pid));
  const start = performance.now();
  await sleep(3000);
  const used = busy.reduce((sum, { pid }, i) => sum + ticksOf(pid) - (before[i] as number), 0) / 100;
  expect(used / ((performance.now() - start) / 1000)).toBeLessThan(0.3);
});

it("npm run bench:cluster -- --json has rates, latencies, waits and costs, and leaves nothing behind", () => {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [MAIN, "--json", "--machines", "1,2", "--devices", "400", "--quota", "10"],
    { encoding: "utf8" },
  );
  expect({ status, stderr: status === 0 ? "" : stderr }).toEqual({ status: 0, stderr: "" });
  const { growth, cost, quota } = JSON.parse(stdout) as { growth: Growth[]; cost: DeviceCost; quota: string };
  expect(quota).toMatch(/^(10% of a core|no quota)/);
  expect(growth.map(({ machines, databases }) => [databases, machines])).toEqual([
    [1, 1],
    [1, 2],
  ]);
  for (const { enrolments, uploads, counted, open, waits } of growth) {
    for (const rate of [enrolments, uploads, counted, open.perSecond]) expect(rate).toBeGreaterThan(1);
    expect(open.p99).toBeGreaterThanOrEqual(open.p50);
    expect(open.p50).toBeGreaterThan(0);
    expect(waits.statements).toBeGreaterThan(0);
    expect(waits.rowLocks).toBeLessThanOrEqual(waits.statements);
  }
  // A report of 1,000 counters has 2,964 bytes, and is stored and logged once.
  expect(cost.upload.sent).toBeGreaterThan(2964);
  expect(cost.upload.sent).toBeLessThan(4000);
  expect(cost.upload.wal).toBeGreaterThan(2964);
  expect(cost.count.tally).toBeGreaterThan(0);
  const { folder = "" } =
    findHierarchy(readFileSync("/proc/self/mounts", "utf8"), readFileSync("/proc/self/cgroup", "utf8")) ?? {};
  const left = existsSync(folder) ? readdirSync(folder).filter((name) => name.startsWith("lethe-bench-")) : [];
  expect(left).toEqual([]);
});

it("a wrong option ends with code 2 and one line", () => {
  const { status, stderr } = spawnSync(process.execPath, [MAIN, "--machines", "1,x"], { encoding: "utf8" });
  expect({ status, stderr }).toEqual({
    status: 2,
    stderr: "--machines takes whole numbers from 1, separated by commas, got 1,x\n",
  });
});
