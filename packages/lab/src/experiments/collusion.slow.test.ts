import { seededRandomnessForTests } from "@lethe/core/randomness";
import { expect, it } from "vitest";
import { inAllThreads } from "../../dist/collusion/match.js";
import { DEFAULT_SIZE } from "../../dist/collusion/verdict.js";
// Threads are started from what was built.
import { runCollusion } from "../../dist/experiments/collusion.js";

const HOURS_MS = 3_600_000;

/** Four times as many rounds of an occurrence as are published, and more of the others. All intervals of the mode fail together with probability 1e-6. */
it("with 40,000 rounds of an occurrence, and 10,000 of each other statistic, colluders learn nothing", {
  timeout: 3 * HOURS_MS,
}, async () => {
  let told = -1;
  const progress = (share: number): void => {
    if (Math.floor(100 * share) === told) return;
    told = Math.floor(100 * share);
    process.stderr.write(`collusion … ${told}%\n`);
  };
  const rounds = { occurrence: 40_000, histogram: 10_000, choice: 10_000, funnel: 10_000 };
  const result = await runCollusion(
    { ...DEFAULT_SIZE, rounds, familyLevel: 1e-6 },
    { random: seededRandomnessForTests("slow collusion"), progress },
    inAllThreads,
  );
  expect(result.games.filter(({ low, high }) => low > 0 || high < 0)).toEqual([]);
  expect(result.controls.map(({ caught }) => caught)).toEqual(result.controls.map(() => true));
});
