import { describe, expect, it } from "vitest";
import { LetheError } from "../error.ts";
import { twoServerLayoutOf } from "../two-server/index.ts";
import { encodeManifest, encodeOperatorKey, type Manifest, parseManifest, parseTask, resolved } from "./index.ts";
import { twoServerStatisticsOf } from "./two-server-statistics.ts";

const TASK = {
  version: 1,
  task: "kiosks",
  tickSeconds: 60,
  ticks: 2,
  graceSeconds: 0,
  mode: "two-server",
  collusion: "one-server",
  minimumDevices: 5,
  metrics: [
    { name: "opened", statistic: "occurrence", localEpsilon: 1 },
    { name: "clicks", statistic: "histogram", edges: [0, 1, 2], localEpsilon: 1 },
    { name: "format", statistic: "choice", options: ["pdf", "png"], localEpsilon: 1 },
    { name: "checkout", statistic: "funnel", steps: ["cart", "paid"], localEpsilon: 1 },
  ],
} as const;
const parsed = (changes: object): ReturnType<typeof parseTask> => parseTask(JSON.stringify({ ...TASK, ...changes }));

function refusalOf(changes: object): string {
  try {
    parsed(changes);
  } catch (error) {
    if (error instanceof LetheError && error.code === "bad-task") return error.message;
    throw error;
  }
  throw new Error("was accepted");
}

describe("collusion in a task file", () => {
  it("is none unless it is one-server, and only tasks of two servers have it", () => {
    const plain = { metrics: TASK.metrics.slice(0, 2) };
    expect(parsed({}).collusion).toBe("one-server");
    expect(parsed({ ...plain, collusion: undefined }).collusion).toBe("none");
    expect(parsed({ ...plain, collusion: "none" })).toStrictEqual(parsed({ ...plain, collusion: undefined }));
    expect(parsed({ mode: "one-server", collusion: undefined })).not.toHaveProperty("collusion");
    expect(parsed({ mode: "one-server", collusion: "none" })).not.toHaveProperty("collusion");
    expect(refusalOf({ mode: "one-server" })).toBe("collusion one-server is for mode two-server, not one-server");
    expect(refusalOf({ collusion: "both" })).toBe('collusion is one of none, one-server, not "both"');
  });

  it("makes what devices run say so, and leaves alone what they run without it", () => {
    for (const { spec } of twoServerStatisticsOf(parsed({}))) {
      expect(spec).toMatchObject({ noise: "device", collusion: "one-server" });
    }
    const metrics = TASK.metrics.slice(0, 2);
    for (const { spec } of twoServerStatisticsOf(parsed({ metrics, collusion: "none" }))) {
      expect(spec).not.toHaveProperty("collusion");
    }
    expect(twoServerLayoutOf(parsed({})).map(({ metrics: names }) => names.join())).toEqual([
      "opened",
      "clicks",
      "format",
      "checkout",
    ]);
  });

  it("refuses noise of the servers, with the reason, and what has no answer in categories", () => {
    const counted = { name: "counted", statistic: "occurrence", noise: "servers", sigma: 4 };
    expect(refusalOf({ metrics: [TASK.metrics[0], counted] })).toMatch(
      /^metrics\[1\]\.noise is device where collusion is one-server: .*cannot be checked.*2\^200/,
    );
    expect(refusalOf({ metrics: [{ name: "mean", statistic: "mean", limit: 3, sigma: 1 }] })).toBe(
      "metrics[0].statistic is one of occurrence, histogram, choice, funnel where collusion is one-server, not mean",
    );
  });

  it("refuses another mechanism than K-ary response, and more states than a device rerandomizes at each write", () => {
    const histogram = (changes: object) => ({ metrics: [{ ...TASK.metrics[1], ...changes }] });
    expect(refusalOf(histogram({ mechanism: "unary" }))).toMatch(/^metrics\[0\] \(clicks\): mechanism is kary/);
    expect(refusalOf(histogram({ edges: [0, 1, 99] }))).toMatch(
      /^metrics\[0\] \(clicks\): edges takes 100 states, and a device keeps at most 64: lower the last of the edges/,
    );
  });
});

describe("a manifest from before there was collusion", () => {
  const { collusion: _, ...old } = parsed({ metrics: TASK.metrics.slice(0, 2), collusion: "none" });
  const servers = (["leader", "helper"] as const).map((role, i) => ({
    role,
    url: `https://${role}.example`,
    key: encodeOperatorKey(new Uint8Array(32).fill(i)),
  }));
  const manifest = { ...old, fromWindow: 3, servers } as Manifest;

  it("says nothing of it, is written as it was, and means none", () => {
    const text = encodeManifest(parseManifest(encodeManifest(manifest)));
    const read = parseManifest(text);
    expect(read).toStrictEqual(manifest);
    expect(text).not.toContain("collusion");
    expect(encodeManifest(read)).toBe(text);
    const { fromWindow, servers: __, ...task } = read;
    expect(resolved(task)).toStrictEqual({ ...old, collusion: "none" });
    expect(twoServerStatisticsOf(read)).toStrictEqual(twoServerStatisticsOf({ ...old, collusion: "none" }));
  });
});
