import { expect, it } from "vitest";
import { failureOf, runHistories } from "../../test/run-histories.ts";

it("a hundred histories with faults break no rule, and their faults reach every state of a window", async () => {
  const found = await runHistories("--count", "100");
  console.log(
    `${found.histories} histories in ${found.seconds} s, ${(found.histories / found.seconds).toFixed(2)} per second`,
  );
  expect(failureOf(found)).toBeUndefined();
  expect(found.histories).toBe(100);
  // Not vacuous: reports are acknowledged, and things go wrong.
  expect(found.acknowledged).toBeGreaterThan(200);
  const faults = Object.keys(found.faults);
  for (const what of [
    "killed",
    "stalled",
    "request lost",
    "answer lost",
    "request twice",
    "stranger",
    "commit unknown",
  ]) {
    expect(faults.filter((label) => label.startsWith(`${what} /`))).not.toEqual([]);
  }
});

it("the same seed gives the same history, to the last statement and request", async () => {
  const found = await runHistories("--from", "1000", "--count", "5", "--twice");
  expect(failureOf(found)).toBeUndefined();
});
