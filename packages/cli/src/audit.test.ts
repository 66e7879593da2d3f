import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect, it } from "vitest";

const LETHE = fileURLToPath(new URL("../bin/lethe.js", import.meta.url));
const root = mkdtempSync(join(tmpdir(), "lethe-audit-"));
afterAll(() => rmSync(root, { recursive: true }));

/** So many devices, each with one file. */
function captured(name: string, count: number, text: (i: number) => string): string {
  const folder = join(root, name);
  mkdirSync(folder);
  for (let i = 0; i < count; i++) writeFileSync(join(folder, String(i)), text(i));
  return folder;
}

function audit(...args: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [LETHE, "audit", ...args], { encoding: "utf8" });
  return { status, stdout, stderr };
}

it("ends with 1 and what tells, with 0 and what would have been found, or with 2 and what is missing", () => {
  const quiet = captured("without", 12, () => "events: 0");
  const told = audit(
    "--with",
    captured("with", 12, () => "events: 17"),
    "--without",
    quiet,
  );
  expect(told).toMatchObject({ status: 1 });
  expect(told.stdout).toMatch(/distinguishable \(by .*p = \d/);

  const same = audit(
    "--with",
    captured("also-without", 12, () => "events: 0"),
    "--without",
    quiet,
    "--json",
  );
  expect(same.status).toBe(0);
  expect(JSON.parse(same.stdout)).toMatchObject({
    verdict: "nothing found",
    devices: { with: 12, without: 12 },
    power: 0.99,
  });

  const few = audit(
    "--with",
    captured("few", 2, () => ""),
    "--without",
    quiet,
  );
  expect(few).toMatchObject({ status: 2, stdout: "" });
  expect(few.stderr).toMatch(/^error: .*few has 2 devices, and fewer than 8 on each side prove nothing\n$/);
});
