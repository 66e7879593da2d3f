import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

it("npm run bench -- --json gives names, values and units, and the promised ratios hold", () => {
  const main = fileURLToPath(new URL("../../dist/bench/main.js", import.meta.url));
  const { status, stdout } = spawnSync(process.execPath, [main, "--json", "--short"], { encoding: "utf8" });
  expect(status).toBe(0);
  const rows = JSON.parse(stdout) as { name: string; value: number; unit: string }[];
  for (const row of rows) {
    expect(Object.keys(row)).toEqual(["name", "value", "unit"]);
    expect(row.value).toBeGreaterThan(0);
  }
  const value = (name: string): number => rows.find((row) => row.name === name)?.value ?? Number.NaN;
  expect(value("lattice L1 1024: add one encryption / noble base multiplication")).toBeLessThanOrEqual(0.35);
  expect(
    value("lattice L1 1024: open a report, key derivation included / noble base multiplication"),
  ).toBeLessThanOrEqual(0.5);
  expect(value("lattice L1 1024: state")).toBe(6400);
  expect(value("lattice L1 1024: report, t = 16")).toBeLessThanOrEqual(2500);
  // A write of 1,000 counters is two encryptions and an encoding; the same in ElGamal is thousands of times dearer.
  expect(value("lattice 1,000 counters: write (two encryptions) / noble base multiplication")).toBeLessThanOrEqual(1);
  expect(value("elgamal 1,000 counters: write (two encryptions) / noble base multiplication")).toBeGreaterThan(1000);
  const automaton = "elgamal automaton of 16 states, kary";
  expect(value(`${automaton}: write (two encryptions) / noble base multiplication`)).toBeLessThanOrEqual(65);
  // One slot is emptied.
  expect(value(`${automaton}: record / noble base multiplication`)).toBeLessThanOrEqual(1.6);
  expect(value(`${automaton}: report`)).toBe(64);
  // More than 0.5 in a whole run with the machine to itself; here other tests run beside a few uploads.
  expect(value("service: uploads accepted / the slower bare part")).toBeGreaterThan(0.1);
  expect(value("service: uploads accepted / bare inserts through HTTP")).toBeGreaterThan(0.1);
  expect(value("service: reports opened / bare opening")).toBeGreaterThan(0.1);
  expect(value("service: enrolments, keys made by one thread")).toBeGreaterThan(10);
  for (const n of [1, 2, 3]) {
    expect(value(`PostgreSQL, ${n} × intake, ${n} × tally with 2 threads: enrolments`)).toBeGreaterThan(10);
    expect(value(`PostgreSQL, ${n} × intake: uploads / bare inserts through HTTP`)).toBeGreaterThan(0.1);
    expect(value(`PostgreSQL, ${n} × tally / 1 × tally`)).toBeGreaterThan(0.1);
  }
});
