import { LetheError } from "@lethe/core/error";
import type { HeldLock, Lock } from "@lethe/files";
import { expect, it, vi } from "vitest";
import { temporaryFolder } from "../../test/file-store-folder.ts";
import { fileStore } from "./file-store.ts";

const time = vi.hoisted(() => ({ now: 0, found: [] as (HeldLock | undefined)[] }));

// What each look at the lock file finds, as long as something is planned; then it is free.
vi.mock("@lethe/files", async (importOriginal) => ({
  ...(await importOriginal<object>()),
  takeLock: (): Lock | HeldLock => time.found.shift() ?? { release: () => undefined },
}));
vi.mock("node:timers/promises", () => ({
  setTimeout: async (milliseconds: number) => {
    time.now += milliseconds;
  },
}));

const RUNNING: HeldLock = { heldBy: "process 12" };
const KILLED: HeldLock = { ...RUNNING, isEnding: true };

/** Waits until the lock is free; what was reported meanwhile, and after how many milliseconds. */
async function waitFor(...found: HeldLock[]): Promise<[at: number, problem: LetheError][]> {
  [time.now, time.found] = [0, found];
  const problems: [number, LetheError][] = [];
  const folder = temporaryFolder();
  const release = await fileStore(folder).lock(new AbortController().signal, undefined, (problem) => {
    expect(problem.message).toContain(folder);
    problems.push([time.now, problem]);
  });
  await release?.();
  return problems;
}

it("a process that was killed and takes 20 s to end is waited for without a word", async () => {
  expect(await waitFor(...new Array<HeldLock>(400).fill(KILLED))).toEqual([]);
});

it("a process that ends within 200 ms is waited for without a word", async () => {
  expect(await waitFor(RUNNING, RUNNING, KILLED, KILLED)).toEqual([]);
});

it("a process that keeps the lock is reported once, by its number", async () => {
  const problems = await waitFor(...new Array<HeldLock>(20).fill(RUNNING));
  expect(problems).toEqual([[200, expect.any(LetheError)]]);
  expect(problems[0]?.[1]).toMatchObject({
    code: "bad-store",
    message: expect.stringMatching(/^process 12 writes to .*: events are dropped here until it ends$/),
  });
});

it("a process that was killed and has not ended after 30 s is reported", async () => {
  const problems = await waitFor(...new Array<HeldLock>(700).fill(KILLED));
  expect(problems.map(([at]) => at)).toEqual([599 * 50]);
});
