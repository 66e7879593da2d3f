import { describe, expect, it } from "vitest";
import { huntByMutation } from "../test/fuzz/contest.ts";
import { BUGS, plantedTarget, RARE_BUGS } from "../test/fuzz/planted.ts";
import { run } from "../test/fuzz/run.ts";

/*
 * Whether the mutations of `fuzz.fault.test.ts` find bugs of the kinds that decoders have. docs/fuzzing.md compares them with fast-check
 * and with Jazzer.js.
 */

const MOST = 300_000;
const SEED = 1;

describe("a planted bug is found", () => {
  // The others take about a minute: `fuzz-planted.slow.test.ts`.
  it.each(BUGS.filter((bug) => !RARE_BUGS.includes(bug)))("%s", async (bug) => {
    const { inputs } = await huntByMutation(bug, MOST, SEED);
    expect(inputs).toBeLessThan(MOST);
  });
});

describe("the same decoder without the bug passes", () => {
  it.each(["off by one", "non-canonical encoding", "prototype lookup", "quadratic loop"] as const)(
    "%s",
    async (bug) => {
      const { failures, accepted } = await run(plantedTarget(bug, false), { seed: SEED, from: 0, runs: 3000 });
      expect(failures).toEqual([]);
      expect(accepted).toBeGreaterThan(0);
    },
  );
});
