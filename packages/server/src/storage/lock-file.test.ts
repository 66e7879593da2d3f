import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect, it, onTestFinished, vi } from "vitest";
import { temporaryFolder } from "../../test/folder.ts";
import { takeLock } from "./lock-file.ts";

const disk = vi.hoisted(() => ({ before: (): void => undefined }));

// Every file operation first lets others have a turn.
vi.mock("node:fs", async (importOriginal) => {
  const actual = await importOriginal<typeof import("node:fs")>();
  const watched = Object.entries(actual).map(([name, value]) => {
    if (!name.endsWith("Sync") || typeof value !== "function") return [name, value];
    return [
      name,
      (...args: unknown[]) => {
        disk.before();
        return (value as (...args: unknown[]) => unknown)(...args);
      },
    ];
  });
  return Object.fromEntries(watched) as typeof actual;
});

const isTaken = (lock: ReturnType<typeof takeLock>): boolean => "release" in lock;
const lockIn = (folder: string): string => join(folder, "lock");
/** Of a process that is no more: numbers go up to 2²² at most. */
const DEAD = JSON.stringify({ pid: 2 ** 22 + 1, started: "1" });

/** Another process that runs a module which sees `takeLock`; it ends with the test. */
function startProcess(program: string): { process: ChildProcess; lines: AsyncIterator<string> } {
  const module = fileURLToPath(new URL("../../dist/storage/lock-file.js", import.meta.url));
  const text = `import { takeLock } from ${JSON.stringify(module)};\n${program}`;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", text], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  return { process: child, lines: createInterface(child.stdout)[Symbol.asyncIterator]() };
}

const holdLock = (path: string): string => `
  const lock = takeLock(${JSON.stringify(path)});
  console.log("release" in lock ? "taken" : "held by " + lock.heldBy);
  process.stdin.resume();`;

it("a lock is held until it is released", () => {
  const path = lockIn(temporaryFolder());
  const first = takeLock(path);
  expect(takeLock(path)).toEqual({ heldBy: process.pid });
  if ("release" in first) first.release();
  expect(isTaken(takeLock(path))).toBe(true);
});

it("a lock tells which process holds it, and leaves no other file", () => {
  const folder = temporaryFolder();
  expect(isTaken(takeLock(lockIn(folder)))).toBe(true);
  takeLock(lockIn(folder));
  expect(readdirSync(folder)).toEqual(["lock"]);
  expect(JSON.parse(readFileSync(lockIn(folder), "utf8"))).toMatchObject({ pid: process.pid });
});

it("releasing twice, or when the file is gone, does no harm", () => {
  const lock = takeLock(lockIn(temporaryFolder()));
  if (!("release" in lock)) throw new TypeError("it is held");
  lock.release();
  expect(() => lock.release()).not.toThrow();
});

it("a lock that a living process holds is held, and free once that process was killed", async () => {
  const path = lockIn(temporaryFolder());
  const { process: child, lines } = startProcess(holdLock(path));
  expect((await lines.next()).value).toBe("taken");
  expect(takeLock(path)).toEqual({ heldBy: child.pid });
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGKILL");
  await ended;
  expect(existsSync(path)).toBe(true);
  expect(isTaken(takeLock(path))).toBe(true);
  expect(takeLock(path)).toEqual({ heldBy: process.pid });
});

it("a lock is free if another process has its owner's number by now", () => {
  const path = lockIn(temporaryFolder());
  writeFileSync(path, JSON.stringify({ pid: process.pid, started: "1" }));
  expect(isTaken(takeLock(path))).toBe(true);
});

it.each([
  "",
  "{",
  "null",
  "[]",
  "12345",
  '"x"',
  "{}",
  '{"pid":"1","started":""}',
  '{"pid":1}',
  '{"pid":0,"started":""}',
  '{"pid":-1,"started":""}',
  '{"pid":1.5,"started":""}',
  '{"pid":1e300,"started":""}',
  "\u0000".repeat(100),
  "x".repeat(100_000),
])("a lock file with garbage in it is free: %j", (text) => {
  const path = lockIn(temporaryFolder());
  writeFileSync(path, text);
  expect(isTaken(takeLock(path))).toBe(true);
});

