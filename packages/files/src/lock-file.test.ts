import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { temporaryFolder } from "../test/folder.ts";
import { type Lock, takeLock } from "./lock-file.ts";

const disk = vi.hoisted(() => ({ before: (): void => undefined, stat: undefined as string | undefined }));

// Every file operation first lets others have a turn.
vi.mock("node:fs", async (importOriginal) => {
  const actual = await importOriginal<typeof import("node:fs")>();
  const watched = Object.entries(actual).map(([name, value]) => {
    if (!name.endsWith("Sync") || typeof value !== "function") return [name, value];
    return [
      name,
      (...args: unknown[]) => {
        disk.before();
        if (disk.stat !== undefined && String(args[0]).startsWith("/proc/1/")) return disk.stat;
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

/** Of a process in another container, alive while the file is fresh: number 1 is another process here. */
const ELSEWHERE = JSON.stringify({ pid: 1, started: "1", namespace: "pid:[1]" });
const HELD_ELSEWHERE = { heldBy: expect.stringContaining("process 1 of another container") };

/** As if the lock had last been touched this long ago. */
function age(path: string, seconds: number): void {
  const then = Date.now() / 1000 - seconds;
  utimesSync(path, then, then);
}

/** Another process that runs a module which sees `takeLock`; it ends with the test. */
function startProcess(program: string, ...inside: string[]): { process: ChildProcess; lines: AsyncIterator<string> } {
  const module = fileURLToPath(new URL("../dist/lock-file.js", import.meta.url));
  const text = `import { takeLock } from ${JSON.stringify(module)};\n${program}`;
  const [command = "", ...args] = [...inside, process.execPath, "--input-type=module", "--eval", text];
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
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
  expect(takeLock(path)).toEqual({ heldBy: `process ${process.pid}` });
  if ("release" in first) first.release();
  expect(isTaken(takeLock(path))).toBe(true);
});

it("a lock names the process that holds it, and leaves no other file", () => {
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
  expect(takeLock(path)).toEqual({ heldBy: `process ${child.pid}` });
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGKILL");
  await ended;
  expect(existsSync(path)).toBe(true);
  expect(isTaken(takeLock(path))).toBe(true);
  expect(takeLock(path)).toEqual({ heldBy: `process ${process.pid}` });
});

it("a lock is free if another process has its owner's number by now", () => {
  const path = lockIn(temporaryFolder());
  writeFileSync(path, JSON.stringify({ pid: process.pid, started: "1" }));
  expect(isTaken(takeLock(path))).toBe(true);
});

it("a lock of a process in another container is held while it is fresh, and free when it is stale", () => {
  const path = lockIn(temporaryFolder());
  writeFileSync(path, ELSEWHERE);
  expect(takeLock(path)).toEqual(HELD_ELSEWHERE);
  age(path, 25);
  expect(takeLock(path)).toEqual(HELD_ELSEWHERE);
  age(path, 31);
  expect(isTaken(takeLock(path))).toBe(true);
  expect(takeLock(path)).toEqual({ heldBy: `process ${process.pid}` });
});

it("a dead lock that another container is taking over is held while that claim is fresh", () => {
  const folder = temporaryFolder();
  const path = lockIn(folder);
  writeFileSync(path, DEAD);
  const claim = `${path}.${createHash("sha256").update(DEAD).digest("hex").slice(0, 16)}`;
  writeFileSync(claim, ELSEWHERE);
  expect(takeLock(path)).toEqual(HELD_ELSEWHERE);
  age(claim, 31);
  expect(isTaken(takeLock(path))).toBe(true);
  expect(readdirSync(folder)).toEqual(["lock"]);
});

const NAMESPACE = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"];

/** The first process of a new PID namespace takes the lock; where nobody may create one, it looks as if it had. */
async function holdElsewhere(path: string): Promise<{ kill(): Promise<void> }> {
  const [command = "", ...args] = [...NAMESPACE, "true"];
  if (spawnSync(command, args).status !== 0) {
    writeFileSync(path, ELSEWHERE);
    return { kill: async () => undefined };
  }
  const { process: child, lines } = startProcess(holdLock(path), ...NAMESPACE);
  expect((await lines.next()).value).toBe("taken");
  return {
    kill: async () => {
      const ended = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGKILL");
      await ended;
    },
  };
}

it("a process that is number 1 in its container keeps others out, and 30 s after it was killed no more", async () => {
  const path = lockIn(temporaryFolder());
  const owner = await holdElsewhere(path);
  expect(takeLock(path)).toEqual(HELD_ELSEWHERE);
  await owner.kill();
  expect(takeLock(path)).toEqual(HELD_ELSEWHERE);
  age(path, 31);
  expect(isTaken(takeLock(path))).toBe(true);
});

it("however old its file is, a lock is held by a living process of the same namespace", () => {
  const path = lockIn(temporaryFolder());
  takeLock(path);
  age(path, 1e6);
  expect(takeLock(path)).toEqual({ heldBy: `process ${process.pid}` });
});

it("a lock of an earlier version, without a namespace, is judged by its process alone", () => {
  const path = lockIn(temporaryFolder());
  writeFileSync(path, JSON.stringify({ pid: process.pid, started: "" }));
  age(path, 1e6);
  expect(takeLock(path)).toEqual({ heldBy: `process ${process.pid}` });
  writeFileSync(path, DEAD);
  expect(isTaken(takeLock(path))).toBe(true);
});

describe("while it is held", () => {
  const take = (path: string): Lock => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    onTestFinished(() => void vi.useRealTimers());
    const lock = takeLock(path);
    if (!("release" in lock)) throw new TypeError("it is held");
    return lock;
  };
  const secondsOld = (path: string): number => (Date.now() - statSync(path).mtimeMs) / 1000;

  it("a lock is touched every five seconds, and no more once it is released", () => {
    const path = lockIn(temporaryFolder());
    const lock = take(path);
    for (let i = 0; i < 3; i++) {
      age(path, 100);
      vi.advanceTimersByTime(5_000);
      expect(secondsOld(path)).toBeLessThan(5);
    }
    lock.release();
    expect(existsSync(path)).toBe(false);
    expect(vi.getTimerCount()).toBe(0);
  });

  it.each([
    ["another's", ELSEWHERE],
    ["gone", undefined],
  ])("a lock that is %s by now is neither touched nor removed", (_what, text) => {
    const path = lockIn(temporaryFolder());
    const lock = take(path);
    rmSync(path);
    if (text !== undefined) {
      writeFileSync(path, text);
      age(path, 100);
    }
    vi.advanceTimersByTime(5_000);
    expect(vi.getTimerCount()).toBe(0);
    lock.release();
    expect(existsSync(path)).toBe(text !== undefined);
    if (text !== undefined) expect(secondsOld(path)).toBeGreaterThan(50);
  });
});

it("a lock is free once its owner has ended, though nobody has waited for that process", async () => {
  const path = lockIn(temporaryFolder());
  const program = `console.log("release" in takeLock(${JSON.stringify(path)}), process.pid); setInterval(() => {}, 1e6);`;
  // What `sleep` has not started it does not wait for: its child stays a zombie.
  const { lines } = startProcess(program, "sh", "-c", '"$@" & exec sleep 1000', "sh");
  const [isHeld, pid] = String((await lines.next()).value).split(" ");
  expect(isHeld).toBe("true");
  process.kill(Number(pid), "SIGKILL");
  // A zombie whose other threads are still ending holds the lock a moment longer.
  await vi.waitFor(() => expect(isTaken(takeLock(path))).toBe(true), 10_000);
  expect(readFileSync(`/proc/${pid}/stat`, "utf8")).toContain(") Z ");
});

/** As /proc/1/stat would be, but for these fields: by number, as in proc(5). */
function statWith(fields: Readonly<Record<number, string | number>>): string {
  const all = Array.from({ length: 52 }, (_, i) => fields[i + 1] ?? 0);
  return ["1 (a name) with spaces)", ...all.slice(2)].join(" ");
}

const RUNNING = { 3: "S", 9: 4194560, 20: 11, 22: "7" };
it.each([
  ["runs", {}, { heldBy: "process 1" }],
  ["has SIGTERM pending", { 31: 1 << 14 }, { heldBy: "process 1" }],
  ["has SIGKILL pending", { 31: 1 << 8 }, { heldBy: "process 1", isEnding: true }],
  ["is exiting", { 9: 4194560 | 4, 3: "D" }, { heldBy: "process 1", isEnding: true }],
  ["is a zombie with a thread that ends", { 3: "Z", 20: 2 }, { heldBy: "process 1", isEnding: true }],
  ["is a zombie", { 3: "Z", 20: 1 }, { release: expect.any(Function) }],
  ["began at another time", { 22: "8" }, { release: expect.any(Function) }],
])("a lock whose owner %s", (_what, fields, expected) => {
  const path = lockIn(temporaryFolder());
  writeFileSync(path, JSON.stringify({ pid: 1, started: "7" }));
  disk.stat = statWith({ ...RUNNING, ...fields });
  onTestFinished(() => {
    disk.stat = undefined;
  });
  expect(takeLock(path)).toEqual(expected);
});

it("a process that holds a lock can end by itself", async () => {
  const { process: child } = startProcess(`takeLock(${JSON.stringify(lockIn(temporaryFolder()))});`);
  expect(await new Promise((resolve) => child.once("exit", resolve))).toBe(0);
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
  '{"pid":1,"started":"","namespace":1}',
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
  if (before !== undefined) {
    writeFileSync(path, before);
    age(path, 31);
  }
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
  ["stale", ELSEWHERE],
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
  const module = fileURLToPath(new URL("../dist/lock-file.js", import.meta.url));
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
    expect(takeLock(path)).toEqual({ heldBy: `process ${process.pid}` });
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
