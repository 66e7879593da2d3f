import type { Command } from "commander";
import { failure } from "./failure.ts";
import { serverOption, windowNumber } from "./options.ts";
import { resultsCommand } from "./results-command.ts";
import { findOutcome, type Sought } from "./results-find.ts";
import { type Format, printOutcome, refuseTwoFormats } from "./results-print.ts";
import { fetchManifest, type Told } from "./service-client.ts";

interface ResultsOptions extends Sought, Format {
  readonly server: string;
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
  const { server } = options;
  refuseTwoFormats(options, command);
  await requireOneServer(server, task, options);
  const { outcome, newer } = await findOutcome(server, task, options);
  if (outcome.status === "shared") throw new TypeError("a task of one server has no shares");
  if (!options.json && !options.csv) for (const line of describeNewer(newer)) console.log(line);
  printOutcome(outcome, options, "one-server");
}

/** Neither of two servers has results. */
async function requireOneServer(server: string, task: string, { window }: Sought): Promise<void> {
  const manifest = await fetchManifest(server, task);
  if (manifest.mode === "one-server") return;
  const command = resultsCommand(manifest, window === undefined ? {} : { window });
  throw failure(`${task} is counted by two servers, and neither has results alone: ${command}`);
}

function describeNewer(newer: readonly Told[]): string[] {
  const [newest] = newer;
  if (newest?.status !== "not-enough") return [];
  const which = newer.length === 1 ? "one newer window" : `${newer.length} newer windows`;
  return [`${which} had not enough reports (window ${newest.window}: ${newest.missing} more needed)`, ""];
}
