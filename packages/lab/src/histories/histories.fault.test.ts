import { expect, it } from "vitest";
import { testDatabases } from "../../../server/test/postgres.ts";
import { failureOf, findPlanted, runHistories } from "../../test/run-histories.ts";

/** Each takes seconds; histories.slow.test.ts runs ten thousand. */
const HISTORIES = 40;

it(`${HISTORIES} histories with faults break no rule`, async () => {
  const found = await runHistories("--count", `${HISTORIES}`);
  console.log(
    `${found.histories} histories in ${found.seconds} s, ${(found.histories / found.seconds).toFixed(2)} per second`,
  );
  expect(failureOf(found)).toBeUndefined();
  expect(found.histories).toBe(HISTORIES);
  // Not vacuous: reports are acknowledged, and things go wrong.
  expect(found.acknowledged).toBeGreaterThan(2 * HISTORIES);
  const kinds = new Set(Object.keys(found.faults).map((label) => label.split(" / ")[0]));
  const expected = ["killed", "stalled", "request lost", "answer lost", "request twice", "stranger", "commit unknown"];
  expect(expected.filter((kind) => !kinds.has(kind))).toEqual([]);
});

it("a seed decides everything, to the last statement and request", async () => {
  const found = await runHistories("--from", "1000", "--count", "2", "--twice");
  expect(failureOf(found)).toBeUndefined();
  expect(found.histories).toBe(2);
});

it("histories on PostgreSQL break no rule", async () => {
  const databases = await testDatabases();
  try {
    const urls = [await databases.createDatabase(), await databases.createDatabase()];
    const found = await runHistories("--count", "3", ...urls.flatMap((url) => ["--database", url]));
    expect(failureOf(found)).toBeUndefined();
    expect(found.acknowledged).toBeGreaterThan(0);
  } finally {
    await databases.close();
  }
});

/** Those that one of the first histories finds; histories.slow.test.ts looks for all ten. */
const FOUND_SOON = [
  "a reused nonce",
  "a token that is not compared",
  "a retry with fresh bytes",
  "a window closed twice",
  "a seal that is not synced",
  "a secret that is not erased",
];

it("planted bugs are found", async () => {
  const found = await findPlanted(FOUND_SOON, 30);
  console.log(found.map(({ bug, seed, rule }) => `${bug}: history ${seed}, ${rule}`).join("\n"));
  expect(found.filter(({ rule }) => rule === undefined)).toEqual([]);
});
