import type { Pending } from "@lethe/analyst";
import type { ReleaseOrWithheld, Task } from "@lethe/core/message";
import type { Command } from "commander";
import { toCsv } from "./csv.ts";
import { describeOutcome, describePending } from "./text.ts";

export interface Format {
  readonly csv?: boolean;
  readonly json?: boolean;
}

export function refuseTwoFormats({ csv, json }: Format, command: Command): void {
  if (csv && json) command.error("error: --csv and --json exclude each other");
}

export function printOutcome(outcome: ReleaseOrWithheld | Pending, { csv, json }: Format, mode: Task["mode"]): void {
  if (json) console.log(JSON.stringify(outcome));
  else if (csv) {
    process.stdout.write(toCsv(outcome.status === "released" ? outcome : undefined));
    if (outcome.status !== "released") process.stderr.write(`${tell(outcome, mode)}\n`);
  } else console.log(tell(outcome, mode));
}

function tell(outcome: ReleaseOrWithheld | Pending, mode: Task["mode"]): string {
  return outcome.status === "pending"
    ? describePending(outcome)
    : describeOutcome(outcome, Math.min(process.stdout.columns ?? 78, 100), mode);
}
