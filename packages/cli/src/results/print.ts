import { type FinishedWindow, type Pending, toCsv } from "@lethe/analyst";
import type { ReleaseOrWithheld, Task } from "@lethe/core/message";
import type { Command } from "commander";
import { describeOutcome, describePending } from "./text.ts";
import { describeTrend } from "./trend.ts";

/** The options that choose the format of results. */
export interface Format {
  readonly csv?: boolean;
  readonly json?: boolean;
}

/** Ends the command if the user asks for CSV and JSON, or for one window and many. */
export function refuseContradictions(
  {
    csv,
    json,
    last,
    window,
    wait,
  }: Format & { readonly last?: number; readonly window?: number; readonly wait?: boolean },
  command: Command,
): void {
  if (csv && json) command.error("error: --csv and --json exclude each other");
  if (last === undefined) return;
  if (window !== undefined) command.error("error: --last and --window exclude each other");
  if (wait) command.error("error: --last and --wait exclude each other: it prints windows that are finished");
}

/**
 * Prints a release, or why there is none. CSV goes to stdout; without a release it is a header, and the reason goes to
 * stderr.
 */
export function printOutcome(outcome: ReleaseOrWithheld | Pending, { csv, json }: Format, mode: Task["mode"]): void {
  if (json) console.log(JSON.stringify(outcome));
  else if (csv) {
    process.stdout.write(toCsv(outcome.status === "released" ? [outcome] : []));
    if (outcome.status !== "released") process.stderr.write(`${describe(outcome, mode)}\n`);
  } else console.log(describe(outcome, mode));
}

/** Prints many windows: as JSON, as CSV, or as pictures with error bars. */
export function printTrend(task: string, windows: readonly FinishedWindow[], { csv, json }: Format): void {
  if (json) console.log(JSON.stringify({ task, windows }));
  else if (csv) process.stdout.write(toCsv(windows));
  else console.log(describeTrend(task, windows, columnsOf()));
}

/** As wide as the terminal, within reason. */
function columnsOf(): number {
  return Math.min(Math.max(process.stdout.columns ?? 78, 40), 100);
}

function describe(outcome: ReleaseOrWithheld | Pending, mode: Task["mode"]): string {
  return outcome.status === "pending" ? describePending(outcome) : describeOutcome(outcome, columnsOf(), mode);
}
