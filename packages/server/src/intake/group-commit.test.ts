import { expect, it } from "vitest";
import { createGroupCommit } from "./group-commit.ts";

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
  const { submit: add } = createGroupCommit<number, number>(commit);
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
  const { submit } = createGroupCommit<number, number>(commit);
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
  const { submit, isBusy } = createGroupCommit<number, number>(commit);
  const first = submit(0);
  await turn();
  expect(isBusy()).toBe(false);
  const many = Array.from({ length: 100 }, (_, i) => submit(i));
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
  const { submit: add } = createGroupCommit<number, number>(async (items) => items.map((item) => -item));
  expect(await add(7)).toBe(-7);
  expect(await add(8)).toBe(-8);
});

it("a commit that fails fails its group only", async () => {
  const { groups, finish, commit } = slowCommits();
  const { submit: add } = createGroupCommit<number, number>(commit);
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
  const { submit: add } = createGroupCommit<number, number>(async (items) => {
    groups.push(items.length);
    return items.map((item) => item + 1);
  });
  const results = await Promise.all(Array.from({ length: 2345 }, (_, i) => add(i)));
  expect(results).toEqual(Array.from({ length: 2345 }, (_, i) => i + 1));
  expect(Math.max(...groups)).toBeLessThanOrEqual(500);
  expect(groups.reduce((sum, size) => sum + size, 0)).toBe(2345);
});

it("more than can wait are refused as rate-limited, and those that wait are still committed", async () => {
  const { finish, commit } = slowCommits();
  const { submit: add } = createGroupCommit<number, number>(commit);
  const results = Array.from({ length: 20_600 }, (_, i) => add(i).catch((error: { code: string }) => error.code));
  const drain = setInterval(finish, 1);
  const settled = await Promise.all(results);
  clearInterval(drain);
  const refused = settled.filter((result) => result === "rate-limited");
  expect(refused.length).toBeGreaterThan(0);
  expect(refused.length).toBeLessThanOrEqual(600);
  for (const [i, result] of settled.entries()) if (result !== "rate-limited") expect(result).toBe(10 * i);
});

it("a group holds at most eight million bytes, but a single one of any size", async () => {
  const { groups, finish, commit } = slowCommits();
  const { submit } = createGroupCommit<number, number>(commit, (item) => 1e6 * item);
  const all = [1, 3, 4, 2, 20, 5].map((item) => submit(item));
  for (let i = 0; i < 4; i++) {
    await turn();
    finish();
  }
  await Promise.all(all);
  expect(groups).toEqual([[1, 3, 4], [2], [20], [5]]);
});
