import { describe, expect, it } from "vitest";
import { random, randomBytes } from "../../test/two-server.ts";
import { encodeManifest, manifestHash, parseManifest, parseTask } from "../message/index.ts";
import {
  encodeSignedShare,
  encodeWindowShare,
  parseSignedShare,
  parseWindowShare,
  type WindowShare,
} from "../message/window-share.ts";
import { planTask } from "../plan/index.ts";
import { createAggregateShare, halfSharesOf } from "./aggregate-share.ts";
import { assembleRelease } from "./assemble-release.ts";
import {
  decodeShareKeys,
  decodeTwoServerReport,
  encodeShareKeys,
  encodeTwoServerReport,
  twoServerReportBytes,
} from "./messages.ts";
import { halfBytes, twoServerLayoutOf } from "./task-layout.ts";
import { WRAPPING_BYTES } from "./wrapping.ts";

const TASK = parseTask(
  JSON.stringify({
    version: 3,
    task: "kiosks",
    tickSeconds: 60,
    ticks: 10,
    graceSeconds: 0,
    mode: "two-server",
    scheme: "elgamal",
    minimumDevices: 10,
    metrics: [
      { name: "average", statistic: "mean", limit: 4, sigma: 1 },
      { name: "told", statistic: "occurrence", localEpsilon: 2 },
      { name: "times", statistic: "histogram", noise: "servers", edges: [0, 1, 3], sigma: 2 },
      { name: "counted", statistic: "occurrence", noise: "servers", sigma: 2 },
    ],
  }),
);
const KEY = `ed25519:${"A".repeat(43)}`;
const text = encodeManifest({
  ...TASK,
  fromWindow: 7,
  servers: [
    { role: "leader", url: "https://leader.example", key: KEY },
    { role: "helper", url: "https://helper.example", key: KEY },
  ],
});
const manifest = parseManifest(text);
const known = { manifest, hash: manifestHash(text), layout: twoServerLayoutOf(manifest) };
const received = 100;
const cost = planTask({ task: manifest, devices: received, missing: 0, delta: 1e-6, windows: 1 });

/**
 * Shares of these sums, which are those of the statistics in the order of the layout: told, counted, average, times.
 */
function sharesOf(sums: readonly number[]): { leader: WindowShare; helper: WindowShare } {
  const mask = Array.from({ length: sums.length }, () => randomBytes(4).reduce((value, byte) => 256 * value + byte, 0));
  const shareOf = (values: readonly number[]): Uint8Array => {
    const share = createAggregateShare(values.length);
    share.addConstant(values);
    return share.encode();
  };
  const common = {
    task: "kiosks",
    version: 3,
    window: 8,
    from: 4800,
    to: 5400,
    manifestHash: known.hash,
    received,
    reports: new Uint8Array(32).fill(5),
  };
  return {
    leader: {
      ...common,
      role: "leader",
      at: 6000,
      enrolled: 120,
      invalid: -3,
      share: shareOf(sums.map((sum, i) => sum - (mask[i] as number))),
    },
    helper: { ...common, role: "helper", at: 6001, share: shareOf(mask) },
  };
}

