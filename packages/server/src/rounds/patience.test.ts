import { expect, it } from "vitest";
import { type Database, DatabaseUnavailable } from "../storage/database.ts";
import { createPatience } from "./patience.ts";

const DATABASE = {} as Database;
const OTHER = {} as Database;
/** Far longer than any test, and hardly any time. */
const [LONG, SHORT] = [3_600_000, 1];

/** Work that ends when the test says so. */
function work(): { start: () => Promise<string>; end: (failure?: Error) => void; starts: () => number } {
  let starts = 0;
  let end: (failure?: Error) => void = () => undefined;
  const start = (): Promise<string> =>
    new Promise((resolve, reject) => {
      starts++;
      end = (failure) => (failure ? reject(failure) : resolve("done"));
    });
  return { start, end: (failure) => end(failure), starts: () => starts };
}

it("work that ends in time has its own result, or its own failure", async () => {
  const { attempt } = createPatience(LONG, LONG);
  expect(await attempt(DATABASE, "count", async () => 7)).toBe(7);
  const failure = new TypeError("of its own");
  await expect(attempt(DATABASE, "count", () => Promise.reject(failure))).rejects.toBe(failure);
});

it("nobody waits longer than the limit, and no second work of the same name begins before the first has ended", async () => {
  const { attempt, settled } = createPatience(SHORT, SHORT);
  const counting = work();
  await expect(attempt(DATABASE, "count", counting.start)).rejects.toThrow(DatabaseUnavailable);
  await expect(attempt(DATABASE, "count", counting.start)).rejects.toThrow("still busy: count");
  expect(counting.starts()).toBe(1);
  // Other work, and another database, go on.
  expect(await attempt(OTHER, "count", async () => "other")).toBe("other");
  counting.end();
  await settled();
  expect(await attempt(DATABASE, "count", async () => "again")).toBe("again");
});

it("after a database was unavailable a round waits for it for a short time only, until it answers", async () => {
  const { attempt, settled } = createPatience(LONG, SHORT);
  const gone = new DatabaseUnavailable("it is gone");
  await expect(attempt(DATABASE, "count", () => Promise.reject(gone))).rejects.toBe(gone);
  const [counting, filling] = [work(), work()];
  await expect(attempt(DATABASE, "count", counting.start)).rejects.toBe(gone);
  await expect(attempt(DATABASE, "keys", filling.start)).rejects.toBe(gone);
  filling.end(gone);
  counting.end();
  await settled();
  // It is trusted again: this waits as long as it takes.
  const slow = work();
  const done = attempt(DATABASE, "count", slow.start);
  setTimeout(slow.end, 20 * SHORT);
  expect(await done).toBe("done");
});

it("what may take long goes on by itself, once", async () => {
  const { begin, attempt, settled } = createPatience(LONG, SHORT);
  const erasing = work();
  const start = async (): Promise<void> => void (await erasing.start());
  await begin(DATABASE, "erase", start);
  await begin(DATABASE, "erase", start);
  expect(erasing.starts()).toBe(1);
  // That it takes long says nothing about the database.
  const slow = work();
  const done = attempt(DATABASE, "count", slow.start);
  setTimeout(slow.end, 20 * SHORT);
  expect(await done).toBe("done");
  erasing.end();
  await settled();
});
