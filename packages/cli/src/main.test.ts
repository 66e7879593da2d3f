import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { lethe } from "../test/lethe.ts";

const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as {
  version: string;
};

describe("lethe", () => {
  it("--version prints the version", () => {
    expect(lethe("--version")).toEqual({ status: 0, stdout: `${version}\n`, stderr: "" });
  });

  it("bad input ends with one clear line and exit code 2", () => {
    const simulate = ["simulate", "--statistic", "histogram"];
    for (const [message, ...args] of [
      ["unknown command", "dmeo"],
      ["unknown option", "demo", "--fast"],
      ["too many arguments", "demo", "extra"],
      ["--statistic", "simulate"],
      ["--statistic", "simulate", "--statistic", "median"],
      ["edges", ...simulate, "--edges", "0,2,1"],
      ["edges", ...simulate, "--edges", "1,2"],
      ["--devices", ...simulate, "--devices", "0"],
      ["--devices", ...simulate, "--devices", "many"],
      ["--ticks", ...simulate, "--ticks", "1.5"],
      ["--rate", ...simulate, "--rate", "2"],
      ["--local-epsilon", ...simulate, "--local-epsilon", "0"],
      ["localEpsilon", ...simulate, "--local-epsilon", "50"],
      ["--limit", "simulate", "--statistic", "mean", "--limit", "0"],
      ["--sigma", "simulate", "--statistic", "mean", "--sigma", "-1"],
      ["--metrics", ...simulate, "--metrics", "3"],
      ["--sigma", ...simulate, "--sigma", "3"],
      ["--mechanism", "simulate", "--statistic", "occurrence", "--mechanism", "kary"],
      ["a list like", ...simulate, "--edges", "0,"],
      ["lower ticks, ", ...simulate, "--ticks", "3000"],
    ]) {
      const { status, stdout, stderr } = lethe(...args);
      expect({ args, status, stdout }).toEqual({ args, status: 2, stdout: "" });
      expect(stderr).toMatch(/^error: .*\n$/);
      expect(stderr).toContain(message);
    }
  });
});

describe("lethe simulate", () => {
  const KEYS = [
    "statistic",
    "scheme",
    "mechanism",
    "devices",
    "valid",
    "rejected",
    "truth",
    "estimate",
    "consistent",
    "standardError",
    "interval",
    "localEpsilon",
    "bytes",
    "microseconds",
  ];

  function simulate(...args: string[]) {
    const { status, stdout } = lethe("simulate", ...args, "--json");
    expect(status).toBe(0);
    return JSON.parse(stdout) as {
      [key: string]: unknown;
      valid: number;
      truth: number[];
      estimate: number[];
      consistent: number[];
      standardError: number[];
      interval: [number, number][];
      localEpsilon: number;
      bytes: Record<"state" | "report" | "publicKey", number>;
      microseconds: Record<string, number>;
    };
  }

  for (const [statistic, entries, ...args] of [
    ["occurrence", 3, "--metrics", "3", "--devices", "30"],
    ["histogram", 4, "--devices", "30"],
    ["histogram", 3, "--devices", "30", "--edges", "0,1,4", "--mechanism", "unary"],
    ["histogram", 3, "--devices", "30", "--edges", "0,1,4", "--mechanism", "per-bucket"],
    ["mean", 1, "--devices", "30", "--sigma", "1", "--limit", "5"],
    ["occurrence", 2, "--scheme", "elgamal", "--metrics", "2", "--devices", "6"],
    ["histogram", 4, "--scheme", "elgamal", "--devices", "6"],
    ["mean", 1, "--scheme", "elgamal", "--limit", "3", "--devices", "6"],
  ] as [string, number, ...string[]][]) {
    it(`${statistic} ${args.join(" ")}: every report opens, every figure within five standard errors`, () => {
      const result = simulate("--statistic", statistic, "--ticks", "6", "--rate", "0.2", "--seed", "1", ...args);
      expect(Object.keys(result)).toEqual(KEYS);
      expect(result.valid).toBe(result.devices);
      for (const figures of [result.truth, result.estimate, result.consistent, result.standardError, result.interval]) {
        expect(figures.length).toBe(entries);
      }
      for (const [i, truth] of result.truth.entries()) {
        expect(Math.abs((result.estimate[i] as number) - truth)).toBeLessThan(5 * (result.standardError[i] as number));
      }
      expect(Math.min(...result.consistent)).toBeGreaterThanOrEqual(0);
      if (statistic !== "mean") expect(result.localEpsilon).toBeLessThanOrEqual(1);
      for (const time of Object.values(result.microseconds)) expect(time).toBeGreaterThan(0);
    });
  }

  it("has no page hides and counts one event between two writes, unless told otherwise", () => {
    const args = ["--statistic", "histogram", "--devices", "2", "--ticks", "6"];
    const stateOf = (...more: string[]) => (simulate(...args, ...more).bytes as { state: number }).state;
    const least = stateOf();
    expect(stateOf("--hides", "0", "--events-per-tick", "1")).toBe(least);
    // Four buckets for 6 + 500 writes fill 4,096 slots, for 6 writes not even 1,024.
    const more = simulate(...args, "--hides", "500");
    expect(more).toMatchObject({ hides: 500, valid: 2 });
    expect((more.bytes as { state: number }).state).toBeGreaterThan(3 * least);
    expect(stateOf("--events-per-tick", "80")).toBeGreaterThan(least);
  });

  it("--seed makes a run reproducible, but for its times", () => {
    const run = (seed: string) => {
      const { microseconds, ...figures } = simulate(
        "--statistic",
        "occurrence",
        "--devices",
        "30",
        "--ticks",
        "3",
        "--seed",
        seed,
      );
      return figures;
    };
    expect(run("a")).toEqual(run("a"));
    expect(run("a")).not.toEqual(run("é"));
  });

  it("prints a table with progress on stderr, none of it on stdout", () => {
    const { stdout, stderr } = lethe("simulate", "--statistic", "histogram", "--devices", "20", "--ticks", "3");
    expect(stdout).toMatch(/^bucket +truth +estimate/);
    expect(stdout).toMatch(/\n2–4 +\d+ /);
    expect(stdout).toContain("20 of 20 reports valid");
    expect(stderr).toContain("100%");
  });
});
