import { seededRandomnessForTests } from "@lethe/core/randomness";
import { expect, it } from "vitest";
// Threads are started from what was built.
import { runIntrusion } from "../../dist/experiments/intrusion.js";
import { inAllThreads } from "../../dist/intrusion/match.js";
import { DEFAULT_SIZE } from "../../dist/intrusion/verdict.js";

const HOURS_MS = 3_600_000;

/**
 * The experiment with an advantage of 0.02 to be seen everywhere: about 130,000 games against each, with ElGamal too,
 * which is 3,000 seconds of processor time. Real devices fail it with probability 1e-3: that much the intervals of the
 * SDK, whose randomness is its own, and of the others may miss.
 */
it("an advantage of 0.02 would be seen with every scheme, and there is none", { timeout: 3 * HOURS_MS }, async () => {
  let told = -1;
  const progress = (share: number): void => {
    if (Math.floor(100 * share) === told) return;
    told = Math.floor(100 * share);
    process.stderr.write(`intrusion … ${told}%\n`);
  };
  const size = { ...DEFAULT_SIZE, detectable: { lattice: 0.02, elgamal: 0.02 }, sdkDetectable: 0.02 };
  const result = await runIntrusion(
    { ...size, familyLevel: 1e-3 },
    { random: seededRandomnessForTests("slow intrusion"), progress },
    inAllThreads,
  );
  expect([...result.games, ...result.sdk].filter(({ low, high }) => low > 0 || high < 0)).toEqual([]);
  expect(result.controls.map(({ caught }) => caught)).toEqual(result.controls.map(() => true));
});
