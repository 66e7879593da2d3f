import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { temporaryFolder } from "../test/folder.ts";
import { createFile, removeUnfinished, replaceFile, syncFolder } from "./replace-file.ts";

const disk = vi.hoisted(() => ({ calls: [] as string[], failing: "" }));

// Notes the operations that a power failure tells apart, and lets one of them fail.
vi.mock("node:fs", async (importOriginal) => {
  const actual = await importOriginal<typeof import("node:fs")>();
  const watched = (["fsyncSync", "renameSync", "linkSync", "writeFileSync"] as const).map((name) => [
    name,
    (...args: unknown[]) => {
      disk.calls.push(name === "fsyncSync" && actual.fstatSync(args[0] as number).isDirectory() ? "sync folder" : name);
      if (disk.failing === name) throw Object.assign(new Error("ENOSPC"), { code: "ENOSPC" });
      return (actual[name] as (...args: unknown[]) => unknown)(...args);
    },
  ]);
  return { ...actual, ...Object.fromEntries(watched) };
});

/** What is done on disk, in order. */
function callsOf(act: () => void): string[] {
  disk.calls = [];
  act();
  return disk.calls;
}

function failAt(name: string): void {
  disk.failing = name;
  onTestFinished(() => {
    disk.failing = "";
  });
}

const fileIn = (folder: string): string => join(folder, "file");
const textOf = (folder: string): string => readFileSync(fileIn(folder), "utf8");

describe("replaceFile", () => {
  it("creates a file or replaces it, for this user alone, and leaves no other", () => {
    const folder = temporaryFolder();
    replaceFile(fileIn(folder), "old", { durable: false });
    expect(textOf(folder)).toBe("old");
    replaceFile(fileIn(folder), new TextEncoder().encode("new"), { durable: true });
    expect(textOf(folder)).toBe("new");
    expect(readdirSync(folder)).toEqual(["file"]);
    expect(statSync(fileIn(folder)).mode & 0o777).toBe(0o600);
  });

  it("has the content on disk before it gets its name, and with `durable` the name as well", () => {
    const path = fileIn(temporaryFolder());
    const steps = ["writeFileSync", "fsyncSync", "renameSync"];
    expect(callsOf(() => replaceFile(path, "x", { durable: false }))).toEqual(steps);
    expect(callsOf(() => replaceFile(path, "y", { durable: true }))).toEqual([...steps, "sync folder"]);
  });

  it.each(["writeFileSync", "fsyncSync", "renameSync"])("leaves the old content if %s fails", (name) => {
    const folder = temporaryFolder();
    replaceFile(fileIn(folder), "old", { durable: false });
    failAt(name);
    expect(() => replaceFile(fileIn(folder), "new", { durable: true })).toThrow("ENOSPC");
    expect(textOf(folder)).toBe("old");
    expect(readdirSync(folder)).toEqual(["file"]);
  });

  it("asks before it replaces: a refusal leaves the old content", () => {
    const folder = temporaryFolder();
    replaceFile(fileIn(folder), "old", { durable: false });
    const confirm = vi.fn((unfinished: string) => {
      expect([readFileSync(unfinished, "utf8"), textOf(folder)]).toEqual(["new", "old"]);
      throw new Error("refused");
    });
    expect(() => replaceFile(fileIn(folder), "new", { durable: true, confirm })).toThrow("refused");
    expect(confirm).toHaveBeenCalledOnce();
    expect(textOf(folder)).toBe("old");
    expect(readdirSync(folder)).toEqual(["file"]);
  });

  it("does not use what a killed process left, even if others could read that", () => {
    const folder = temporaryFolder();
    writeFileSync(`${fileIn(folder)}.new`, "half", { mode: 0o644 });
    replaceFile(fileIn(folder), "whole", { durable: false });
    expect(textOf(folder)).toBe("whole");
    expect(statSync(fileIn(folder)).mode & 0o777).toBe(0o600);
  });
});

describe("createFile", () => {
  it("creates a file with everything on disk, for this user alone", () => {
    const folder = temporaryFolder();
    const steps = ["writeFileSync", "fsyncSync", "linkSync", "sync folder"];
    expect(callsOf(() => createFile(fileIn(folder), "text"))).toEqual(steps);
    expect(textOf(folder)).toBe("text");
    expect(statSync(fileIn(folder)).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder)).toEqual(["file"]);
  });

  it("never replaces a file", () => {
    const folder = temporaryFolder();
    writeFileSync(fileIn(folder), "old");
    expect(() => createFile(fileIn(folder), "new")).toThrow(expect.objectContaining({ code: "EEXIST" }));
    expect(textOf(folder)).toBe("old");
    expect(readdirSync(folder)).toEqual(["file"]);
  });

  it.each(["writeFileSync", "fsyncSync", "linkSync"])("leaves no file if %s fails", (name) => {
    const folder = temporaryFolder();
    failAt(name);
    expect(() => createFile(fileIn(folder), "text")).toThrow("ENOSPC");
    expect(readdirSync(folder)).toEqual([]);
  });
});

it("removeUnfinished removes what a killed process left, and nothing else", () => {
  const folder = temporaryFolder();
  writeFileSync(fileIn(folder), "whole");
  writeFileSync(`${fileIn(folder)}.new`, "half");
  removeUnfinished(fileIn(folder));
  removeUnfinished(fileIn(folder));
  expect(readdirSync(folder)).toEqual(["file"]);
});

it("syncFolder syncs a folder, but not on Windows, which cannot", () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "in"));
  expect(callsOf(() => syncFolder(folder))).toEqual(["sync folder"]);
  const { platform } = process;
  onTestFinished(() => void Object.defineProperty(process, "platform", { value: platform }));
  Object.defineProperty(process, "platform", { value: "win32" });
  expect(callsOf(() => syncFolder(folder))).toEqual([]);
});