/** A takes the lock, and between any two of its file operations B, and C within B's or after: who got it? */
function race(folder: string, turns: readonly number[], before: string | undefined): ReturnType<typeof takeLock>[] {
  const path = lockIn(folder);
  if (before !== undefined) writeFileSync(path, before);
  const locks: ReturnType<typeof takeLock>[] = [];
  let operation = 0;
  disk.before = () => {
    if (turns.includes(operation++)) locks.push(takeLock(path));
  };
  try {
    locks.push(takeLock(path));
  } finally {
    disk.before = () => undefined;
  }
  return locks;
}

it.each([
  ["dead", DEAD],
  ["damaged", "{"],
  ["absent", undefined],
])("wherever others come in between, exactly one gets a lock that was %s", (_what, before) => {
  let most = 0;
  for (let first = 0; first < 40; first++) {
    for (let second = first; second < 40; second++) {
      const locks = race(temporaryFolder(), [first, second], before);
      most = Math.max(most, locks.length);
      expect({ first, second, taken: locks.filter(isTaken).length }).toEqual({ first, second, taken: 1 });
    }
  }
  expect(most).toBe(3);
});

it("a process killed anywhere while it takes over a dead lock leaves one that the next can take", async () => {
  const module = fileURLToPath(new URL("../../dist/storage/lock-file.js", import.meta.url));
  let killed = 0;
  for (let outcome: unknown; outcome !== "taken"; killed++) {
    const path = lockIn(temporaryFolder());
    writeFileSync(path, DEAD);
    const { process: child, lines } = startProcess(`
      import fs from "node:fs";
      import { syncBuiltinESMExports } from "node:module";
      const { takeLock: dying } = await import(${JSON.stringify(`${module}?dying`)});
      let left = ${killed};
      for (const name of Object.keys(fs).filter((name) => name.endsWith("Sync"))) {
        const real = fs[name];
        fs[name] = (...args) => (left-- > 0 ? real(...args) : process.kill(process.pid, "SIGKILL"));
      }
      syncBuiltinESMExports();
      const lock = dying(${JSON.stringify(path)});
      process.stdout.write("release" in lock ? "taken\\n" : "held\\n");`);
    const ended = new Promise((resolve) => child.once("exit", resolve));
    outcome = (await lines.next()).value;
    await ended;
    expect(["taken", undefined]).toContain(outcome);
    expect(isTaken(takeLock(path))).toBe(true);
    expect(takeLock(path)).toEqual({ heldBy: process.pid });
  }
  // At each of its operations, until it was left alone.
  expect(killed).toBeGreaterThan(8);
});

it("ten processes that race for dead locks get each of them exactly once", async () => {
  const [folder, rounds] = [temporaryFolder(), 60];
  for (let round = 0; round < rounds; round++) writeFileSync(join(folder, `lock-${round}`), DEAD);
  const processes = Array.from({ length: 10 }, () =>
    startProcess(`
      console.log("ready");
      process.stdin.once("data", (start) => {
        const taken = [];
        for (let round = 0; round < ${rounds}; round++) {
          while (Date.now() < Number(start) + round * 10);
          if ("release" in takeLock(${JSON.stringify(folder)} + "/lock-" + round)) taken.push(round);
        }
        console.log(JSON.stringify(taken));
      });`),
  );
  for (const { lines } of processes) expect((await lines.next()).value).toBe("ready");
  const start = Date.now() + 100;
  for (const { process: child } of processes) child.stdin?.write(String(start));
  const taken = await Promise.all(
    processes.map(async ({ lines }) => JSON.parse((await lines.next()).value) as number[]),
  );
  expect(taken.flat().toSorted((a, b) => a - b)).toEqual(Array.from({ length: rounds }, (_, round) => round));
}, 60_000);
