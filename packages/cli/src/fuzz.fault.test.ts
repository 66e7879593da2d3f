import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { copyEmptyDatabase, unownedFolder } from "../../server/test/folder.ts";
import { type ListedTarget, startWorkers, type Workers } from "../test/fuzz/processes.ts";
import { REGISTRY } from "../test/fuzz/registry.ts";
import { commandFor, SEED, tableOf } from "../test/fuzz/report.ts";
import type { RunResult } from "../test/fuzz/run.ts";

/*
 * Every decoder and parser of bytes from outside, on inputs that are mutated from valid ones. An input leads to a value or to a named
 * error, in less than a second, with little memory. `fuzz.slow.test.ts` is the long version; docs/fuzzing.md explains both.
 */

const PROCESSES = 2;
const INPUTS = 10_000;

/** Exported functions with such names that read nothing from outside, or that another target runs. */
const NOT_FROM_OUTSIDE: Readonly<Record<string, string>> = {
  readSdk: "a file in our package",
  readConsole: "files in our package",
  readLedgerValue: "a number that was decrypted: `opened report` runs it",
  readOrDraw: "what was decrypted: `opened report` runs it",
  readMetric: "a figure of a service that the benchmark started",
  decodeServerKey: "a key that the lab made",
  readClock: "this machine's clock",
  readPart: "our own database",
  readWindow: "our own database",
  readTallies: "our own database",
  readText: "our own database",
  readColumns: "our own database",
  readRows: "our own database",
};

const folder = unownedFolder();
let workers: Workers;
let targets: readonly ListedTarget[];
beforeAll(async () => {
  const database = join(folder, "data");
  await copyEmptyDatabase(database);
  process.env.LETHE_FUZZ_DATABASE = database;
  workers = await startWorkers(PROCESSES);
  const groups = await Promise.all(REGISTRY.map(({ names: [first = ""] }) => workers.list(first)));
  targets = groups.flat();
});
afterAll(() => {
  workers.stop();
  rmSync(folder, { recursive: true, force: true });
});

describe("the table of decoders", () => {
  it("names every target once", () => {
    expect(targets.map(({ name }) => name)).toEqual(REGISTRY.flatMap(({ names }) => names));
    expect(new Set(targets.map(({ name }) => name)).size).toBe(targets.length);
  });

  it("has every exported function that decodes, parses or reads", () => {
    const packages = fileURLToPath(new URL("../../", import.meta.url));
    const files = readdirSync(packages).flatMap((name) => {
      const below = readdirSync(join(packages, name, "src"), { recursive: true, encoding: "utf8" });
      return below
        .filter((path) => /(?<!\.test|\.d)\.tsx?$/.test(path))
        .map((path) => join(packages, name, "src", path));
    });
    const exported = files.flatMap((path) => {
      const found = readFileSync(path, "utf8").matchAll(
        /^export (?:async )?(?:function|const) ((?:decode|parse|read)\w*)/gm,
      );
      return [...found].map(([, name = ""]) => name);
    });
    expect(exported.length).toBeGreaterThan(40);
    const covered = new Set(targets.flatMap(({ covers }) => covers));
    const missing = exported.filter((name) => !covered.has(name) && !Object.hasOwn(NOT_FROM_OUTSIDE, name));
    expect(missing, "add these to packages/cli/test/fuzz, or to NOT_FROM_OUTSIDE").toEqual([]);
    expect(Object.keys(NOT_FROM_OUTSIDE).filter((name) => covered.has(name) || !exported.includes(name))).toEqual([]);
  });
});

it("mutated inputs lead to values or named errors", async () => {
  const [one, input] = process.env.LETHE_FUZZ?.split("=", 2) ?? [];
  if (one !== undefined && input !== undefined) {
    expect(await workers.tryInput(one, input)).toMatch(/^(accepted|refused)$/);
    return;
  }
  const results: RunResult[] = await Promise.all(
    targets.map(({ name, inCi = INPUTS }) => workers.run({ target: name, seed: SEED, from: 0, runs: inCi })),
  );
  console.log(tableOf(results));
  expect(results.flatMap(({ failures }) => failures.map(commandFor))).toEqual([]);
  // None of the targets refuses everything: then the examples would be wrong.
  expect(results.filter(({ accepted }) => accepted === 0).map(({ target }) => target)).toEqual([]);
});
