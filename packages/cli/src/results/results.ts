/**
 * The commands `lethe results` and, for tasks of two servers, `lethe collect`. The analyst package finds and checks
 * releases; `print.ts` writes them as JSON, as CSV (`csv.ts`) or as text (`text.ts`, of many windows `trend.ts`), and
 * `wait.ts` shows the state of a window that a command waits for.
 */
import {
  fetchManifest,
  fetchReleases,
  findRelease,
  lastWindows,
  type Pending,
  type PublishedWindow,
  type Reader,
  type ServerShare,
} from "@lethe/analyst";
import { LetheError } from "@lethe/core/error";
import type { ReleaseOrWithheld } from "@lethe/core/message";
import type { Command } from "commander";
import { requireAdminToken } from "../options/admin-token.ts";
import { lastOption, serverOption, windowNumber } from "../options/options.ts";
import { resultsCommand } from "../print/results-command.ts";
import { failure } from "../system/failure.ts";
import { type Format, printOutcome, printTrend, refuseContradictions } from "./print.ts";
import { createStatusLine } from "./wait.ts";

interface ResultsOptions extends Format {
  readonly server: string;
  readonly window?: number;
  readonly wait?: boolean;
  readonly last?: number;
}

/** Adds the command to the program. */
export function addResults(program: Command): void {
  program
    .command("results")
    .description("print the newest release with figures, or the release of a window")
    .argument("<task>", "the name of the task")
    .option("--window <n>", "the number of the window", windowNumber)
    .addOption(serverOption())
    .option("--wait", "wait for the release of the window; without --window, for the next release")
    .addOption(lastOption())
    .option("--csv", "print CSV, one row per figure")
    .option("--json", "print JSON only")
    .addHelpText("after", HELP)
    .action(results);
}

const HELP = `
With --json, "status" is released, not-enough (too few devices reported, so that window is never released), lost (the
secret of the window is gone) or pending (there is no release yet; the other fields have the state of the window).
With --last and --json, "windows" has the windows, oldest first; of one about which nothing was published, "status" is
not-released.`;

async function results(task: string, options: ResultsOptions, command: Command): Promise<void> {
  const { server, last } = options;
  refuseContradictions(options, command);
  await requireOneServer(server, task, options);
  const reader = await readerOf(server, task);
  if (last !== undefined) {
    return printTrend(task, (await lastWindows(server, task, last, reader)).map(requireNoShare), options);
  }
  const sought = { ...options, ...reader, onPending: createStatusLine() };
  const { outcome: found, newer } = await findRelease(server, task, sought);
  const outcome = requireNoShare(found);
  if (!options.json && !options.csv) for (const line of describeNewer(newer)) console.log(line);
  printOutcome(outcome, options, "one-server");
  if (!options.json && !options.csv) for (const line of adviceFor(outcome, newer, server)) console.log(line);
}

/** With the admin token if the service keeps its results private: no other service is sent one. */
async function readerOf(server: string, task: string): Promise<Reader> {
  try {
    await fetchReleases(server, task, { limit: 1 });
    return {};
  } catch (error) {
    if (!(error instanceof LetheError && error.code === "unauthorized")) throw error;
    return { token: requireAdminToken() };
  }
}

/** What servers publish that count alone. */
function requireNoShare<Told extends { readonly status: string }>(told: Told): Exclude<Told, ServerShare> {
  if (told.status === "shared") throw new TypeError("a task of one server has no shares");
  return told as Exclude<Told, ServerShare>;
}

/** Only services that run with --dev have windows as short as this. */
const TRIAL_SECONDS = 10;

/**
 * What to do if too few devices reported at a service in development. In production there is nothing to do but wait.
 */
function adviceFor(outcome: ReleaseOrWithheld | Pending, newer: readonly PublishedWindow[], server: string): string[] {
  const short = [outcome, ...newer].find((told) => told.status === "not-enough");
  if (!short || short.to - short.from > TRIAL_SECONDS) return [];
  const { task, received, missing, groups } = short;
  // Simulated devices are in the groups in turn.
  const devices = groups
    ? groups.length * Math.max(...groups.map((group) => group.received + group.missing))
    : received + missing;
  return [
    "",
    'Too few devices for a trial? Either create a higher version of the task with "minimumDevices": 1, or run more of them:',
    `  npx lethe simulate --server ${server} --task ${task} --devices ${devices}`,
  ];
}

/** Refuses a task of two servers, because neither server has results. */
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
