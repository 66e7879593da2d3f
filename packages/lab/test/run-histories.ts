import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Found, FoundBug } from "./histories/command.ts";

const SCRIPT = fileURLToPath(new URL("../../../scripts/histories.js", import.meta.url));

/** Runs histories in a separate process, whose platform the simulator takes over. */
export function runHistories(...options: readonly string[]): Promise<Found> {
  return runSimulator<Found>(["--json", ...options]);
}

/** Looks for some bugs, each in `most` histories. */
export function findPlanted(bugs: readonly string[], most: number): Promise<readonly FoundBug[]> {
  return runSimulator([...bugs.flatMap((bug) => ["--planted", bug]), "--count", `${most}`]);
}

/** Looks for every bug, from the first history on. */
export function runEveryBug(most: number): Promise<readonly FoundBug[]> {
  return runSimulator(["--every-bug", "--count", `${most}`]);
}

async function runSimulator<T>(options: readonly string[]): Promise<T> {
  const run = promisify(execFile)(process.execPath, [SCRIPT, ...options], { maxBuffer: 1 << 26 });
  // It ends with 1 if a history fails, and still prints what it found.
  const { stdout, stderr } = await run.catch((error: { stdout: string; stderr: string }) => error);
  try {
    return JSON.parse(stdout) as T;
  } catch {
    throw new Error(`the simulator ended without a result: ${stderr.slice(-2000)}`);
  }
}

/** What a failing run says, for people; undefined if no history fails. */
export function failureOf({ failed }: Found): string | undefined {
  if (!failed) return undefined;
  const rules = failed.violations.map(({ rule, detail }) => `${rule}: ${detail}`);
  return [
    `the history of seed ${failed.seed} fails:`,
    ...rules,
    `again: ${failed.command}`,
    JSON.stringify(failed.smallest),
  ].join("\n");
}
