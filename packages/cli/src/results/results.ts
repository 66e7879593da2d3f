import { fetchManifest, findRelease, type Pending, type PublishedWindow } from "@lethe/analyst";
import type { ReleaseOrWithheld } from "@lethe/core/message";
import type { Command } from "commander";
import { serverOption, windowNumber } from "../options/options.ts";
import { resultsCommand } from "../print/results-command.ts";
import { failure } from "../system/failure.ts";
import { type Format, printOutcome, refuseTwoFormats } from "./print.ts";
import { createStatusLine } from "./wait.ts";

interface ResultsOptions extends Format {
  readonly server: string;
  readonly window?: number;
  readonly wait?: boolean;
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
  const { outcome, newer } = await findRelease(server, task, { ...options, onPending: createStatusLine() });
  if (outcome.status === "shared") throw new TypeError("a task of one server has no shares");
  if (!options.json && !options.csv) for (const line of describeNewer(newer)) console.log(line);
  printOutcome(outcome, options, "one-server");
  if (!options.json && !options.csv) for (const line of adviceFor(outcome, newer, server)) console.log(line);
}

/** Windows last no longer than this at a service that was started with --dev, and hardly anywhere else. */
const TRIAL_SECONDS = 10;

/** What to do about too few devices while somebody tries things out: in production, waiting is all there is. */
function adviceFor(outcome: ReleaseOrWithheld | Pending, newer: readonly PublishedWindow[], server: string): string[] {
  const short = [outcome, ...newer].find((told) => told.status === "not-enough");
  if (!short || short.to - short.from > TRIAL_SECONDS) return [];
  const { task, received, missing } = short;
  return [
    "",
    'Too few devices for a trial? Either create a higher version of the task with "minimumDevices": 1, or run more of them:',
    `  npx lethe simulate --server ${server} --task ${task} --devices ${received + missing}`,
  ];
}

/** Neither of two servers has results. */
async function requireOneServer(server: string, task: string, { window }: ResultsOptions): Promise<void> {
  const manifest = await fetchManifest(server, task);
  if (manifest.mode === "one-server") return;
  const command = resultsCommand(manifest, window === undefined ? {} : { window });
  throw failure(`${task} is counted by two servers, and neither has results alone: ${command}`);
}

function describeNewer(newer: readonly PublishedWindow[]): string[] {
  const [newest] = newer;
  if (newest?.status !== "not-enough") return [];
  const which = newer.length === 1 ? "one newer window" : `${newer.length} newer windows`;
  return [`${which} had not enough reports (window ${newest.window}: ${newest.missing} more needed)`, ""];
}
