import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Task } from "@lethe/core/message";
import { randomnessFrom } from "@lethe/core/randomness";
import { openLethe } from "@lethe/device";
import { fileStore } from "@lethe/device/node";
import { afterAll, describe, expect, it } from "vitest";
import { createIssuer } from "../intrusion/issuer.ts";
import { bytesFrom } from "../randomness/bytes-from.ts";
import { audit } from "./audit.ts";
import { deviceEntries, readCapture } from "./captures.ts";
import { chanceOfAdvantage, detectableAdvantage, fewestFor, largestAdvantage } from "./kolmogorov-smirnov.ts";

const random = randomnessFrom(globalThis.crypto);
const root = mkdtempSync(join(tmpdir(), "lethe-audit-"));
afterAll(() => rmSync(root, { recursive: true }));

/** Of each of 18 tests, so that all together raise a false alarm with probability 1e-6. */
const LEVEL = 1e-6 / 18;
const TICK_SECONDS = 300;
const TASK: Task = {
  version: 1,
  task: "audited",
  tickSeconds: TICK_SECONDS,
  ticks: 8,
  graceSeconds: 60,
  mode: "one-server",
  scheme: "lattice",
  minimumDevices: 1,
  metrics: [{ name: "crashed", statistic: "occurrence", localEpsilon: 1 }],
};

/** A program with the SDK and its file store, of which a copy is kept after every tick. */
async function capture(folder: string, happens: boolean, countsInClear: boolean): Promise<void> {
  const { server, task, operatorKey, fetch } = await createIssuer(TASK, random);
  let now = 1_000_000 * 8000 * TICK_SECONDS;
  const live = `${folder}.live`;
  const lethe = await openLethe({ server, task, operatorKey, fetch, clock: () => now, store: fileStore(live) });
  await lethe.sendPending();
  mkdirSync(folder, { recursive: true });
  for (let tick = 1; tick <= 3; tick++) {
    if (happens) lethe.record("crashed");
    now += 1000 * TICK_SECONDS;
    await lethe.sendPending();
    copyFileSync(join(live, "record"), join(folder, `${tick}-record`));
    const count = JSON.stringify({ user: bytesFrom(random, 8).join(), crashes: happens ? tick : 0 });
    if (countsInClear) writeFileSync(join(folder, `${tick}-settings.json`), count);
  }
  await lethe.close();
  rmSync(live, { recursive: true });
}

async function captureBoth(name: string, each: number, countsInClear: boolean): Promise<[string, string]> {
  const folders: [string, string] = [join(root, name, "with"), join(root, name, "without")];
  for (let i = 0; i < each; i++) {
    for (const folder of folders) await capture(join(folder, String(100 + i)), folder === folders[0], countsInClear);
  }
  return folders;
}

describe("an audit", () => {
  it("finds nothing in what the SDK stores", async () => {
    const result = audit(...(await captureBoth("sound", 20, false)));
    expect(result.devices).toEqual({ with: 20, without: 20 });
    expect(result.tests).toHaveLength(18);
    expect(result.tests.filter(({ probability }) => probability < LEVEL)).toEqual([]);
    expect(result.detectable).toBeGreaterThan(0.5);
    expect(result.detectable).toBeLessThan(0.9);
  });

  it("catches an application that keeps its own count beside it", async () => {
    const result = audit(...(await captureBoth("leaking", 16, true)));
    expect(result.verdict).toBe("distinguishable");
    // Names have different lengths: the count has its place from the end only.
    expect(telling(result)).toContain("one byte");
  });

  it("catches one bit among thousands of random bytes, and one more write", () => {
    const [bit, write] = ["bit", "write"].map((name) =>
      [0, 1].map((happens) => {
        const folder = join(root, name, String(happens));
        for (let i = 0; i < 16; i++) {
          const device = join(folder, String(100 + i));
          mkdirSync(device, { recursive: true });
          const versions = name === "write" && happens === 1 ? 4 : 3;
          for (let version = 0; version < versions; version++) {
            const bytes = bytesFrom(random, 2000);
            if (name === "bit") bytes[1234] = ((bytes[1234] as number) & 0xef) | (happens << 4);
            writeFileSync(join(device, String(version)), bytes);
          }
        }
        return folder;
      }),
    ) as [[string, string], [string, string]];
    const byBit = audit(...bit);
    expect(telling(byBit)).toContain("one bit");
    expect(byBit.tests.find(({ distinguisher }) => distinguisher === "one bit")?.where).toMatch(
      /^bit 4 of the byte at offset 1234 of the last file( but one| but two)?$/,
    );
    expect(telling(audit(...write))).toContain("number of versions");
  });

  const telling = ({ tests }: ReturnType<typeof audit>): string[] =>
    tests.filter(({ tells }) => tells).map(({ distinguisher }) => distinguisher);
});

