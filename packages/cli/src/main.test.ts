import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const bin = fileURLToPath(new URL("../bin/lethe.js", import.meta.url));
const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as {
  version: string;
};

function lethe(...args: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [bin, ...args], { encoding: "utf8" });
  return { status, stdout, stderr };
}

describe("lethe", () => {
  it("--version prints the version", () => {
    expect(lethe("--version")).toEqual({ status: 0, stdout: `${version}\n`, stderr: "" });
  });

  it("demo --once shows what was opened, sizes and times", () => {
    const { status, stdout } = lethe("demo", "--once");
    expect(status).toBe(0);
    expect(stdout).toMatch(/export\.failed +0 +0\n/);
    expect(stdout).toContain("6400-byte state 288 times");
  });

  it("demo --json prints nothing but JSON on stdout, and opens what was counted", () => {
    const { status, stdout } = lethe("demo", "--once", "--json");
    const result = JSON.parse(stdout) as { counters: { truth: number; opened: number }[]; bytes: object };
    expect(status).toBe(0);
    expect(result.counters.length).toBeGreaterThan(0);
    for (const { truth, opened } of result.counters) expect(opened).toBe(truth);
    expect(result.bytes).toEqual({ state: 6400, report: 2176, publicKey: 3232 });
  });

  it("bad input ends with one clear line and exit code 2", () => {
    for (const args of [["dmeo"], ["demo", "--fast"], ["demo", "extra"]]) {
      const { status, stdout, stderr } = lethe(...args);
      expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
      expect(stderr).toMatch(/^error: .*\n$/);
    }
  });
});
