import type { ReleaseOrWithheld } from "@lethe/core/message";
import type { Command } from "commander";
import { serverOption, windowNumber } from "./options.ts";
import { toCsv } from "./results-csv.ts";
import { type Found, lookAt, newestRelease, type Outcome } from "./results-find.ts";
import { describeOutcome, describePending } from "./results-text.ts";
import { waitForRelease } from "./results-wait.ts";
import { fetchManifest } from "./service-client.ts";
import { nextToFinish } from "./window.ts";

interface ResultsOptions {
  readonly server: string;
  readonly window?: number;
  readonly wait?: boolean;
  readonly csv?: boolean;
  readonly json?: boolean;
}

export function addResults(program: Command): void {
  program
    .command("results")
    .description("what the devices told together: the newest release with figures, or that of a window")
    .argument("<task>", "its name")
    .option("--window <n>", "the window's number", windowNumber)
    .addOption(serverOption())
    .option("--wait", "wait for the window's release; without --window, for the next one from now on")
    .option("--csv", "print CSV, one row a figure")
    .option("--json", "print JSON only")
    .addHelpText("after", HELP)
    .action(results);
}

const HELP = `
With --json, "status" is released, not-enough (too few devices reported: nothing is ever told of that window), lost or
pending (there is no release yet: how far the window is).`;

async function results(task: string, options: ResultsOptions, command: Command): Promise<void> {
  if (options.csv && options.json) command.error("error: --csv and --json exclude each other");
  const { outcome, newer } = await find(task, options);
  if (options.json) console.log(JSON.stringify(outcome));
  else if (options.csv) {
    process.stdout.write(toCsv(outcome.status === "released" ? outcome : undefined));
    if (outcome.status !== "released") process.stderr.write(`${tell(outcome)}\n`);
  } else console.log([...describeNewer(newer), tell(outcome)].join("\n"));
}

function tell(outcome: Outcome): string {
  return outcome.status === "pending"
    ? describePending(outcome)
    : describeOutcome(outcome, Math.min(process.stdout.columns ?? 78, 100));
}

async function find(task: string, { server, window, wait }: ResultsOptions): Promise<Found> {
  if (window === undefined && !wait) {
    const found = await newestRelease(server, task);
    if (found) return found;
  }
  const number = window ?? (await nextToFinish(server, await fetchManifest(server, task))).window;
  const outcome = wait ? await waitForRelease(server, task, number) : await lookAt(server, task, number);
  return { outcome, newer: [] };
}

function describeNewer(newer: readonly ReleaseOrWithheld[]): string[] {
  const [newest] = newer;
  if (newest?.status !== "not-enough") return [];
  const which = newer.length === 1 ? "one newer window" : `${newer.length} newer windows`;
  return [`${which} had not enough reports (window ${newest.window}: ${newest.missing} more needed)`, ""];
}