describe("a release", () => {
  it("is what both shares add up to, in the task's order, with both servers' noise in its errors", () => {
    const { leader, helper } = sharesOf([60, 40, 150, 70, 20, 10]);
    const release = assembleRelease(known, leader, helper, cost);
    expect(release).toMatchObject({
      status: "released",
      task: "kiosks",
      version: 3,
      window: 8,
      from: 4800,
      to: 5400,
      at: 6001,
      enrolled: 120,
      received: 100,
      invalid: { estimate: -3 },
    });
    expect(release.metrics.map(({ name }) => name)).toEqual(["average", "told", "times", "counted"]);
    const [average, told, times, counted] = release.metrics as unknown as readonly { [field: string]: unknown }[];
    expect(average).toMatchObject({ estimate: 1.5, mechanism: "discrete-gaussian" });
    expect(average?.standardError).toBeCloseTo((4 * Math.SQRT2) / 100, 6);
    expect(told).toMatchObject({ mechanism: "randomized-response", localEpsilon: 2 });
    expect(told?.estimate).toBeCloseTo((60 - 100 / (1 + Math.E ** 2)) / (1 - 2 / (1 + Math.E ** 2)), 6);
    expect(counted).toMatchObject({ estimate: 40 });
    expect(counted?.standardError).toBeCloseTo(2 * Math.SQRT2, 6);
    expect(times?.buckets).toMatchObject([
      { bucket: "0", estimate: 70 },
      { bucket: "1–2", estimate: 20 },
      { bucket: "3+", estimate: 10 },
    ]);
  });

  it.each([
    ["a window of another number", { window: 9 }, "window is 8 at the leader, 9 at the helper"],
    ["another number of reports", { received: 99 }, "received is 100 at the leader, 99 at the helper"],
    ["another version", { version: 4 }, "version is 3 at the leader, 4 at the helper"],
    ["another task", { task: "others" }, "task is kiosks at the leader, others at the helper"],
    ["another manifest", { manifestHash: new Uint8Array(32) }, "they are of another manifest"],
    ["other reports", { reports: new Uint8Array(32) }, "they counted different reports"],
    ["two leaders", { role: "leader" }, "they are not one of each"],
  ] as const)("is not made of shares of %s", (_what, changes, message) => {
    const { leader, helper } = sharesOf([1, 2, 3, 4, 5, 6]);
    expect(() => assembleRelease(known, leader, { ...helper, ...changes }, cost)).toThrow(
      expect.objectContaining({ code: "bad-share", message: expect.stringContaining(message) }),
    );
  });

  it("of slots shared in the exponent is made of equal shares only: both servers have counted the same", () => {
    const guarded = parseManifest(
      encodeManifest({
        ...manifest,
        collusion: "one-server",
        metrics: [
          { name: "told", statistic: "occurrence", localEpsilon: 2 },
          { name: "picked", statistic: "choice", options: ["a"], localEpsilon: 2 },
        ],
      }),
    );
    const of = { manifest: guarded, hash: known.hash, layout: twoServerLayoutOf(guarded) };
    const price = planTask({ task: guarded, devices: received, missing: 0, delta: 1e-6, windows: 1 });
    const { leader, helper } = sharesOf([60, 25, 75]);
    const halved = halfSharesOf([60, 25, 75]);
    const release = assembleRelease(of, { ...leader, share: halved }, { ...helper, share: halved }, price);
    expect(release.metrics.map((metric) => metric.name)).toEqual(["told", "picked"]);
    const [told] = release.metrics as unknown as readonly { estimate: number }[];
    expect(told?.estimate).toBeCloseTo((60 - 100 / (1 + Math.E ** 2)) / (1 - 2 / (1 + Math.E ** 2)), 6);
    // The same sums, but one server knows what the other does not, or has changed its own.
    for (const shares of [
      [leader.share, helper.share],
      [halfSharesOf([62, 25, 75]), halved],
      [halved, halfSharesOf([60, 26, 74])],
    ] as const) {
      const [one, other] = [
        { ...leader, share: shares[0] },
        { ...helper, share: shares[1] },
      ];
      expect(() => assembleRelease(of, one, other, price)).toThrow(
        expect.objectContaining({
          code: "bad-share",
          message: expect.stringContaining("not counted the same answers"),
        }),
      );
    }
  });

  it("is not made of a share of the wrong length, or of one whose other half is another's", () => {
    const { leader, helper } = sharesOf([1, 2, 3, 4, 5, 6]);
    const short = { ...helper, share: helper.share.subarray(8) };
    expect(() => assembleRelease(known, leader, short, cost)).toThrow("an element for every answer");
    const other = { ...helper, share: new Uint8Array(helper.share.length).fill(0x77) };
    expect(() => assembleRelease(known, leader, other, cost)).toThrow(
      expect.objectContaining({ code: "bad-encoding" }),
    );
  });
});

describe("a release with groups", () => {
  const grouped = { ...manifest, groups: ["stable", "beta", "canary"], minimumDevices: 40 };
  const groupsOf = (...received: readonly number[]) =>
    received.map((reports, i) => ({ group: grouped.groups[i] as string, received: reports }));
  const sums = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12];
  const shares = () => {
    const { leader, helper } = sharesOf(sums);
    const groups = groupsOf(50, 9, 41);
    return {
      leader: { ...leader, groups: groups.map((each) => ({ ...each, enrolled: 60 })) },
      helper: { ...helper, groups },
    };
  };
  const assemble = (leader: WindowShare, helper: WindowShare) =>
    assembleRelease({ ...known, manifest: grouped }, leader, helper, cost);

  it("has the sums of the groups that are shared, in the task's order", () => {
    const { leader, helper } = shares();
    const { groups, devices, metrics } = assemble(leader, helper);
    expect(devices).toBe(91);
    expect(groups?.map(({ group, status, enrolled, received }) => [group, status, enrolled, received])).toEqual([
      ["stable", "released", 60, 50],
      ["beta", "not-enough", 60, 9],
      ["canary", "released", 60, 41],
    ]);
    const countedIn = (found: typeof metrics | undefined): unknown => found?.find(({ name }) => name === "counted");
    const [stable, , canary] = groups ?? [];
    expect(countedIn(stable?.status === "released" ? stable.metrics : undefined)).toMatchObject({ estimate: 2 });
    expect(countedIn(canary?.status === "released" ? canary.metrics : undefined)).toMatchObject({ estimate: 8 });
    expect(countedIn(metrics)).toMatchObject({ estimate: 10 });
  });

  it.each([
    ["of other groups", { groups: groupsOf(50, 9, 41).toReversed() }, "they do not have the groups of the manifest"],
    ["without groups", { groups: undefined }, "they do not have the groups of the manifest"],
    ["that counted other reports of a group", { groups: groupsOf(50, 8, 42) }, "different reports of the group beta"],
  ])("is not made of shares %s", (_what, changes, message) => {
    const { leader, helper } = shares();
    expect(() => assemble(leader, { ...helper, ...changes } as WindowShare)).toThrow(
      expect.objectContaining({ code: "bad-share", message: expect.stringContaining(message) }),
    );
  });

  it("is not made of groups that do not add up, of fewer shares than groups, or of no group at all", () => {
    const { leader, helper } = shares();
    const both = (changes: Partial<WindowShare>) => () =>
      assemble({ ...leader, ...changes } as WindowShare, { ...helper, ...changes } as WindowShare);
    expect(both({ groups: groupsOf(50, 9, 42) })).toThrow("do not add up");
    expect(both({ groups: groupsOf(50, 40, 10), share: leader.share.subarray(48) })).toThrow(
      "an element for every answer",
    );
    expect(both({ groups: groupsOf(39, 39, 22), share: new Uint8Array() })).toThrow("an element for every answer");
  });
});

