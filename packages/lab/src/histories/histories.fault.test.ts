import { expect, it } from "vitest";
import { testDatabases } from "../../../server/test/postgres.ts";
import { BUGS } from "../../test/histories/bugs.ts";
import { failureOf, runHistories, runPlanted } from "../../test/run-histories.ts";

it("a hundred histories with faults break no rule", async () => {
  const found = await runHistories("--count", "100");
  console.log(
    `${found.histories} histories in ${found.seconds} s, ${(found.histories / found.seconds).toFixed(2)} per second`,
  );
  expect(failureOf(found)).toBeUndefined();
  expect(found.histories).toBe(100);
  // Not vacuous: reports are acknowledged, and things go wrong.
  expect(found.acknowledged).toBeGreaterThan(200);
  const kinds = new Set(Object.keys(found.faults).map((label) => label.split(" / ")[0]));
  const expected = ["killed", "stalled", "request lost", "answer lost", "request twice", "stranger", "commit unknown"];
  expect(expected.filter((kind) => !kinds.has(kind))).toEqual([]);
});

it("a seed decides everything, to the last statement and request", async () => {
  const found = await runHistories("--from", "1000", "--count", "4", "--twice");
  expect(failureOf(found)).toBeUndefined();
  expect(found.histories).toBe(4);
});

it("histories on PostgreSQL break no rule", async () => {
  const databases = await testDatabases();
  try {
    const urls = [await databases.createDatabase(), await databases.createDatabase()];
    const found = await runHistories("--count", "6", ...urls.flatMap((url) => ["--database", url]));
    expect(failureOf(found)).toBeUndefined();
    expect(found.acknowledged).toBeGreaterThan(0);
  } finally {
    await databases.close();
  }
});

/** A history that finds each bug; histories.slow.test.ts looks for them from seed 1 on. */
const FOUND_BY: Readonly<Record<string, number>> = {
  "an unchecked lease": 22,
  "a release without its lock": 6,
  "a reused nonce": 1,
  "a write triggered by an event": 4,
  "a token that is not compared": 2,
  "a retry with fresh bytes": 1,
  "a window closed twice": 2,
  "a seal that is not synced": 1,
  "a share counted at one server only": 45,
  "a secret that is not erased": 1,
};

it("each of ten planted bugs is found, and without it the same history breaks no rule", async () => {
  expect(Object.keys(FOUND_BY).sort()).toEqual(BUGS.map(({ name }) => name).sort());
  const found = await runPlanted(FOUND_BY);
  expect(found.filter(({ rule }) => rule === undefined)).toEqual([]);
  // The others are among the hundred above.
  expect(Object.values(FOUND_BY).every((seed) => seed <= 100)).toBe(true);
});
