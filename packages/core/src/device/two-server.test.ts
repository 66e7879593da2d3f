import { beforeAll, describe, expect, it } from "vitest";
import { deviceNumber, issueKeys, ROLES, random, startServers } from "../../test/two-server.ts";
import { join } from "../bytes.ts";
import { secret } from "../encryption/index.ts";
import type { Metric } from "../message/index.ts";
import {
  decodeTwoServerReport,
  deriveWrappingKeys,
  encodeShareKeys,
  twoServerLayoutOf,
  twoServerReportBytes,
} from "../two-server/index.ts";
import { type DeviceProtocol, deviceProtocolOf, type Manifest } from "./index.ts";

const METRICS: readonly Metric[] = [
  { name: "average", statistic: "mean", limit: 2, sigma: 0.01, eventsPerTick: 3 },
  { name: "counted", statistic: "occurrence", noise: "servers", sigma: 0.05 },
  { name: "times", statistic: "histogram", edges: [0, 1, 3], localEpsilon: 20, eventsPerTick: 2 },
  { name: "happened", statistic: "occurrence", localEpsilon: 20 },
];
const MANIFEST: Manifest = {
  version: 1,
  task: "two-servers",
  tickSeconds: 60,
  ticks: 2,
  graceSeconds: 0,
  mode: "two-server",
  scheme: "elgamal",
  minimumDevices: 1,
  metrics: METRICS,
  fromWindow: 0,
  servers: [
    { role: "leader", url: "https://leader.example", key: "ed25519:leader" },
    { role: "helper", url: "https://helper.example", key: "ed25519:helper" },
  ],
};
const KEYS = { operatorKey: "ed25519:leader", helperKey: "ed25519:helper" };
const hash = new Uint8Array(32).fill(2);
const device = deviceNumber(7);

/** As a device gets them from both servers. */
async function publicKeysIn(window: number): Promise<Uint8Array> {
  const at = { task: MANIFEST.task, window };
  const shareKeys = issueKeys(device, at);
  const [leader, helper] = await Promise.all(
    ROLES.map((role, i) => deriveWrappingKeys(secret(new Uint8Array(32).fill(i + 1)), { ...at, role })),
  );
  return join([
    encodeShareKeys({ shareKeys: shareKeys.subarray(0, 64), wrappingKey: leader?.publicKey as Uint8Array }),
    encodeShareKeys({ shareKeys: shareKeys.subarray(64), wrappingKey: helper?.publicKey as Uint8Array }),
  ]);
}

describe("a device with two servers", () => {
  let protocol: DeviceProtocol;
  const layout = twoServerLayoutOf(MANIFEST);
  const statistics = layout.map(({ statistic }) => statistic);
  beforeAll(async () => {
    protocol = await deviceProtocolOf(MANIFEST, hash, KEYS);
  });

  /** Sealed by a device that had one event of each metric, in two ticks, with a restart in between. */
  async function sealedIn(window: number): Promise<Uint8Array> {
    const publicKeys = await publicKeysIn(window);
    const keys = protocol.keysOf(publicKeys, window);
    const sealed = protocol.layout.map(({ device: side }, i) => {
      const first = side.start(keys[i] as Uint8Array, random);
      for (const event of side.events.keys()) first.record(event);
      const again = side.resume(keys[i] as Uint8Array, first.write() as Uint8Array, false, random);
      return again.seal(again.write() as Uint8Array);
    });
    return protocol.seal(publicKeys, sealed, random);
  }

  it("has the parts, the order and the sizes of the servers' layout", () => {
    expect(protocol.layout.map(({ device: side }) => [side.events, side.bytes])).toEqual(
      layout.map(({ metrics, statistic }) => [metrics, statistic.bytes]),
    );
    expect(protocol.signers).toEqual([
      { role: "leader", key: KEYS.operatorKey },
      { role: "helper", key: KEYS.helperKey },
    ]);
  });

  it("sends of one sealed report always the same bytes, which both servers find valid in its window alone", async () => {
    const kept = await sealedIn(5);
    const body = await protocol.bodyOf(kept, 5, device);
    expect(await protocol.bodyOf(kept, 5, device)).toEqual(body);
    expect(await protocol.bodyOf(await sealedIn(5), 5, device)).not.toEqual(body);
    expect(body.length).toBe(twoServerReportBytes(layout));
    const { reportId, ...halves } = decodeTwoServerReport(layout, hash, body);
    const report = { device, report: reportId, ...halves };
    const servers = await startServers(statistics, { task: MANIFEST.task, window: 5 });
    expect(await servers.decide(report)).toEqual({ leader: true, helper: true });
    // happened, counted, average, times
    expect(servers.sums()).toEqual([1, 1, 1, 0, 1, 0]);
    const later = await startServers(statistics, { task: MANIFEST.task, window: 6 });
    expect(await later.decide(report)).toEqual({ leader: false, helper: false });
  });

  it("refuses keys of another length or kind", async () => {
    const publicKeys = await publicKeysIn(5);
    for (const wrong of [
      publicKeys.subarray(1),
      publicKeys.with(0, 9),
      publicKeys.with(99, 9),
      publicKeys.subarray(0, 98),
    ]) {
      expect(() => protocol.keysOf(wrong, 5)).toThrow(expect.objectContaining({ code: "bad-encoding" }));
    }
  });
});

