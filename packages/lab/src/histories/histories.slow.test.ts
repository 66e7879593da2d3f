import { availableParallelism } from "node:os";
import { expect, it } from "vitest";
import { BUGS } from "../../test/histories/bugs.ts";
import { failureOf, runEveryBug, runHistories } from "../../test/run-histories.ts";

/** Hours, on one processor. */
const PATIENCE_MS = 24 * 3_600_000;
const HISTORIES = 10_000;
const FIRST = 100_000;
const MOST = 1000;

it("ten thousand histories break no rule", { timeout: PATIENCE_MS }, async () => {
  const processes = availableParallelism();
  const each = Math.ceil(HISTORIES / processes);
  const all = await Promise.all(
    Array.from({ length: processes }, (_, i) => runHistories("--from", `${FIRST + i * each}`, "--count", `${each}`)),
  );
  expect(all.map(failureOf).filter((failure) => failure !== undefined)).toEqual([]);
  const faults: Record<string, number> = {};
  for (const found of all) {
    for (const [label, times] of Object.entries(found.faults)) faults[label] = (faults[label] ?? 0) + times;
  }
  const seconds = Math.max(...all.map((found) => found.seconds));
  console.log(`${each * processes} histories in ${seconds} s, ${((each * processes) / seconds).toFixed(2)} per second`);
  console.table(faults);
  expect(all.reduce((sum, { histories }) => sum + histories, 0)).toBeGreaterThanOrEqual(HISTORIES);
});

it("each of ten planted bugs is found within a thousand histories", { timeout: PATIENCE_MS }, async () => {
  const found = await runEveryBug(MOST);
  console.table(found);
  expect(BUGS).toHaveLength(10);
  expect(found.filter(({ rule }) => rule === undefined)).toEqual([]);
  expect(found).toHaveLength(BUGS.length);
});
