import { seededRandomnessForTests } from "@lethe/core/randomness";
import { describe, expect, it } from "vitest";
import { type PkeResult, type PkeSize, runPkeFromPanPrivacy } from "./pke-from-pan-privacy.ts";
import { describePke, pkePlot } from "./pke-from-pan-privacy-finding.ts";

const SMALL: PkeSize = {
  lethe: [{ counter: { scheme: "lattice", ticks: 2, localEpsilon: 6 }, message: "H" }],
  byClients: { clients: [1, 3], inAll: 30 },
  smallSpace: {
    message: "H",
    epsilon: 0.9,
    ticks: 4,
    byClients: { clients: [1, 101], inAll: 2000 },
    byTicks: [4, 16, 64],
  },
};

describe("pke-from-pan-privacy", () => {
  const random = seededRandomnessForTests("pke experiment");
  const result = runPkeFromPanPrivacy(SMALL, { random, progress: () => {} });

  // Each of both messages comes out but with probability 1e-9.
  it("recovers the message", () => {
    expect(result).toMatchObject({ messageRecovered: true, bitErrors: 0, bits: 8 });
    expect(result.byClients.map(({ clients, bits }) => [clients, bits])).toEqual([
      [1, 30],
      [3, 10],
    ]);
    expect(result.smallSpace.transmission.messageRecovered).toBe(true);
  });

  it("finds that a counter without cryptography cannot both be read and hide", () => {
    for (const { distance, distanceBound, ciphertextDistanceBound } of result.smallSpace.byTicks) {
      expect(distance).toBeLessThan(distanceBound);
      expect(ciphertextDistanceBound).toBeGreaterThan(1);
    }
    const [short, , long] = result.smallSpace.byTicks;
    expect(long?.distance).toBeLessThan(short?.distance as number);
    expect(long?.clients).toBeGreaterThan(short?.clients as number);
  });

  it("says what it found, also if the claim fails", () => {
    expect(describePke(result).reading).toContain("“H” came out whole; a made-up private key reads nothing of it");
    const [sent] = result.counters;
    const guessing = { bitErrors: 7, bits: 16, advantage: 0.125 };
    expect(describePke({ ...result, counters: [{ ...sent, withoutKey: guessing }] }).reading).toContain(
      "a made-up private key has an advantage of 0.125 in 16 bits",
    );
    const broken: PkeResult = {
      ...result,
      counters: [{ ...sent, bitErrors: 3, withoutKey: { bitErrors: 0, bits: 16, advantage: 1 } }],
    };
    expect(describePke(broken).reading).toContain(
      "did NOT come out: 3 of 8 bits are wrong; but a made-up private key READS it",
    );
  });

  it("has a table with as many cells as columns, and a picture of finite points", () => {
    const { tables } = describePke(result);
    for (const { columns, rows } of tables) for (const row of rows) expect(row).toHaveLength(columns.length);
    for (const { points } of pkePlot(result).lines) expect(points.flat().every(Number.isFinite)).toBe(true);
  });
});
