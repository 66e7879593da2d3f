import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect, it } from "vitest";

const LETHE = fileURLToPath(new URL("../../bin/lethe.js", import.meta.url));
const root = mkdtempSync(join(tmpdir(), "lethe-audit-"));
afterAll(() => rmSync(root, { recursive: true }));

/** The number of devices, each with one file. */
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
  expect(told.stdout).toMatch(/distinguishable \(by .*p = \d.*in at most 1% of audits/);
  expect(told.stdout).toContain("one byte (the byte at offset 8 of the last file)");

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

it("ends with 2, not with 1, after an accident: nobody reads how far it is", async () => {
  const folders = ["one", "other"].map((name) => captured(name, 12, () => "the same"));
  const [happened, nothing] = folders as [string, string];
  const child = spawn(process.execPath, [LETHE, "audit", "--with", happened, "--without", nothing]);
  child.stderr.destroy();
  child.stdout.resume();
  const [code] = (await once(child, "exit")) as [number];
  expect(code).toBe(2);
});
