import { expect, it, onTestFinished, vi } from "vitest";
import { Unavailable } from "../storage/database.ts";
import { createGroupCommit, type GroupCommit } from "./group-commit.ts";

/** A group commit for one task, unless another is named. */
function oneTask(...given: Parameters<typeof createGroupCommit<number, number>>): {
  add: (item: number, task?: string) => Promise<number>;
  isBusy: GroupCommit<number, number>["isBusy"];
} {
  const { submit, isBusy } = createGroupCommit<number, number>(...given);
  return { add: (item, task = "one") => submit(item, task), isBusy };
}

/** Remembers the groups; the commit that has been under way longest ends when `finish` is called. */
function slowCommits(): {
  groups: number[][];
  finish: (error?: Error) => void;
  commit: (items: readonly number[]) => Promise<number[]>;
} {
  const groups: number[][] = [];
  const underWay: ((error?: Error) => void)[] = [];
  return {
    groups,
    finish: (error) => underWay.shift()?.(error),
    commit: (items) => {
      groups.push([...items]);
      return new Promise((resolve, reject) => {
        underWay.push((error) => (error ? reject(error) : resolve(items.map((item) => 10 * item))));
      });
    },
  };
}

const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5));
it("what comes while a commit is under way is committed together, and each gets its own result", async () => {
  const { groups, finish, commit } = slowCommits();
  const { add } = oneTask(commit);
  const first = [add(1), add(2)];
  await turn();
  const later = [add(3), add(4), add(5)];
  await turn();
  expect(groups).toEqual([[1, 2]]);
  finish();
  expect(await Promise.all(first)).toEqual([10, 20]);
  await turn();
  expect(groups).toEqual([
    [1, 2],
    [3, 4, 5],
  ]);
  finish();
  expect(await Promise.all(later)).toEqual([30, 40, 50]);
});

it("a second group is handed over while the first is stored, if it is large enough, and no third", async () => {
  const { groups, finish, commit } = slowCommits();
  const { add: submit } = oneTask(commit);
  const add = (items: number): Promise<number[]> => Promise.all(Array.from({ length: items }, (_, i) => submit(i)));
  const sizes = (): number[] => groups.map(({ length }) => length);
  const all = [add(1)];
  await turn();
  all.push(add(63));
  await turn();
  expect(sizes()).toEqual([1]);
  all.push(add(1));
  await turn();
  expect(sizes()).toEqual([1, 64]);
  all.push(add(100));
  await turn();
  expect(sizes()).toEqual([1, 64]);
  finish();
  await turn();
  expect(sizes()).toEqual([1, 64, 100]);
  finish();
  finish();
  await Promise.all(all);
});

it("is busy while many wait, and no longer a while after they are done", async () => {
  const { finish, commit } = slowCommits();
  const { add, isBusy } = oneTask(commit);
  const first = add(0);
  await turn();
  expect(isBusy()).toBe(false);
  const many = Array.from({ length: 100 }, (_, i) => add(i));
  expect(isBusy()).toBe(true);
  finish();
  await first;
  await turn();
  finish();
  await Promise.all(many);
  expect(isBusy()).toBe(true);
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(isBusy()).toBe(false);
});

it("a single one waits for nobody", async () => {
  const { add } = oneTask(async (items) => items.map((item) => -item));
  expect(await add(7)).toBe(-7);
  expect(await add(8)).toBe(-8);
});

it("a commit that fails fails its group only", async () => {
  const { groups, finish, commit } = slowCommits();
  const { add } = oneTask(commit);
  const failing = [add(1), add(2)].map((result) => result.catch((error: Error) => error.message));
  await turn();
  const fine = add(3);
  finish(new Error("the disk is full"));
  expect(await Promise.all(failing)).toEqual(["the disk is full", "the disk is full"]);
  await turn();
  finish();
  expect(await fine).toBe(30);
  expect(groups).toEqual([[1, 2], [3]]);
});

it("no transaction grows without bound, and none is lost", async () => {
  const groups: number[] = [];
  const { add } = oneTask(async (items) => {
    groups.push(items.length);
    return items.map((item) => item + 1);
  });
  const results = await Promise.all(Array.from({ length: 2345 }, (_, i) => add(i)));
  expect(results).toEqual(Array.from({ length: 2345 }, (_, i) => i + 1));
  expect(Math.max(...groups)).toBeLessThanOrEqual(500);
  expect(groups.reduce((sum, size) => sum + size, 0)).toBe(2345);
});

it("a task with little waits for one group of a task with much, and two with much take turns", async () => {
  const { groups, finish, commit } = slowCommits();
  const { add } = oneTask(commit);
  const all = Array.from({ length: 1000 }, () => add(1, "flood"));
  await turn();
  all.push(add(2, "small"), ...Array.from({ length: 1000 }, () => add(3, "other flood")), add(2, "small"));
  while (groups.flat().length < all.length) {
    finish();
    await turn();
  }
  finish();
  finish();
  await Promise.all(all);
  /** How many items of each task a group has, in the order of their first turns. */
  const tasks = groups.map((group) =>
    [...new Set(group)].map((task) => [task, group.filter((i) => i === task).length]),
  );
  // Two groups were on their way when the others came.
  expect(tasks.slice(0, 2)).toEqual([[[1, 256]], [[1, 256]]]);
  expect(tasks.slice(2, 4)).toEqual([
    [[1, 256]],
    [
      [2, 2],
      [3, 254],
    ],
  ]);
  expect(tasks.slice(4, 6)).toEqual([
    [
      [1, 232],
      [3, 24],
    ],
    [[3, 256]],
  ]);
});

it("what waits for ten seconds is refused as unavailable and never committed, and the next one is", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  onTestFinished(() => void vi.useRealTimers());
  const { groups, finish, commit } = slowCommits();
  const { add } = oneTask(commit);
  const first = add(1);
  await new Promise((resolve) => setImmediate(resolve));
  const late = [add(2), add(3, "another")].map((result) => result.catch((error: unknown) => error));
  vi.advanceTimersByTime(9000);
  const inTime = add(4);
  vi.advanceTimersByTime(2000);
  for (const refusal of await Promise.all(late)) expect(refusal).toBeInstanceOf(Unavailable);
  finish();
  expect(await first).toBe(10);
  await new Promise((resolve) => setImmediate(resolve));
  finish();
  expect(await inTime).toBe(40);
  expect(groups).toEqual([[1], [4]]);
  expect(vi.getTimerCount()).toBeLessThanOrEqual(1);
  vi.advanceTimersByTime(10_000);
  expect(vi.getTimerCount()).toBe(0);
});

it("a group holds at most eight million bytes, but a single one of any size", async () => {
  const { groups, finish, commit } = slowCommits();
  const { add } = oneTask(commit, (item) => 1e6 * item);
  const all = [1, 3, 4, 2, 20, 5].map((item) => add(item));
  for (let i = 0; i < 4; i++) {
    await turn();
    finish();
  }
  await Promise.all(all);
  expect(groups).toEqual([[1, 3, 4], [2], [20], [5]]);
});
