import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import { temporaryFolder } from "../../test/file-store-folder.ts";
import { type StoreProcess, startStoreProcess, TAKE_LOCK } from "../../test/file-store-process.ts";
import type { Store } from "../store/store.ts";
import { fileStore } from "./file-store.ts";

const FOREVER = new AbortController().signal;
const bytes = (length: number, value: number): Uint8Array => new Uint8Array(length).fill(value);
/** Vitest takes seconds to compare large arrays. */
const isSame = (found: Uint8Array | undefined, expected: Uint8Array): boolean =>
  found?.constructor === Uint8Array && Buffer.from(found).equals(expected);
const namesIn = (folder: string): string[] => readdirSync(folder).toSorted();

/** A store whose lock is held until the test ends. */
async function lockedStore(folder: string): Promise<Store> {
  const store = fileStore(folder);
  const release = await store.lock(FOREVER);
  if (!release) throw new TypeError("it is held");
  onTestFinished(() => release().catch(() => undefined));
  return store;
}

/** It ends with the test. */
function start(folder: string, program: string, ...inside: string[]): StoreProcess {
  const process = startStoreProcess(folder, program, ...inside);
  onTestFinished(() => process.kill());
  return process;
}

describe("a record", () => {
  it.each([0, 1, 4096, 100_000])("of %i bytes is loaded as it was saved, by the next one as well", async (length) => {
    const folder = join(temporaryFolder(), "store");
    const first = fileStore(folder);
    const release = await first.lock(FOREVER);
    expect(await first.load()).toBeUndefined();
    let record = new Uint8Array();
    for (const durable of [false, true, false]) {
      record = new Uint8Array(randomBytes(length));
      await first.save(record, { durable });
      expect(isSame(await first.load(), record)).toBe(true);
    }
    await release?.();
    await first.close();
    expect(isSame(await (await lockedStore(folder)).load(), record)).toBe(true);
  });

  it("is in its file, byte for byte, when the call returns; the last of several stays", async () => {
    const folder = temporaryFolder();
    const store = await lockedStore(folder);
    const saves = [1, 2, 3].map((value) => {
      const saved = store.save(bytes(100, value), { durable: false });
      expect(new Uint8Array(readFileSync(join(folder, "record")))).toStrictEqual(bytes(100, value));
      return saved;
    });
    await Promise.all(saves);
    expect(namesIn(folder)).toEqual(["lock", "record"]);
  });

  it("may be changed by the caller once the call has returned, and once it was loaded", async () => {
    const store = await lockedStore(temporaryFolder());
    const record = bytes(100, 1);
    const saved = store.save(record, { durable: true });
    record.fill(2);
    await saved;
    (await store.load())?.fill(3);
    expect(await store.load()).toStrictEqual(bytes(100, 1));
  });

  it("can be saved while a process exits", async () => {
    const folder = temporaryFolder();
    const { ended } = start(
      folder,
      `${TAKE_LOCK}
      process.on("exit", () => void store.save(new Uint8Array(100).fill(9), { durable: true }));`,
    );
    expect(await ended).toBe(0);
    expect(await (await lockedStore(folder)).load()).toStrictEqual(bytes(100, 9));
  });

  it("is open to its user only, as is the folder that is made for it", async () => {
    const folder = join(temporaryFolder(), "a", "b");
    const store = await lockedStore(folder);
    await store.save(bytes(10, 1), { durable: false });
    const mode = (path: string): number => statSync(path).mode & 0o777;
    expect([mode(folder), mode(join(folder, "record")), mode(join(folder, "lock"))]).toEqual([0o700, 0o600, 0o600]);
  });

  it("is gone when it was wiped, and nothing but the lock is left", async () => {
    const folder = temporaryFolder();
    const store = await lockedStore(folder);
    await store.save(bytes(10, 1), { durable: true });
    writeFileSync(join(folder, "record.new"), "half");
    await store.wipe();
    expect(namesIn(folder)).toEqual(["lock"]);
    expect(await store.load()).toBeUndefined();
    await store.wipe();
    await store.save(bytes(10, 2), { durable: true });
    expect(await store.load()).toStrictEqual(bytes(10, 2));
  });

  it("stays where it was when the program goes to another folder", async () => {
    const folder = temporaryFolder();
    const { line } = start(
      folder,
      `process.chdir(folder);
      const store = fileStore("here");
      process.chdir("/");
      await store.lock(new AbortController().signal);
      await store.save(new Uint8Array(1), { durable: false });
      console.log("saved");`,
    );
    expect(await line()).toBe("saved");
    expect(existsSync(join(folder, "here", "record"))).toBe(true);
  });
});

