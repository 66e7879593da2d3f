import { generateKeyPairSync, randomBytes, verify } from "node:crypto";
import { secret } from "@lethe/core/encryption";
import {
  encodeManifest,
  encodeReport,
  layoutOf,
  manifestHash,
  parseManifest,
  publicKeysSigningBytes,
  type Task,
} from "@lethe/core/message";
import { describe, expect, it } from "vitest";
import { reportOf } from "../../test/device.ts";
import { EXACT_TASK } from "../../test/service.ts";
import { issueKeys, openReports } from "./opening.ts";

const signing = generateKeyPairSync("ed25519");
const WINDOW = 5;

/** All three statistics. */
const metrics: Task["metrics"] = [
  { name: "happened", statistic: "occurrence", localEpsilon: 5 },
  { name: "times", statistic: "histogram", edges: [0, 1, 2], localEpsilon: 2, eventsPerTick: 1 },
  { name: "average", statistic: "mean", limit: 2, sigma: 2, eventsPerTick: 1 },
];

function taskOf(scheme: Task["scheme"]): {
  text: string;
  keys: { manifest: string; window: number; windowSecret: Uint8Array };
  hash: Uint8Array;
  layout: ReturnType<typeof layoutOf>;
} {
  const servers = [{ role: "tally", url: "http://test", key: `ed25519:${"A".repeat(43)}` }] as const;
  const text = encodeManifest({ ...EXACT_TASK, scheme, metrics, fromWindow: 0, servers });
  const windowSecret = new Uint8Array(randomBytes(32));
  return {
    text,
    keys: { manifest: text, window: WINDOW, windowSecret },
    hash: manifestHash(text),
    layout: layoutOf(parseManifest(text)),
  };
}

describe.each(["elgamal", "lattice"] as const)("with %s", (scheme) => {
  const { text, keys, hash, layout } = taskOf(scheme);
  const issued = issueKeys(keys, 4, signing.privateKey);

  it("keys are signed for their device, window and manifest, and can be made again from the window's secret", () => {
    for (const { device, publicKeys, signature } of issued) {
      const bound = { manifestHash: hash, window: WINDOW, device, role: "tally", publicKeys } as const;
      expect(verify(null, publicKeysSigningBytes(bound), signing.publicKey, signature)).toBe(true);
      expect(verify(null, publicKeysSigningBytes({ ...bound, window: 6 }), signing.publicKey, signature)).toBe(false);
      const again = layout.map((part) =>
        part.server.issueKey(secret(keys.windowSecret), {
          task: EXACT_TASK.task,
          window: WINDOW,
          device,
          role: "tally",
          index: part.firstKey,
        }),
      );
      expect(Buffer.concat(again)).toEqual(Buffer.from(publicKeys.subarray(2)));
    }
    expect(new Set(issued.map(({ device }) => Buffer.from(device).toString("hex"))).size).toBe(4);
  });

  it("honest reports open, and under another device's id or with another window's secret they do not", () => {
    const task = { name: EXACT_TASK.task, manifest: parseManifest(text), hash, layout };
    const reports = issued.map(({ device, publicKeys }) => ({
      device,
      group: 0,
      body: reportOf({ task, window: WINDOW, id: device, token: "", publicKeys }, "happened", "times", "average"),
    }));
    expect(openReports(keys, reports).invalid).toBe(0);
    const swapped = reports.map(({ body }, i) => ({
      body,
      group: 0,
      device: reports[(i + 1) % 4]?.device as Uint8Array,
    }));
    expect(openReports(keys, swapped).invalid).toBe(4);
    expect(openReports({ ...keys, windowSecret: new Uint8Array(randomBytes(32)) }, reports).invalid).toBe(4);
  });

  it("no bytes of the right length stop the tally: they are counted as invalid, one answer a metric or bucket", () => {
    const parts = layout.map(({ device }) => device.bytes.report);
    const fillings: ((length: number) => Uint8Array)[] = [
      (length) => new Uint8Array(length).fill(0xff),
      (length) => new Uint8Array(length).fill(0x80),
      (length) => new Uint8Array(length).fill(1),
      ...Array.from({ length: 20 }, () => (length: number) => new Uint8Array(randomBytes(length))),
    ];
    const device = issued[0]?.device as Uint8Array;
    const reports = fillings.map((fill) => ({ device, group: 0, body: encodeReport(hash, parts.map(fill)) }));
    const { sums, invalid } = openReports(keys, reports);
    expect(invalid).toBe(fillings.length);
    expect(sums.map((answers) => answers.length)).toEqual([1, 3, 1]);
    for (const sum of sums.flat()) expect(Number.isSafeInteger(sum)).toBe(true);
    // Zeros may be a ciphertext of nothing; they open or they do not.
    const zeros = {
      device,
      group: 0,
      body: encodeReport(
        hash,
        parts.map((length) => new Uint8Array(length)),
      ),
    };
    expect(openReports(keys, [zeros]).sums).toHaveLength(3);
  });
});
