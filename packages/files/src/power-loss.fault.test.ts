import { join } from "node:path";
import { expect, it } from "vitest";
import { createFile, replaceFile } from "../dist/index.js";
import { type CrashState, everyCrash, withoutSyncs } from "../test/crash-states.ts";
import { temporaryFolder } from "../test/folder.ts";
import { type Operation, recordDisk } from "../test/recorded-disk.ts";

const VERSIONS = 6;
const contentOf = (version: number): string => String(version).repeat(8);
const isDurable = (version: number): boolean => version % 3 === 0;

/** A file is replaced again and again; marks say when a call began, and when one with `durable` returned. */
function replaceAgainAndAgain(): { readonly path: string; readonly operations: readonly Operation[] } {
  const folder = temporaryFolder();
  const path = join(folder, "file");
  const disk = recordDisk(folder, () => true);
  for (let version = 0; version < VERSIONS; version++) {
    disk.mark(`begun ${version}`);
    replaceFile(path, contentOf(version), { durable: isDurable(version) });
    if (isDurable(version)) disk.mark(`durable ${version}`);
  }
  return { path, operations: disk.operations };
}

/** Whether a state is allowed: a version as a whole, none older than the last durable one. */
function isAllowed(path: string, marks: readonly string[], state: CrashState): boolean {
  const last = (what: string): number =>
    Math.max(-1, ...marks.flatMap((mark) => (mark.startsWith(what) ? [Number(mark.split(" ")[1])] : [])));
  const found = state.get(path);
  const oldest = last("durable");
  if (!found) return oldest < 0;
  const text = new TextDecoder().decode(found);
  const allowed = Array.from({ length: last("begun") - Math.max(oldest, 0) + 1 }, (_, i) => Math.max(oldest, 0) + i);
  return allowed.some((version) => contentOf(version) === text);
}

/** How many states there are, and how many of them are not allowed. */
function examine(path: string, operations: readonly Operation[]): { states: number; wrong: number } {
  const counts = { states: 0, wrong: 0 };
  for (const { marks, state } of everyCrash(operations)) {
    counts.states++;
    if (!isAllowed(path, marks, state)) counts.wrong++;
  }
  return counts;
}

it("whatever a power failure leaves of a file that is replaced is a whole version, none before the last durable one", () => {
  const { path, operations } = replaceAgainAndAgain();
  const found = examine(path, operations);
  // The same calls without their syncs, which the same check must find.
  const planted = {
    "no sync of files": examine(path, withoutSyncs(operations, "files")),
    "no sync of folders": examine(path, withoutSyncs(operations, "folders").slice(0, 16)),
  };
  console.log(JSON.stringify({ operations: operations.length, ...found, planted }));
  expect(found.wrong).toBe(0);
  expect(found.states).toBeGreaterThan(100);
  for (const { wrong } of Object.values(planted)) expect(wrong).toBeGreaterThan(0);
});

it("a file that was created outlives a power failure, and is whole or absent before", () => {
  const folder = temporaryFolder();
  const path = join(folder, "file");
  const disk = recordDisk(folder, () => true);
  createFile(path, "the whole text");
  disk.mark("durable 0");
  let absent = 0;
  const isGood = ({ marks, state }: { marks: readonly string[]; state: CrashState }): boolean => {
    const found = state.get(path);
    if (!found) absent++;
    return found ? new TextDecoder().decode(found) === "the whole text" : marks.length === 0;
  };
  expect([...everyCrash(disk.operations)].filter((crash) => !isGood(crash))).toEqual([]);
  expect(absent).toBeGreaterThan(0);
  for (const of of ["files", "folders"] as const) {
    const crashes = [...everyCrash(withoutSyncs(disk.operations, of))];
    expect(crashes.some((crash) => !isGood(crash))).toBe(true);
  }
});

it.each(["EIO", "ENOSPC", "EROFS"])(
  "wherever the disk fails with %s, replacing a file throws, and the next call that returns is durable",
  (code) => {
    for (let skipped = 0; ; skipped++) {
      const folder = temporaryFolder();
      const path = join(folder, "file");
      const disk = recordDisk(folder, () => true);
      disk.mark("begun 0");
      replaceFile(path, contentOf(0), { durable: true });
      disk.mark("durable 0");
      disk.mark("begun 1");
      disk.failAt(skipped, code);
      let failed: unknown;
      try {
        replaceFile(path, contentOf(1), { durable: true });
      } catch (error) {
        failed = error;
      }
      if (failed === undefined) {
        expect(skipped).toBeGreaterThanOrEqual(5);
        return;
      }
      expect(failed).toMatchObject({ code });
      disk.mark("begun 2");
      replaceFile(path, contentOf(2), { durable: true });
      disk.mark("durable 2");
      expect(examine(path, disk.operations).wrong).toBe(0);
    }
  },
);
