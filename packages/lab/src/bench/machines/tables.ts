import { type DeviceCost, STEPS, type StepCost } from "./cost.ts";
import type { Growth } from "./growth.ts";
import { type Needs, needsOf, totalOf } from "./needs.ts";
import type { Soak } from "./soak.ts";

/** The numbers of devices per day that the page speaks of. */
const DEVICES_PER_DAY = [1e6, 1e8, 1e9];

/** A table in Markdown. */
function tableOf(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  return [line(head), `|${head.map((_, i) => (i === 0 ? "---" : "---:")).join("|")}|`, ...rows.map(line)].join("\n");
}

const whole = (value: number): string => Math.round(value).toLocaleString("en-US");

/**
 * The rate that each added machine brings, as a part of the rate of the first: 1 if machines do not hinder each other.
 */
export function perAddedMachine(rows: readonly Growth[], row: Growth, of: (row: Growth) => number): number | undefined {
  const same = rows.filter(({ databases }) => databases === row.databases).toSorted((a, b) => a.machines - b.machines);
  const [first] = same;
  const before = same[same.indexOf(row) - 1];
  if (!first || !before) return undefined;
  return (of(row) - of(before)) / (row.machines - before.machines) / (of(first) / first.machines);
}

/** One line per number of machines: rates, and behind each what an added machine brings. */
export function growthTable(rows: readonly Growth[]): string {
  const rates = ["enrolments", "uploads", "counted"] as const;
  const head = [
    "databases × machines",
    ...["enrolments/s", "uploads/s", "counted/s"].flatMap((name) => [name, "per added machine"]),
    "uploads at random, 70%: p50, p99",
    "row lock waits",
  ];
  return tableOf(
    head,
    rows.map((row) => [
      `${row.databases} × ${row.machines}`,
      ...rates.flatMap((rate) => [
        whole(row[rate]),
        perAddedMachine(rows, row, (each) => each[rate])?.toFixed(2) ?? "",
      ]),
      `${whole(row.open.p50)} ms, ${whole(row.open.p99)} ms`,
      `${whole(row.waits.rowLocks)} of ${whole(row.waits.statements)}`,
    ]),
  );
}

const COST_ROWS: readonly (readonly [name: string, of: keyof StepCost])[] = [
  ["processor time of intake, µs", "intake"],
  ["processor time of tally, µs", "tally"],
  ["processor time of PostgreSQL, µs", "postgres"],
  ["bytes from the device", "sent"],
  ["bytes to the device", "received"],
  ["bytes stored, indexes included", "stored"],
  ["bytes of write-ahead log", "wal"],
];

/** One line per resource, with the four steps of a device's window and their sum. */
export function costTable(cost: DeviceCost): string {
  return tableOf(
    ["per device and window", "enrol", "upload", "count", "release, erase", "all"],
    COST_ROWS.map(([name, of]) => [
      name,
      ...STEPS.map((step) => (of === "stored" && step === "erase" ? "erased" : whole(cost[step][of]))),
      whole(of === "stored" ? totalOf(cost, of) - cost.erase.stored : totalOf(cost, of)),
    ]),
  );
}

const NEED_ROWS: readonly (readonly [name: string, of: (needs: Needs) => string])[] = [
  ["devices per second at the peak", ({ peakPerSecond }) => whole(peakPerSecond)],
  ["busy cores at the peak: intake", ({ cores }) => cores.intake.toFixed(1)],
  ["busy cores at the peak: tally", ({ cores }) => cores.tally.toFixed(1)],
  ["busy cores at the peak: PostgreSQL", ({ cores }) => cores.postgres.toFixed(1)],
  ["machines for intake and tally", ({ machines }) => whole(machines)],
  ["databases", ({ databases }) => whole(databases)],
  ["disk of all databases, GB", ({ disk }) => whole(disk / 1e9)],
  ["write-ahead log at the peak, MB/s", ({ walPerSecond }) => (walPerSecond / 1e6).toFixed(1)],
  ["network at the peak, Mbit/s", ({ network }) => whole(network / 1e6)],
];

/** One line per resource, with a column for each number of devices per day. */
export function needsTable(cost: DeviceCost): string {
  const needs = DEVICES_PER_DAY.map((devices) => needsOf(cost, devices));
  return tableOf(
    ["devices per day", ...needs.map(({ devicesPerDay }) => devicesPerDay.toLocaleString("en-US"))],
    NEED_ROWS.map(([name, of]) => [name, ...needs.map(of)]),
  );
}

/** One line per process: its memory at the beginning, once it is warm, and at the end. */
export function soakTable({
  capacity,
  perSecond,
  acknowledged,
  released,
  windows,
  p50,
  worstP99,
  memory,
}: Soak): string {
  const about = `${whole(perSecond)} devices per second, of ${whole(capacity)} possible; ${whole(acknowledged)} reports
acknowledged, ${whole(released)} in ${windows} releases; uploads: p50 ${whole(p50)} ms, worst p99 of 20 s ${whole(worstP99)} ms`;
  const rows = Object.entries(memory).map(([name, { first, last, heap, perHour, grows }]) => [
    name,
    ...[first, last, heap].map((megabytes) => megabytes.toFixed(0)),
    perHour.toFixed(1),
    grows ? "yes" : "no",
  ]);
  const head = ["process", "resident memory at first, MB", "at last, MB", "heap at last, MB", "MB per hour", "grows"];
  return `${about}\n\n${tableOf(head, rows)}`;
}