describe("versions", () => {
  it("come in the order of their numbers, and what begins with a dot is no device", () => {
    const folder = join(root, "numbered");
    const device = join(folder, "device");
    mkdirSync(device, { recursive: true });
    writeFileSync(join(folder, ".DS_Store"), "");
    const names = ["1", "02", "2", "9", "10", "11", "100"];
    for (const name of names.toReversed()) writeFileSync(join(device, name), name);
    expect(deviceEntries(folder)).toEqual([device]);
    const { versions } = readCapture(device);
    expect(versions.map((bytes) => new TextDecoder().decode(bytes))).toEqual(names);
  });
});

describe("an audit refuses", () => {
  const folder = (name: string, files: number): string => {
    const path = join(root, "refused", name);
    mkdirSync(path, { recursive: true });
    for (let i = 0; i < files; i++) writeFileSync(join(path, String(i)), "state");
    return path;
  };

  it("folders that are missing, no folders, the same, or have too few devices, and says how many it needs", () => {
    const good = folder("good", 10);
    expect(() => audit(join(root, "none"), good)).toThrow("there is no");
    expect(() => audit(join(good, "1"), good)).toThrow("is not a folder");
    expect(() => audit(good, good)).toThrow("both folders are the same");
    expect(() => audit(good, folder("few", 3))).toThrow("few has 3 devices, and fewer than 8 on each side");
  });

  it("names that are not UTF-8", () => {
    const odd = folder("odd", 9);
    writeFileSync(Buffer.concat([Buffer.from(`${odd}/caf`), Buffer.of(0xe9)]), "state");
    expect(() => audit(odd, folder("even", 10))).toThrow("odd has a file whose name is not UTF-8 (café): rename it");
  });

  it("numbers that are none", () => {
    expect(() => largestAdvantage([1, Number.NaN], [2])).toThrow("NaN cannot be compared");
  });

  it("links and devices without a file", () => {
    const good = folder("other", 10);
    const linked = folder("linked", 9);
    symlinkSync(join(good, "1"), join(linked, "link"));
    expect(() => audit(linked, good)).toThrow("link is a link: copy what it leads to");
    const hollow = folder("hollow", 9);
    mkdirSync(join(hollow, "device"));
    expect(() => audit(hollow, good)).toThrow("device is empty");
  });
});

describe("the best threshold", () => {
  it("has the advantage, and the chance of it, that going through all choices gives", () => {
    for (const [a, b] of [
      [
        [1, 2, 3],
        [4, 5, 6, 7],
      ],
      [
        [1, 1, 2, 5],
        [1, 2, 2],
      ],
      [
        [3, 3, 3],
        [3, 3],
      ],
      [
        [0, 0, 0, 9],
        [0, 9, 9, 9],
      ],
    ] as const) {
      const all = [...a, ...b];
      const found = largestAdvantage(a, b);
      let [far, total] = [0, 0];
      for (let choice = 0; choice < 2 ** all.length; choice++) {
        const chosen = all.filter((_, i) => (choice >> i) & 1);
        if (chosen.length !== a.length) continue;
        total++;
        const rest = all.filter((_, i) => !((choice >> i) & 1));
        if (largestAdvantage(chosen, rest) >= found - 1e-12) far++;
      }
      expect(chanceOfAdvantage(a, b)).toBeCloseTo(far / total, 12);
    }
  });

  it("needs the devices that complete separation needs", () => {
    // 2 of C(2n, n) choices separate.
    expect(fewestFor(2 / 924)).toBe(6);
    expect(fewestFor(2 / 925)).toBe(7);
    expect(detectableAdvantage(5, 5, 1e-3, 0.99)).toBeUndefined();
  });

  // Found with probability 0.99 and missed by more than 30 of 400: below 1e-15.
  it("is found where it is said to be", () => {
    const [each, level] = [30, 1e-3];
    const advantage = detectableAdvantage(each, each, level, 0.99) ?? 1;
    const sample = (share: number): number[] =>
      Array.from(
        bytesFrom(random, 2 * each).filter((_, i) => i % 2 === 0),
        (byte) => Number(byte < 256 * share),
      );
    let found = 0;
    for (let i = 0; i < 400; i++) {
      const [a, b] = [sample((1 + advantage) / 2), sample((1 - advantage) / 2)];
      if (chanceOfAdvantage(a, b) <= level) found++;
    }
    expect(found).toBeGreaterThanOrEqual(370);
  });
});