it("killed before any of its file operations, a save leaves the old record or the new one", async () => {
  const found: (number | undefined)[] = [];
  for (let killed = 0, outcome: unknown; outcome !== "saved"; killed++) {
    const folder = temporaryFolder();
    const { line, ended } = start(
      folder,
      `import fs from "node:fs";
      import { syncBuiltinESMExports } from "node:module";
      ${TAKE_LOCK}
      await store.save(new Uint8Array(50_000).fill(1), { durable: true });
      let left = ${killed};
      for (const name of Object.keys(fs).filter((name) => name.endsWith("Sync"))) {
        const real = fs[name];
        fs[name] = (...args) => (left-- > 0 ? real(...args) : process.kill(process.pid, "SIGKILL"));
      }
      syncBuiltinESMExports();
      await store.save(new Uint8Array(50_000).fill(2), { durable: true });
      process.stdout.write("saved\\n", () => process.exit());`,
    );
    expect(await line()).toBe("taken");
    outcome = await line();
    await ended;
    const store = await lockedStore(folder);
    expect(namesIn(folder)).toEqual(["lock", "record"]);
    const record = await store.load();
    found.push(record?.[0]);
    expect(isSame(record, bytes(50_000, record?.[0] ?? 0))).toBe(true);
  }
  // Old, until the rename; then new.
  expect(found).toEqual(found.toSorted());
  expect(new Set(found)).toEqual(new Set([1, 2]));
  expect(found.length).toBeGreaterThan(7);
});

describe("of two processes", () => {
  it("the second waits, and takes over what the first saved once that is killed", async () => {
    const folder = temporaryFolder();
    const first = start(
      folder,
      `${TAKE_LOCK}
      await store.save(new Uint8Array(100).fill(5), { durable: false });
      console.log("saved");
      process.stdin.resume();`,
    );
    expect([await first.line(), await first.line()]).toEqual(["taken", "saved"]);
    const second = start(
      folder,
      `process.stdin.resume();
      console.log("waits");
      ${TAKE_LOCK}
      console.log(JSON.stringify([...new Set(await store.load())]));`,
    );
    expect(await second.line()).toBe("waits");
    const next = second.line();
    expect(await Promise.race([next, sleep(1_500, "still waits")])).toBe("still waits");
    await first.kill();
    expect([await next, await second.line()]).toEqual(["taken", "[5]"]);
  });

  it("the second takes over when the first lets go", async () => {
    const folder = temporaryFolder();
    const release = await fileStore(folder).lock(FOREVER);
    const second = fileStore(folder).lock(FOREVER);
    expect(await Promise.race([second, sleep(100, "waits")])).toBe("waits");
    await release?.();
    const next = await second;
    expect(next).toBeTypeOf("function");
    await next?.();
    expect(namesIn(folder)).toEqual([]);
  });

  // Again, because a busy machine may take half a second for anything.
  it("one that waits gives up at once when its signal is aborted", { retry: 5 }, async () => {
    const folder = temporaryFolder();
    await lockedStore(folder);
    const abort = new AbortController();
    const waiting = fileStore(folder).lock(abort.signal);
    await sleep(50);
    const since = performance.now();
    abort.abort();
    expect(await waiting).toBeUndefined();
    expect(performance.now() - since).toBeLessThan(500);
    expect(await fileStore(join(folder, "none")).lock(abort.signal)).toBeUndefined();
    expect(namesIn(folder)).toEqual(["lock"]);
  });

  it("one that waits and has nothing else to do can end", async () => {
    const folder = temporaryFolder();
    await lockedStore(folder);
    const { ended } = start(folder, "void fileStore(folder).lock(new AbortController().signal);");
    expect(await ended).toBe(0);
  });
});