describe("a share", () => {
  it("comes back from its text, signature and all", () => {
    for (const share of Object.values(sharesOf([1, -2, 3, 4, 5, 6]))) {
      const document = encodeWindowShare(share);
      const signature = randomBytes(64);
      const signed = parseSignedShare(encodeSignedShare({ status: "shared", document, signature }));
      expect(signed).toEqual({ status: "shared", document, signature });
      expect(parseWindowShare(signed.document)).toEqual(share);
    }
  });

  it("is refused with the field to blame", () => {
    const share = JSON.parse(encodeWindowShare(sharesOf([1, 2, 3, 4, 5, 6]).helper)) as object;
    const refusal = (changes: object): (() => unknown) => {
      return () => parseWindowShare(JSON.stringify({ ...share, ...changes }));
    };
    expect(refusal({ role: "tally" })).toThrow('role is one of leader, helper, not "tally"');
    expect(refusal({ received: -1 })).toThrow("received is a whole number");
    expect(refusal({ reports: "AA" })).toThrow("reports");
    expect(refusal({ extra: 1 })).toThrow("extra is not a field of a share");
    expect(() => parseSignedShare('{"status":"released"}')).toThrow('status is shared, not "released"');
  });
});

describe("messages", () => {
  it("keys and reports come back, and nothing of another size, kind or manifest does", () => {
    const keys = { shareKeys: randomBytes(64), wrappingKey: randomBytes(32) };
    expect(decodeShareKeys("leader", encodeShareKeys(keys))).toEqual(keys);
    expect(() => decodeShareKeys("helper", encodeShareKeys(keys))).toThrow(/98 bytes instead of 66/);
    const half = (role: "leader" | "helper"): Uint8Array => {
      const bytes = new Uint8Array(halfBytes(known.layout, role) + WRAPPING_BYTES);
      random(bytes);
      return bytes;
    };
    const report = { reportId: randomBytes(16), leader: half("leader"), helper: half("helper") };
    const bytes = encodeTwoServerReport(known.hash, report);
    expect(bytes.length).toBe(twoServerReportBytes(known.layout));
    // Two occurrences, four bits of the mean and three of the histogram; 160 bytes per bit.
    expect(bytes.length).toBe(2 + 32 + 16 + 9 * (96 + 64) + 2 * 48);
    expect(decodeTwoServerReport(known.layout, known.hash, bytes)).toEqual(report);
    expect(() => decodeTwoServerReport(known.layout, new Uint8Array(32), bytes)).toThrow("another manifest");
    expect(() => decodeTwoServerReport(known.layout, known.hash, bytes.subarray(1))).toThrow("bytes instead of");
    const otherKind = bytes.slice();
    otherKind[1] = 0x52;
    expect(() => decodeTwoServerReport(known.layout, known.hash, otherKind)).toThrow("not a report for two servers");
  });
});

it("a task of two servers is priced with the servers' noise where it is theirs", () => {
  const [average, told, times, counted] = cost.metrics as readonly {
    localEpsilon: number;
    epsilon: number;
    noise?: string;
  }[];
  for (const metric of [average, times, counted]) {
    expect(metric).toMatchObject({ noise: "servers" });
    expect(metric?.localEpsilon).toBe(metric?.epsilon);
  }
  expect(told).toMatchObject({ noise: "device", localEpsilon: 2 });
  expect(told?.epsilon).toBeLessThan(2);
  expect(cost.perWindow.local.sum).toBeUndefined();
  expect(cost.perWindow.local.epsilon).toBeGreaterThan(average?.epsilon ?? 0);
  expect(cost.reportBytes).toBe(twoServerReportBytes(known.layout));
});
