import { describe, expect, it } from "vitest";
import { lethe } from "../../test/lethe.ts";

interface Figures {
  readonly [key: string]: unknown;
  readonly devices: number;
  readonly valid: number;
  readonly truth: readonly number[];
  readonly estimate: readonly number[];
  readonly standardError: readonly number[];
  readonly bytes: { readonly state: number; readonly report: number };
}

function answer<T>(...args: string[]): T {
  const { status, stdout } = lethe(...args, "--json");
  expect(status).toBe(0);
  return JSON.parse(stdout) as T;
}

function refusal(...args: string[]): string {
  const { status, stdout, stderr } = lethe(...args);
  expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
  expect(stderr.trim().split("\n").length).toBe(1);
  return stderr;
}

const TWO = ["--mode", "two-server"];

describe("lethe simulate --mode two-server", () => {
  const small = ["simulate", ...TWO, "--devices", "5", "--ticks", "3", "--rate", "0.3", "--seed", "1", "--statistic"];

  it.each([
    ["occurrence", ["--metrics", "2"], { noise: "device", mechanism: "randomized-response" }, 2],
    ["occurrence", ["--noise", "servers"], { noise: "servers", mechanism: "discrete-gaussian" }, 1],
    ["histogram", [], { noise: "device", mechanism: "kary" }, 4],
    ["histogram", ["--edges", "0,1,3", "--mechanism", "per-bucket"], { noise: "device", mechanism: "per-bucket" }, 3],
    ["histogram", ["--edges", "0,2", "--mechanism", "unary"], { noise: "device", mechanism: "unary" }, 2],
    ["histogram", ["--edges", "0,1,3", "--noise", "servers", "--sigma", "1"], { noise: "servers" }, 3],
    ["mean", ["--limit", "3", "--sigma", "0.5"], { noise: "servers", mechanism: "discrete-gaussian" }, 1],
  ] as const)(
    "%s %j: every report is valid at both servers, every figure within five standard errors",
    (statistic, args, expected, answers) => {
      const result = answer<Figures>(...small, statistic, ...args);
      expect(result).toMatchObject({
        statistic,
        mode: "two-server",
        scheme: "elgamal",
        valid: 5,
        rejected: 0,
        ...expected,
      });
      expect(result.truth.length).toBe(answers);
      for (const [i, truth] of result.truth.entries()) {
        expect(Math.abs((result.estimate[i] as number) - truth)).toBeLessThan(5 * (result.standardError[i] as number));
      }
      expect(result.bytes.state).toBeGreaterThan(100);
    },
  );

  it("has the fields that one server's has, and says which noise it is", () => {
    const rest = ["--devices", "2", "--ticks", "2", "--statistic", "occurrence"];
    const one = answer<Figures>("simulate", ...rest);
    const two = answer<Figures>("simulate", ...TWO, ...rest);
    expect(new Set(Object.keys(two))).toEqual(new Set([...Object.keys(one), "mode", "noise"]));
    // Version, kind and manifest hash are 34 bytes of every report.
    expect([one.bytes.report, two.bytes.report]).toEqual([1808 + 34, 272 + 34]);
    expect(lethe("simulate", ...TWO, ...rest, "--noise", "servers").stdout).toContain(
      "two servers, noise of the servers",
    );
  });

  it("--seed makes a run reproducible, but for its times", () => {
    const run = () => ({ ...answer<Figures>(...small, "occurrence", "--devices", "4"), microseconds: 0 });
    expect(run()).toEqual(run());
  });

  it("refuses what does not go together, in one line", () => {
    expect(refusal("simulate", "--statistic", "mean", ...TWO, "--noise", "device")).toContain("the servers'");
    expect(refusal("simulate", "--statistic", "mean", "--noise", "servers")).toContain("two-server only");
    expect(refusal(...small, "histogram", "--noise", "servers", "--mechanism", "kary")).toContain("--mechanism");
    expect(refusal(...small, "occurrence", "--sigma", "1")).toContain("--sigma");
    expect(refusal(...small, "occurrence", "--scheme", "lattice")).toContain("--scheme");
  });
});

describe("lethe plan --mode two-server", () => {
  const plan = ["plan", ...TWO, "--devices", "10000", "--statistic"];
  const release = ["--epsilon", "1", "--delta", "1e-6"];

  it("with noise of the devices promises what one server's does, at the size of shared bits", () => {
    const one = answer<Record<string, number>>("plan", "--devices", "10000", "--statistic", "occurrence", ...release);
    const two = answer<Record<string, number>>(...plan, "occurrence", ...release);
    const { parameters: _one, ...expected } = one;
    const { parameters, ...found } = two;
    expect(found).toEqual({ ...expected, mode: "two-server", noise: "device" });
    expect(parameters).toMatchObject({ scheme: "elgamal", stateBytes: 138, reportBytes: 306, publicKeyBytes: 96 });
  });

  it("a histogram may name any mechanism for any edges, with the errors of one server", () => {
    const local = ["--local-epsilon", "1", "--mechanism", "unary", "--edges", "0,1,2,5"];
    const one = answer<Record<string, number>>("plan", "--devices", "10000", "--statistic", "histogram", ...local);
    const two = answer<Record<string, number>>(...plan, "histogram", ...local);
    expect(two.mechanism).toBe("unary");
    for (const field of ["standardError", "largestStandardError", "localEpsilon", "epsilon"]) {
      expect(two[field], field).toBe(one[field]);
    }
    // 12 shared bits behind 10 bytes; an id of 16 bytes, halves of 4 bits of 96 and 64 bytes, each wrapped in 48, and 34 bytes of header.
    expect(two.parameters).toMatchObject({ stateBytes: 1546, reportBytes: 786 });
  });

  it("with noise of the servers does not depend on the number of devices", () => {
    const few = answer<Record<string, number>>(...plan, "occurrence", "--noise", "servers", ...release);
    expect(few).toMatchObject({ epsilon: 1, localEpsilon: 1, mechanism: "discrete-gaussian", noise: "servers" });
    const many = [...plan, "occurrence", "--noise", "servers", ...release, "--devices", "1000000"];
    expect(answer<Record<string, number>>(...many).standardError).toBe(few.standardError);
    // Both servers add theirs.
    expect(few.standardError).toBeCloseTo(Math.SQRT2 * (few.sigma as number), 6);
    expect(answer(...plan, "mean", "--local-epsilon", "1")).toMatchObject({ noise: "servers", localEpsilon: 1 });
  });

  it("says in words who learns what", () => {
    expect(lethe(...plan, "histogram", ...release).stdout).toContain("both servers together learn");
    expect(lethe(...plan, "histogram", "--noise", "servers", ...release).stdout).toContain("if one server is honest");
  });

  it("refuses what does not go together, in one line", () => {
    expect(refusal(...plan, "mean", "--noise", "device", ...release)).toContain("the servers'");
    expect(refusal("plan", "--devices", "10", "--statistic", "mean", "--noise", "servers", ...release)).toContain(
      "two-server",
    );
  });
});
