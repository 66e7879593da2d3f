import { bytesToHex } from "@noble/hashes/utils.js";
import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { refusal } from "../../test/refusal.ts";
import { type DeviceKeyContext, secret } from "../encryption/index.ts";
import { LetheError } from "../error.ts";
import { seededRandomnessForTests } from "../randomness/index.ts";
import {
  decodePublicKeys,
  decodeReport,
  encodePublicKeys,
  encodeReport,
  keyContextOf,
  layoutOf,
  manifestHash,
  parseTask,
  reportBytes,
  type TaskLayout,
} from "./index.ts";

const hash = manifestHash("{}");

/** So little noise that the answers are the truth (for these seeds they are, and for all but one in a thousand). */
function layoutFor(scheme: "lattice" | "elgamal"): TaskLayout {
  const task = {
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
      { name: "failed", statistic: "occurrence", localEpsilon: 8 },
      { name: "tabs", statistic: "mean", limit: 5, sigma: 0.04, eventsPerTick: 3 },
      { name: "clicks", statistic: "histogram", edges: [0, 1, 3], localEpsilon: 10, eventsPerTick: 2 },
      { name: "saved", statistic: "occurrence", localEpsilon: 8 },
    ],
  };
  return layoutOf(parseTask(JSON.stringify(task)));
}

describe("a report", () => {
  let layout: TaskLayout;
  let lengths: number[];
  beforeAll(() => {
    layout = layoutFor("elgamal");
    lengths = layout.map(({ device }) => device.bytes.report);
  });

  const seeded = (seed: number, length: number): Uint8Array => {
    const bytes = new Uint8Array(length);
    seededRandomnessForTests(seed)(bytes);
    return bytes;
  };
  const sealed = (seed: number): Uint8Array[] => lengths.map((length, i) => seeded(seed + i, length));

  it("is version 1, kind 0x52, the hash of the manifest, and the sealed parts in the layout's order", () => {
    const parts = sealed(1);
    const report = encodeReport(hash, parts);
    expect(bytesToHex(report)).toBe(`0152${bytesToHex(hash)}${parts.map(bytesToHex).join("")}`);
    expect(report.length).toBe(reportBytes(layout));
    expect(reportBytes(layout)).toBe(34 + 2 * 64 + 64 + 3 * 64);
  });

  it("comes apart into what it was made of", () => {
    fc.assert(
      fc.property(fc.nat(), fc.uint8Array({ minLength: 32, maxLength: 32 }), (seed, manifest) => {
        const parts = sealed(seed);
        expect(decodeReport(layout, manifest, encodeReport(manifest, parts))).toStrictEqual(parts);
      }),
    );
  });

  it("is refused with any bit of the header flipped", () => {
    const report = encodeReport(hash, sealed(2));
    for (let bit = 0; bit < 8 * 34; bit++) {
      const flipped = report.with(bit >> 3, (report[bit >> 3] as number) ^ (1 << (bit & 7)));
      expect(refusal(() => decodeReport(layout, hash, flipped))).toBe(
        bit < 16 ? "these bytes are not a report of this version" : "this report was made for another manifest",
      );
    }
  });

  it("is refused at any other length, empty and header alone included", () => {
    const size = reportBytes(layout);
    const longest = new Uint8Array(2 * size);
    longest.set(encodeReport(hash, sealed(3)));
    for (let length = 0; length <= longest.length; length++) {
      const read = () => decodeReport(layout, hash, longest.subarray(0, length));
      if (length !== size) expect(refusal(read)).toBe(`a report has ${length} bytes instead of ${size}`);
    }
  });

  it("is accepted exactly if encoding its parts gives it again", () => {
    const size = reportBytes(layout);
    fc.assert(
      fc.property(fc.nat(), fc.array(fc.tuple(fc.nat({ max: size - 1 }), fc.nat({ max: 255 }))), (seed, changes) => {
        const report = encodeReport(hash, sealed(seed));
        for (const [at, value] of changes) report[at] = value;
        try {
          expect(encodeReport(hash, decodeReport(layout, hash, report))).toStrictEqual(report);
        } catch (error) {
          expect(error).toBeInstanceOf(LetheError);
          expect(bytesToHex(report)).not.toMatch(new RegExp(`^0152${bytesToHex(hash)}`));
        }
      }),
    );
  });

  it("is read from a view into a larger buffer", () => {
    const parts = sealed(4);
    const report = encodeReport(hash, parts);
    const buffer = new Uint8Array(report.length + 8).fill(255);
    buffer.set(report, 3);
    expect(decodeReport(layout, hash, buffer.subarray(3, -5))).toStrictEqual(parts);
  });
});

describe.each(["elgamal", "lattice"] as const)("from task to answers, %s", (scheme) => {
  const master = secret(new Uint8Array(32).fill(9));
  const context = { task: "editor-health", window: 7, device: new Uint8Array(16).fill(5), role: "tally" } as const;
  /** Metric 1 of the occurrences; four of tabs, in two ticks; two clicks. In the layout's order. */
  const events: readonly (readonly (readonly number[])[])[] = [
    [[1], [1, 1]],
    [[0, 0, 0], [0]],
    [[], [0, 0]],
  ];
  let layout: TaskLayout;
  let report: Uint8Array;

  beforeAll(() => {
    layout = layoutFor(scheme);
    const issued = layout.map((part) => part.server.issueKey(master, keyContextOf(part, context)));
    const keys = decodePublicKeys(layout, encodePublicKeys(issued));
    const sealed = layout.map(({ device }, i) => {
      const recorder = device.start(keys[i] as Uint8Array, seededRandomnessForTests(`${scheme} ${i}`));
      let stored: Uint8Array | undefined;
      for (const tick of events[i] as readonly (readonly number[])[]) {
        for (const metric of tick) recorder.record(metric);
        stored = recorder.write();
        expect(stored?.length).toBe(device.bytes.state);
      }
      return recorder.seal(stored as Uint8Array);
    });
    report = encodeReport(hash, sealed);
  });

  const open = (changes: Partial<DeviceKeyContext> = {}, bytes = report) =>
    decodeReport(layout, hash, bytes).map((sealed, i) => {
      const part = layout[i] as TaskLayout[number];
      return part.server.open(
        master,
        keyContextOf(part, { ...context, ...changes }),
        sealed,
        seededRandomnessForTests(i),
      );
    });

  it("every part opens to what happened", () => {
    expect(report.length).toBe(reportBytes(layout));
    expect(layout.map(({ metrics }) => metrics)).toStrictEqual([["failed", "saved"], ["tabs"], ["clicks"]]);
    expect(open()).toStrictEqual([
      { valid: true, answers: [0, 1] },
      { valid: true, answers: [4] },
      { valid: true, answers: [0, 1, 0] },
    ]);
  });

  it("a copy under another device id, window, task or role is well-formed, and no part of it is valid", () => {
    const others = [
      { device: new Uint8Array(16).fill(6) },
      { window: 8 },
      { task: "other" },
      { role: "leader" } as const,
    ];
    for (const other of others) expect(open(other).map(({ valid }) => valid)).toStrictEqual([false, false, false]);
  });

  it("a part at the position of another is not valid", () => {
    const parts = decodeReport(layout, hash, report);
    const [occurrences, tabs] = layout as [TaskLayout[number], TaskLayout[number]];
    const opened = tabs.server.open(
      master,
      keyContextOf(occurrences, context),
      parts[1] as Uint8Array,
      seededRandomnessForTests("other"),
    );
    expect(opened.valid).toBe(false);
  });
});