describe("what cannot be done is a bad store, and the message names the path:", () => {
  const refusal = async (done: Promise<unknown>): Promise<Record<string, unknown>> => {
    const error: unknown = await done.then(
      () => undefined,
      (reason) => reason,
    );
    const { name, code, message, cause } = (error ?? {}) as Record<string, unknown>;
    return { name, code, message, cause: (cause as NodeJS.ErrnoException | undefined)?.code };
  };
  const badStore = (path: string, advice: RegExp, cause?: unknown): Record<string, unknown> => {
    const text = new RegExp(`${path}.*: .*${advice.source}`);
    return { name: "LetheError", code: "bad-store", message: expect.stringMatching(text), cause };
  };

  it.each([
    ["a file instead of the folder", "file", /remove that/, "EEXIST"],
    // Node 20 and 22 say the first, 24 the second.
    ["a file on the way to it", "file/store", /remove that/, expect.stringMatching(/^(ENOTDIR|EEXIST)$/)],
  ])("%s", async (_what, name, advice, cause) => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, "file"), "");
    const path = join(folder, name);
    expect(await refusal(fileStore(path).lock(FOREVER))).toEqual(badStore(path, advice, cause));
  });

  it.skipIf(!existsSync("/proc/self"))("a folder that nobody can make", async () => {
    expect(await refusal(fileStore("/proc/lethe").lock(FOREVER))).toEqual(badStore("/proc/lethe", /stays/, "ENOENT"));
  });

  it("a folder that is gone, or is a file by now", async () => {
    const folder = join(temporaryFolder(), "store");
    const store = await lockedStore(folder);
    await store.save(bytes(10, 1), { durable: true });
    const all = (): Promise<Record<string, unknown>>[] => [
      refusal(store.load()),
      refusal(store.save(bytes(10, 2), { durable: true })),
      refusal(store.wipe()),
    ];
    rmSync(folder, { recursive: true });
    for (const refused of all()) expect(await refused).toEqual(badStore(folder, /folder that stays/, "ENOENT"));
    writeFileSync(folder, "");
    for (const refused of all()) expect(await refused).toEqual(badStore(folder, /remove that/, "ENOTDIR"));
  });

  it("a folder instead of the record, or of the unfinished one", async () => {
    const folder = temporaryFolder();
    const store = await lockedStore(folder);
    const record = join(folder, "record");
    mkdirSync(record);
    expect(await refusal(store.load())).toEqual(badStore(record, /remove it/));
    expect(await refusal(store.save(bytes(10, 1), { durable: false }))).toEqual(
      badStore(folder, /remove that/, "EISDIR"),
    );
    expect(namesIn(folder)).toEqual(["lock", "record"]);

    const other = temporaryFolder();
    mkdirSync(join(other, "record.new"));
    expect(await refusal(fileStore(other).lock(FOREVER))).toEqual(badStore(other, /remove that/, "ERR_FS_EISDIR"));
    expect(namesIn(other)).toEqual(["record.new"]);
  });

  it.each<[string, (path: string) => void]>([
    ["a link", (path) => symlinkSync("/etc/hostname", path)],
    ["a pipe", (path) => expect(spawnSync("mkfifo", [path]).status).toBe(0)],
    [
      "larger than any record",
      (path) => {
        writeFileSync(path, "");
        truncateSync(path, 64 * 2 ** 20 + 1);
      },
    ],
  ])("a record that is %s", async (_what, make) => {
    const folder = temporaryFolder();
    const store = await lockedStore(folder);
    const path = join(folder, "record");
    make(path);
    expect(await refusal(store.load())).toEqual(badStore(path, /use another folder/));
  });

  it("a disk that takes a part of the record and no more: the old one stays, and no half of the new one", async () => {
    const folder = temporaryFolder();
    // Root as well may not write more than this to a file: 64 blocks of 512 or 1,024 bytes.
    const { line } = start(
      folder,
      `${TAKE_LOCK}
      await store.save(new Uint8Array(1_000).fill(1), { durable: true });
      const error = await store.save(new Uint8Array(500_000).fill(2), { durable: true }).catch((error) => error);
      console.log(JSON.stringify({ ...error, message: error.message, cause: error.cause?.code }));`,
      ...["sh", "-c", 'ulimit -f 64; exec "$0" "$@"'],
    );
    expect(await line()).toBe("taken");
    expect(JSON.parse((await line()) ?? "")).toEqual(badStore(folder, /raise its limit/, "EFBIG"));
    expect(namesIn(folder)).toEqual(["lock", "record"]);
    expect(await (await lockedStore(folder)).load()).toStrictEqual(bytes(1_000, 1));
  });
});

it("a caller's mistakes are thrown as such", async () => {
  expect(() => fileStore("")).toThrow(TypeError);
  const store = await lockedStore(temporaryFolder());
  await expect(store.save(new Uint8Array(64 * 2 ** 20 + 1), { durable: false })).rejects.toThrow(RangeError);
});