it("a statistic that does not run with two servers is refused as a bad task", async () => {
  const metrics = [{ name: "middle", statistic: "median", localEpsilon: 1 }] as unknown as Metric[];
  await expect(deviceProtocolOf({ ...MANIFEST, metrics }, hash, KEYS)).rejects.toMatchObject({
    code: "bad-task",
    message: "this version of the SDK cannot run median with two servers",
  });
});

describe("a device against an intruder with one server's keys", () => {
  const metrics: readonly Metric[] = [
    { name: "happened", statistic: "occurrence", localEpsilon: 20 },
    { name: "times", statistic: "histogram", edges: [0, 1, 3], localEpsilon: 20 },
    { name: "format", statistic: "choice", options: ["pdf", "png"], localEpsilon: 20 },
    { name: "checkout", statistic: "funnel", steps: ["cart", "paid"], localEpsilon: 20 },
  ];
  const manifest: Manifest = { ...MANIFEST, collusion: "one-server", metrics };

  it("has the servers' layout, and sends what both find valid", async () => {
    const protocol = await deviceProtocolOf(manifest, hash, KEYS);
    const layout = twoServerLayoutOf(manifest);
    expect(protocol.layout.map(({ device: side }) => [side.events, side.bytes])).toEqual(
      layout.map(({ statistic }) => [statistic.device(new Uint8Array()).events, statistic.bytes]),
    );
    const publicKeys = await publicKeysIn(5);
    const keys = protocol.keysOf(publicKeys, 5);
    const sealed = protocol.layout.map(({ device: side }, i) => {
      const first = side.start(keys[i] as Uint8Array, random);
      for (const event of side.events.keys()) first.record(event);
      const again = side.resume(keys[i] as Uint8Array, first.write() as Uint8Array, false, random);
      return again.seal(again.write() as Uint8Array);
    });
    const body = await protocol.bodyOf(protocol.seal(publicKeys, sealed, random), 5, device);
    expect(body.length).toBe(twoServerReportBytes(layout));
    const { reportId, ...halves } = decodeTwoServerReport(layout, hash, body);
    const servers = await startServers(
      layout.map(({ statistic }) => statistic),
      { task: MANIFEST.task, window: 5 },
    );
    expect(await servers.decide({ device, report: reportId, ...halves })).toEqual({ leader: true, helper: true });
    expect(servers.sums()).toEqual([1, 0, 1, 0, 0, 1, 0, 0, 0, 1]);
  });

  it("refuses a collusion that this version of the SDK does not know, and what cannot run with it", async () => {
    for (const [changes, message] of [
      [{ collusion: "both" }, "this version of the SDK cannot run collusion both"],
      [{ metrics: METRICS.slice(0, 1) }, "statistic is one of occurrence, histogram, choice, funnel"],
      [{ metrics: METRICS.slice(1, 2) }, "noise is device where collusion is one-server"],
      ...[
        { statistic: "choice", localEpsilon: 1 },
        { statistic: "funnel", steps: "cart", localEpsilon: 1 },
        { statistic: "histogram", edges: [1, 0], localEpsilon: 1 },
        { statistic: "histogram", edges: [0, 1], localEpsilon: 1, mechanism: "none" },
        { statistic: "histogram", edges: [0, 1], localEpsilon: Number.NaN },
        { statistic: "occurrence", localEpsilon: 100 },
        { statistic: "histogram", edges: [0, 1], localEpsilon: 1, sigma: 5 },
      ].map((metric) => [{ metrics: [{ name: "crafted", ...metric }] }, ""] as const),
    ] as const) {
      const refused = deviceProtocolOf({ ...manifest, ...(changes as unknown as Partial<Manifest>) }, hash, KEYS);
      await expect(refused).rejects.toMatchObject({ code: "bad-task", message: expect.stringContaining(message) });
    }
  });
});

describe("whom a device trusts", () => {
  const refusal = (changed: Partial<Manifest>, helperKey?: string): Promise<unknown> =>
    deviceProtocolOf({ ...MANIFEST, ...changed }, hash, { operatorKey: KEYS.operatorKey, helperKey }).then(
      () => "nothing",
      ({ code, message }: { code: string; message: string }) => `${code}: ${message}`,
    );
  const [leader, helper] = MANIFEST.servers;

  it("is the helper that the application names, and nobody else", async () => {
    expect(await refusal({}, KEYS.helperKey)).toBe("nothing");
    expect(await refusal({})).toMatch(/^bad-signature: .*must pass the helper's key as helperKey$/);
    const wrong = /^bad-signature: helperKey is not the key of the task's helper$/;
    expect(await refusal({}, "ed25519:other")).toMatch(wrong);
    expect(await refusal({ servers: leader ? [leader] : [] }, KEYS.helperKey)).toMatch(wrong);
    expect(await refusal({ servers: helper && leader ? [helper, leader] : [] }, KEYS.helperKey)).toMatch(wrong);
  });

  it("is no server alone, if the application names a helper", async () => {
    const metrics = METRICS.filter(({ noise }) => noise === undefined);
    expect(await refusal({ mode: "one-server", metrics }, KEYS.helperKey)).toMatch(/^bad-signature: .*no helper/);
    expect(await refusal({ mode: "one-server", metrics })).toBe("nothing");
  });
});
