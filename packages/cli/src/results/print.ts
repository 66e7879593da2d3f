import type { Pending } from "@lethe/analyst";
import type { ReleaseOrWithheld, Task } from "@lethe/core/message";
import type { Command } from "commander";
import { toCsv } from "./csv.ts";
import { describeOutcome, describePending } from "./text.ts";

/** The options that choose the format of results. */
export interface Format {
  readonly csv?: boolean;
  readonly json?: boolean;
}

/** Ends the command if the user asks for CSV and JSON. */
export function refuseTwoFormats({ csv, json }: Format, command: Command): void {
  if (csv && json) command.error("error: --csv and --json exclude each other");
}

/**
 * Prints a release, or why there is none. CSV goes to stdout; without a release it is a header, and the reason goes to
 * stderr.
 */
export function printOutcome(outcome: ReleaseOrWithheld | Pending, { csv, json }: Format, mode: Task["mode"]): void {
  if (json) console.log(JSON.stringify(outcome));
  else if (csv) {
    process.stdout.write(toCsv(outcome.status === "released" ? outcome : undefined));
    if (outcome.status !== "released") process.stderr.write(`${describe(outcome, mode)}\n`);
  } else console.log(describe(outcome, mode));
}

function describe(outcome: ReleaseOrWithheld | Pending, mode: Task["mode"]): string {
  return outcome.status === "pending"
    ? describePending(outcome)
    : describeOutcome(outcome, Math.min(process.stdout.columns ?? 78, 100), mode);
}
