import { seededRandomnessForTests } from "@lethe/core/randomness";
import { beforeAll, describe, expect, it } from "vitest";
import { describeFhe, type FheResult, type FheRow, fhe, runFhe } from "./fhe.ts";

/**
 * Keys far too small to protect anything, so that TFHE is 25 times faster than it should be; what holds here holds all
 * the more.
 */
describe("fhe", () => {
  let result: FheResult;
  beforeAll(async () => {
    result = await runFhe(
      { bit: "toy", withByte: false, letheCounters: [1, 1000], ticks: 16, updates: { byte: 1, bit: 9, lethe: 29 } },
      { random: seededRandomnessForTests("fhe"), progress: () => {} },
    );
  });
  const row = (name: string): FheRow => result.rows.find(({ system }) => system === name) as FheRow;

  it("knows beforehand that what it needs is installed", async () => {
    await expect(fhe.check?.()).resolves.toBeUndefined();
  });

  it("measures every system with the same fields, and TFHE counts what happened", () => {
    expect(result.rows.map(({ system }) => system)).toEqual([
      "TFHE, one bit",
      "Lethe, elgamal, 1 counter",
      "Lethe, lattice, 1 counter",
      "Lethe, lattice, 1,000 counters",
    ]);
    for (const { stateBytes, keyBytes, updateMicroseconds } of result.rows) {
      for (const figure of [stateBytes, keyBytes, updateMicroseconds]) expect(figure).toBeGreaterThan(0);
    }
    expect(row("TFHE, one bit").correct).toBe(true);
  });

  it("finds Lethe's lattice faster and its keys smaller, by far", () => {
    const [tfhe, lethe] = [row("TFHE, one bit"), row("Lethe, lattice, 1,000 counters")];
    expect(tfhe.updateMicroseconds).toBeGreaterThan(3 * lethe.updateMicroseconds);
    expect(tfhe.keyBytes).toBeGreaterThan(50 * lethe.keyBytes);
    expect(tfhe.stateBytes).toBeGreaterThan(5 * (lethe.stateBytes / lethe.counters));
  });

  it("says so, and says if it were otherwise", () => {
    const [tfhe, ...lethe] = result.rows as [FheRow, ...FheRow[]];
    const describe = (first: FheRow): string => describeFhe({ ...result, rows: [first, ...lethe] }).reading;
    expect(describe(tfhe)).toContain("found in the state of “TFHE, one bit”");
    expect(describe({ ...tfhe, stateBytes: 1e9 })).toMatch(/state is larger, too: TFHE's smallest is [\d,]+ times/);
    expect(describe({ ...tfhe, stateBytes: 1 })).toMatch(/state is not always larger: TFHE's smallest is 0/);
    expect(describe(tfhe)).toContain(`Node ${process.versions.node}`);
    expect(describe({ ...tfhe, updateMicroseconds: 1e9 })).toContain("FHE is overkill");
    const quick = describe({ ...tfhe, updateMicroseconds: 1, correct: false });
    expect(quick).toContain("The claim does NOT hold here");
    expect(quick).toContain("WRONG: TFHE, one bit");
  });
});
