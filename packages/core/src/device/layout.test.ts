import { beforeAll, describe, expect, it } from "vitest";
import { secret } from "../encryption/index.ts";
import { decodeReport, encodePublicKeys, keyContextOf, layoutOf, parseTask, type Task } from "../message/index.ts";
import { seededRandomnessForTests } from "../randomness/index.ts";
import {
  type DeviceLayout,
  decodePublicKeys,
  deviceProtocolOf,
  encodeReport,
  type Manifest,
  publicKeysBytes,
  reportBytes,
} from "./index.ts";

/** Of one server. */
const layoutIn = async (task: Task): Promise<DeviceLayout> => {
  const manifest: Manifest = { ...task, fromWindow: 0, servers: [] };
  return (await deviceProtocolOf(manifest, hash, { operatorKey: "" })).layout;
};

const taskOf = (scheme: Task["scheme"], changes: object = {}): Task =>
  parseTask(
    JSON.stringify({
      version: 1,
      task: "editor-health",
      tickSeconds: 60,
      ticks: 2,
      hides: 2,
      graceSeconds: 0,
      mode: "one-server",
      scheme,
      minimumDevices: 1,
      metrics: [
        { name: "kary", statistic: "histogram", edges: [0, 1], localEpsilon: 20, eventsPerTick: 2, mechanism: "kary" },
        { name: "failed", statistic: "occurrence", localEpsilon: 1 },
        {
          name: "unary",
          statistic: "histogram",
          edges: [0, 1, 3],
          localEpsilon: 1,
          eventsPerTick: 1,
          mechanism: "unary",
        },
        {
          name: "each",
          statistic: "histogram",
          edges: [0, 1],
          localEpsilon: 1,
          eventsPerTick: 1,
          mechanism: "per-bucket",
        },
        { name: "tabs", statistic: "mean", limit: 2, sigma: 0.01, eventsPerTick: 3 },
        { name: "crashed", statistic: "occurrence", localEpsilon: 1 },
      ],
      ...changes,
    }),
  );

const master = secret(new Uint8Array(32).fill(1));
const hash = new Uint8Array(32).fill(2);
const context = { task: "editor-health", window: 7, device: new Uint8Array(16).fill(3), role: "tally" } as const;

describe.each(["lattice", "elgamal"] as const)("what a device lays out, %s", (scheme) => {
  const task = taskOf(scheme);
  const server = layoutOf(task);
  let device: DeviceLayout;
  beforeAll(async () => {
    device = await layoutIn(task);
  });

  it("has the parts, the order and the sizes of the server's layout", () => {
    const shape = (layout: typeof server | DeviceLayout) => layout.map(({ device }) => [device.events, device.bytes]);
    expect(shape(device)).toStrictEqual(shape(server));
    expect(publicKeysBytes(device)).toBe(publicKeysBytes(server));
    expect(reportBytes(device)).toBe(reportBytes(server));
  });

  it("makes, with the same coins, the states and reports that the server's layout makes, and these open there", () => {
    const issued = server.map((part) => part.server.issueKey(master, keyContextOf(part, context)));
    const keys = decodePublicKeys(device, encodePublicKeys(issued));
    const sealedBy = (layout: typeof server | DeviceLayout) =>
      layout.map((part, i) => {
        const recorder = part.device.start(keys[i] as Uint8Array, seededRandomnessForTests(`layout ${i}`));
        recorder.record();
        return recorder.seal(recorder.write() as Uint8Array);
      });
    const report = encodeReport(hash, sealedBy(device));
    expect(report).toStrictEqual(encodeReport(hash, sealedBy(server)));
    expect(report.length).toBe(reportBytes(device));

    const opened = decodeReport(server, hash, report).map((sealed, i) => {
      const part = server[i] as (typeof server)[number];
      return part.server.open(master, keyContextOf(part, context), sealed, seededRandomnessForTests(i));
    });
    expect(opened.every(({ valid }) => valid)).toBe(true);
    // ε = 20 and σ = 0.02: all but certain, and with these coins certain.
    expect(opened[1]?.answers).toStrictEqual([0, 1]);
    expect(opened[4]?.answers).toStrictEqual([1]);
  });
});

it("a task that asks for more than a ciphertext holds is refused as a bad task", async () => {
  const histogram = { name: "clicks", statistic: "histogram", edges: [0, 1], localEpsilon: 1, eventsPerTick: 1 };
  const ok = taskOf("lattice");
  const tooMuch = { ...ok, ticks: 5000, metrics: [histogram] } as unknown as Task;
  await expect(layoutIn(tooMuch)).rejects.toMatchObject({
    code: "bad-task",
    message: expect.stringMatching(/^a histogram of 2 buckets over 5000 ticks/),
  });
});

it("a statistic that this version of the SDK does not have is refused as a bad task", async () => {
  for (const statistic of ["median", "toString"]) {
    for (const scheme of ["lattice", "elgamal"] as const) {
      const unknown = { ...taskOf(scheme), metrics: [{ name: "clicks", statistic }] } as unknown as Task;
      await expect(layoutIn(unknown)).rejects.toMatchObject({
        code: "bad-task",
        message: `this version of the SDK cannot run ${statistic} on ${scheme}`,
      });
    }
  }
});

describe("an automaton that an operator signed and no service would accept is refused, at once", () => {
  const many = Array.from({ length: 200_000 }, (_, i) => `s${i}`);
  const broken: readonly object[] = [
    { statistic: "funnel" },
    { statistic: "funnel", steps: many },
    { statistic: "choice", options: many },
    { statistic: "active-periods", periodTicks: 0, edges: [0, 1] },
    { statistic: "active-periods", periodTicks: 1, edges: many.map((_, i) => i) },
    { statistic: "retention", periods: 1e9 },
    { statistic: "joint", of: [{ statistic: "constructor" }, { statistic: "__proto__" }] },
    { statistic: "joint", of: [{ statistic: "joint" }] },
    { statistic: "automaton", states: many, start: "s0", transitions: {}, outputs: {} },
    { statistic: "automaton", states: ["a"], start: "a", transitions: null, outputs: {} },
    { statistic: "automaton", states: ["a"], start: "a", transitions: { a: { e: "toString" } }, outputs: { a: "x" } },
  ];
  it.each(broken.map((metric) => [JSON.stringify(metric).slice(0, 90), metric] as const))("%s", async (_, metric) => {
    const metrics = [{ name: "m", localEpsilon: 1, ...metric }] as unknown as Task["metrics"];
    await expect(layoutIn({ ...taskOf("elgamal"), metrics })).rejects.toMatchObject({ code: "bad-task" });
  });
});
