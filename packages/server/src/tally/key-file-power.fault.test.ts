import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { LetheError } from "@lethe/core/error";
import { encodeBase64url } from "@lethe/core/message";
import { expect, it } from "vitest";
import { type CrashState, everyCrash, withoutSyncs } from "../../../files/test/crash-states.ts";
import { type Operation, type RecordedDisk, recordDisk } from "../../../files/test/recorded-disk.ts";
import { type KeyFile, openKeyFile } from "../../dist/tally/key-file.js";
import { temporaryFolder } from "../../test/folder.ts";

const isKeyFile = (name: string): boolean => !name.includes(".lock");

/** What the file holds after a power failure; undefined if it cannot be used. */
function contentAfter(
  path: string,
  state: CrashState,
): { operator: string; windows: Record<string, string> } | undefined {
  const found = state.get(path);
  if (!found) return undefined;
  try {
    return JSON.parse(new TextDecoder().decode(found));
  } catch {
    return undefined;
  }
}

/** Opens and destroys windows; marks say which secret is promised from then on, and which is destroyed. */
function useWindows(keyFile: KeyFile, disk: RecordedDisk): void {
  disk.mark("opened");
  for (const window of [1, 2, 3]) {
    disk.mark(`has ${window} ${encodeBase64url(keyFile.openWindow("task", window).reveal())}`);
    if (window === 1) continue;
    disk.mark(`destroying ${window - 1}`);
    keyFile.destroyWindow("task", window - 1);
    disk.mark(`destroyed ${window - 1}`);
  }
}

/** What is wrong with a state; undefined if nothing is. */
function problemOf(path: string, marks: readonly string[], state: CrashState, operator: string): string | undefined {
  if (!marks.includes("opened")) return undefined;
  const content = contentAfter(path, state);
  if (!content) return "the key file is gone or damaged";
  if (content.operator !== operator) return "another operator";
  for (const mark of marks) {
    const [what, window, made] = mark.split(" ");
    const now = content.windows[`task/${window}`];
    if (what === "has" && !marks.includes(`destroying ${window}`) && now !== made) return "a secret is lost";
    if (what === "destroyed" && now !== undefined) return "a destroyed secret is back";
  }
  return undefined;
}

function problems(
  path: string,
  operations: readonly Operation[],
  operator: string,
): { states: number; found: string[] } {
  let states = 0;
  const found = new Set<string>();
  for (const { marks, state } of everyCrash(operations)) {
    states++;
    const problem = problemOf(path, marks, state, operator);
    if (problem) found.add(problem);
  }
  return { states, found: [...found] };
}

it("whatever a power failure leaves of a key file can be used, has every secret that was promised, and none that was destroyed", () => {
  const folder = temporaryFolder();
  const path = join(folder, "keys.json");
  const disk = recordDisk(folder, isKeyFile);
  const keyFile = openKeyFile(path);
  useWindows(keyFile, disk);
  const last = [...everyCrash(disk.operations)].at(-1)?.state ?? new Map();
  const operator = contentAfter(path, last)?.operator ?? "";
  const { states, found } = problems(path, disk.operations, operator);
  const planted = (["files", "folders"] as const).map((of) => {
    // Without any sync there would be too many states of all operations together.
    const first = withoutSyncs(disk.operations, of).slice(0, 14);
    return problems(path, first, operator).found;
  });
  console.log(JSON.stringify({ operations: disk.operations.length, states, planted }));
  expect(found).toEqual([]);
  expect(states).toBeGreaterThan(30);
  for (const each of planted) expect(each).not.toEqual([]);
  keyFile.close();
});

it("wherever the disk fails, a key file says so by its name, and what it promises afterwards is on disk", () => {
  let failures = 0;
  for (let skipped = 0; ; skipped++) {
    const folder = temporaryFolder();
    const path = join(folder, "keys.json");
    const disk = recordDisk(folder, isKeyFile);
    const keyFile = openKeyFile(path);
    disk.failAt(skipped, "EIO");
    const tried = (() => {
      try {
        return keyFile.openWindow("task", 1);
      } catch (error) {
        return error;
      }
    })();
    disk.failAt(Number.POSITIVE_INFINITY, "");
    if (tried instanceof Error) {
      failures++;
      expect(tried).toBeInstanceOf(LetheError);
      expect(tried).toMatchObject({ code: "bad-key-file", message: expect.stringContaining(path) });
      expect(tried.message).toMatch(/the disk failed \(EIO\)/);
    }
    disk.mark("opened");
    disk.mark(`has 1 ${encodeBase64url(keyFile.openWindow("task", 1).reveal())}`);
    const [first] = [...everyCrash(disk.operations)].slice(-1);
    const operator = contentAfter(path, first?.state ?? new Map())?.operator ?? "";
    expect(problems(path, disk.operations, operator).found).toEqual([]);
    keyFile.close();
    if (!(tried instanceof Error)) break;
  }
  expect(failures).toBeGreaterThanOrEqual(6);
});

it("a key file on a disk that fails is not taken for a missing or a damaged one", () => {
  const path = join(temporaryFolder(), "keys.json");
  mkdirSync(path);
  chmodSync(path, 0o700);
  // A folder: the system refuses to read it, as it does with a disk that fails.
  expect(() => openKeyFile(path)).toThrow(`the key file ${path} cannot be read: a folder is in the way (EISDIR)`);
  const inTheWay = join(temporaryFolder(), "file");
  writeFileSync(inTheWay, "");
  expect(() => openKeyFile(join(inTheWay, basename(path)))).toThrow(/a file is in the way \(ENOTDIR\)/);
});
