import { rmSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { copyEmptyDatabase, unownedFolder } from "../../server/test/folder.ts";
import { startWorkers, type Workers } from "../test/fuzz/processes.ts";
import { REGISTRY } from "../test/fuzz/registry.ts";
import { commandFor, SEED, tableOf } from "../test/fuzz/report.ts";
import type { RunResult } from "../test/fuzz/run.ts";

/*
 * The long version of `fuzz.fault.test.ts`: a million inputs for each decoder. LETHE_FUZZ_INPUTS sets another number, LETHE_FUZZ_ONLY a
 * part of the targets' names, LETHE_FUZZ_PROCESSES how many run at once.
 */
const INPUTS = Number(process.env.LETHE_FUZZ_INPUTS ?? 1e6);
const PROCESSES = Number(process.env.LETHE_FUZZ_PROCESSES ?? availableParallelism());
const ONLY = process.env.LETHE_FUZZ_ONLY ?? "";
/** A process that crashes loses this many inputs at most. */
const PART = 100_000;
const PATIENCE_MS = 24 * 3_600_000;

const names = REGISTRY.flatMap((group) => group.names).filter((name) => name.includes(ONLY));
const done: RunResult[] = [];
const folder = unownedFolder();
let workers: Workers;
beforeAll(async () => {
  const database = join(folder, "data");
  await copyEmptyDatabase(database);
  process.env.LETHE_FUZZ_DATABASE = database;
  workers = await startWorkers(PROCESSES);
});
afterAll(() => {
  workers.stop();
  rmSync(folder, { recursive: true, force: true });
  console.log(tableOf(done));
});

it.concurrent.each(names)(`${INPUTS} inputs for: %s`, { timeout: PATIENCE_MS }, async (target) => {
  let result: RunResult | undefined;
  for (let from = 0; from < INPUTS; from += PART) {
    const part = await workers.run({ target, seed: SEED, from, runs: Math.min(PART, INPUTS - from) });
    result = result ? added(result, part) : part;
    expect(part.failures.map(commandFor)).toEqual([]);
  }
  if (result) done.push(result);
});

function added(one: RunResult, other: RunResult): RunResult {
  return {
    ...one,
    runs: one.runs + other.runs,
    accepted: one.accepted + other.accepted,
    seconds: one.seconds + other.seconds,
    growth: Math.max(one.growth, other.growth),
  };
}
