import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Found } from "./histories/command.ts";

const SCRIPT = fileURLToPath(new URL("../../../scripts/histories.js", import.meta.url));

/** Runs histories in a process of their own, whose platform the simulator takes over. */
export async function runHistories(...options: readonly string[]): Promise<Found> {
  const run = promisify(execFile)(process.execPath, [SCRIPT, "--json", ...options], { maxBuffer: 1 << 26 });
  // It ends with 1 if a history fails, and still prints what it found.
  const { stdout, stderr } = await run.catch((error: { stdout: string; stderr: string }) => error);
  try {
    return JSON.parse(stdout) as Found;
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
