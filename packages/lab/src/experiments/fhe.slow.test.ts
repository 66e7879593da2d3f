import { randomnessFrom } from "@lethe/core/randomness";
import { expect, it } from "vitest";
import { type FheRow, fhe } from "./fhe.ts";

it("with the keys that TFHE needs, an update takes ten times as long as any of Lethe's, and keys are a thousand times as large", async () => {
  const random = randomnessFrom(globalThis.crypto);
  const { json } = await fhe.run({ random, progress: () => {} });
  const { rows } = json as { rows: readonly FheRow[] };
  const lethe = rows.filter(({ system }) => system.startsWith("Lethe"));
  const tfhe = rows.filter(({ system }) => system.startsWith("TFHE"));
  expect([lethe.length, tfhe.length]).toEqual([3, 2]);
  for (const generic of tfhe) {
    expect(generic.correct).toBe(true);
    for (const ours of lethe) {
      expect(generic.updateMicroseconds).toBeGreaterThan(10 * ours.updateMicroseconds);
      expect(generic.keyBytes).toBeGreaterThan(1000 * ours.keyBytes);
    }
  }
});
