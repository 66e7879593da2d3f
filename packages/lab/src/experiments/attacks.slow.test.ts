import { randomnessFrom } from "@lethe/core/randomness";
import { expect, it } from "vitest";
import { type AttackFinding, attacks, isAsClaimed } from "./attacks.ts";

it("at full size each attack works without its defence and does not with it", async () => {
  // By chance alone this fails in fewer than one run in 10,000.
  const { json } = await attacks.run({ random: randomnessFrom(globalThis.crypto), progress: () => {} });
  const { attacks: findings } = json as { attacks: readonly AttackFinding[] };
  expect(findings).toHaveLength(4);
  for (const finding of findings) {
    expect(isAsClaimed(finding), JSON.stringify(finding)).toBe(true);
    expect(finding.withDefence.trials).toBeGreaterThanOrEqual(400);
  }
});
