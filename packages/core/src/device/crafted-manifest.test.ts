import { describe, expect, it } from "vitest";
import { secret } from "../encryption/index.ts";
import { keyContextOf, layoutOf, type Task } from "../message/index.ts";
import { seededRandomnessForTests } from "../randomness/index.ts";
import { answerCostOf, isWithinBudget } from "./budget.ts";
import { deviceProtocolOf } from "./index.ts";

/*
 * A dishonest operator signs manifests that no service would accept. Devices check the signature, not every field: what
 * they check and how they charge must do.
 */

const TASK: Task = {
  version: 1,
  task: "crafted",
  tickSeconds: 60,
  ticks: 1,
  hides: 0,
  graceSeconds: 0,
  mode: "one-server",
  minimumDevices: 1,
  metrics: [],
};
const hash = new Uint8Array(32).fill(2);
const master = secret(new Uint8Array(32).fill(1));
const context = { task: "crafted", window: 7, device: new Uint8Array(16).fill(3), role: "tally" } as const;
const taskOf = (...metrics: object[]): Task => ({ ...TASK, metrics: metrics as never });
const isCheap = (...metrics: object[]): boolean => isWithinBudget(1, answerCostOf(taskOf(...metrics).metrics));

describe("an operator who signs what no service accepts", () => {
  it.each(["lattice", "elgamal"] as const)(
    "gets no answer without noise by a mechanism that is none: %s",
    async (scheme) => {
      const edges = [0, 1, 2];
      const task = taskOf({
        name: "a",
        scheme,
        statistic: "histogram",
        edges,
        localEpsilon: 0.01,
        eventsPerTick: 2,
        mechanism: "none",
      });
      const [{ device }] = (await deviceProtocolOf({ ...task, fromWindow: 0, servers: [] }, hash, { operatorKey: "" }))
        .layout as unknown as [{ device: ReturnType<typeof layoutOf>[number]["device"] }];
      // The key's owner reads what the report holds as bits of buckets.
      const [part] = layoutOf(taskOf({ ...task.metrics[0], mechanism: "per-bucket" })) as ReturnType<typeof layoutOf>;
      if (!part) throw new TypeError("no part");
      const key = part.server.issueKey(master, keyContextOf(part, context));
      let ones = 0;
      const reports = 40;
      for (let i = 0; i < reports; i++) {
        const random = seededRandomnessForTests(`crafted ${scheme} ${i}`);
        const recorder = device.start(key, random);
        recorder.record();
        const sealed = recorder.seal(recorder.write() as Uint8Array);
        ones += part.server.open(master, keyContextOf(part, context), sealed, random).answers[1] as number;
      }
      // Each with probability 0.501; that all or none of 40 are 1 happens once in 10¹¹.
      expect(ones).toBeGreaterThan(0);
      expect(ones).toBeLessThan(reports);
    },
  );

  it.each(["lattice", "elgamal"] as const)("does not shrink the noise of a mean by a minimum: %s", async (scheme) => {
    const mean = { name: "a", scheme, statistic: "mean", limit: 10, sigma: 1000, eventsPerTick: 1, minimum: 9.9999 };
    const manifest = { ...taskOf(mean), fromWindow: 0, servers: [] };
    await expect(deviceProtocolOf(manifest, hash, { operatorKey: "" })).rejects.toMatchObject({ code: "bad-task" });
  });

  it("pays for the noise that a device adds, whatever else the metric states", () => {
    const exact = { name: "a", statistic: "mean", limit: 1, sigma: 0.01 };
    expect(isCheap(exact)).toBe(false);
    expect(isCheap({ ...exact, localEpsilon: 1e-6 })).toBe(false);
    const numbers = { name: "a", statistic: "automaton", states: ["x", "y"], outputs: { x: 0, y: 1 }, sigma: 0.01 };
    expect(isCheap(numbers)).toBe(false);
    expect(isCheap({ ...numbers, localEpsilon: 1e-6 })).toBe(false);
    for (const statistic of ["occurrence", "histogram"]) {
      const counted = { name: "a", statistic, edges: [0, 1], noise: "servers", localEpsilon: 1e-6 };
      expect(isCheap({ ...counted, sigma: 0.01 })).toBe(false);
      expect(isCheap(counted)).toBe(false);
    }
    const told = { name: "a", statistic: "histogram", edges: [0, 1], localEpsilon: 5 };
    expect(isCheap({ ...told, sigma: 1e6 })).toBe(false);
  });

  it("earns nothing by metrics that cost less than nothing, or that no device runs", () => {
    const dear = { name: "a", statistic: "occurrence", localEpsilon: 20 };
    for (const localEpsilon of [-20, -1e9, -Infinity, Number.NaN, "x", null, undefined, [], {}]) {
      const idle = { name: "b", statistic: "occurrence", noise: "none", localEpsilon };
      expect(isCheap(dear, idle)).toBe(false);
      expect(isCheap(dear, { ...idle, sigma: localEpsilon })).toBe(false);
      expect(isCheap(dear, { name: "b", statistic: "histogram", localEpsilon })).toBe(false);
    }
  });
});
