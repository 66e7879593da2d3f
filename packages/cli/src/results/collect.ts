import {
  collectLastWindows,
  collectRelease,
  fetchManifest,
  helperHindrance,
  type Pending,
  type ServerPair,
} from "@lethe/analyst";
import type { ReleaseOrWithheld } from "@lethe/core/message";
import type { ServerRole } from "@lethe/core/two-server";
import type { Command } from "commander";
import { lastOption, operatorKey, serviceUrl, windowNumber } from "../options/options.ts";
import { failure } from "../system/failure.ts";
import { type Format, printOutcome, printTrend, refuseContradictions } from "./print.ts";
import { describeState, whyWithheld } from "./text.ts";
import { createStatusLine, withHindrance } from "./wait.ts";

interface CollectOptions extends Format, ServerPair {
  readonly task: string;
  readonly window?: number;
  readonly wait?: boolean;
  readonly last?: number;
}

/** Adds the command to the program. */
export function addCollect(program: Command): void {
  program
    .command("collect")
    .description(
      "print the results of two servers: fetch both shares of a window, check that they belong together, add them",
    )
    .requiredOption("--leader <url>", "the address of the leader", serviceUrl)
    .requiredOption("--helper <url>", "the address of the helper", serviceUrl)
    .requiredOption("--task <name>", "the name of the task")
    .option("--window <n>", "the number of the window (default: the newest with shares)", windowNumber)
    .option("--leader-key <key>", "the operator key that the leader's operator gave you", operatorKey)
    .option("--helper-key <key>", "the operator key that the helper's operator gave you", operatorKey)
    .option("--wait", "wait for the shares of the window; without --window, for the next shares")
    .addOption(lastOption())
    .option("--csv", "print CSV, one row per figure")
    .option("--json", "print JSON only")
    .addHelpText("after", HELP)
    .action(collect);
}

const HELP = `
Each share alone is random noise. If you give no keys, those in the leader's manifest are believed: then one operator
could have played both parts. Exit code 2 if there are no results: the window is not finished (with --json, "status" is
pending), too few devices reported (not-enough), its secret is gone (lost), or the shares do not belong together.`;

async function collect(options: CollectOptions, command: Command): Promise<void> {
  const { leader, task, last } = options;
  refuseContradictions(options, command);
  const { mode } = await fetchManifest(leader, task);
  if (mode === "one-server")
    throw failure(`${task} is counted by one server: npx lethe results ${task} --server ${leader}`);
  if (last !== undefined) {
    return printTrend(task, await collectLastWindows(options, task, last, { onUnpinnedKey: noteUnpinned() }), options);
  }
  const outcome = await collected(options);
  const isReleased = outcome.status === "released";
  if (isReleased || options.json) printOutcome(outcome, options, mode);
  if (!isReleased) throw failure(await whyNot(outcome, options));
}

function collected(options: CollectOptions): Promise<ReleaseOrWithheld | Pending> {
  const { task, window, wait } = options;
  return collectRelease(options, task, {
    ...(window !== undefined && { window }),
    ...(wait && { wait }),
    // The leader finishes no window without the helper.
    onPending: createStatusLine(() => helperHindrance(options, task)),
    onUnpinnedKey: noteUnpinned(),
  });
}

/** Says once per server which key is believed. */
function noteUnpinned(): (role: ServerRole, key: string) => void {
  const noted = new Set<ServerRole>();
  return (role, key) => {
    if (noted.has(role)) return;
    noted.add(role);
    process.stderr.write(`note: you gave no --${role}-key, so the manifest's key is believed: --${role}-key ${key}\n`);
  };
}

async function whyNot(
  outcome: Exclude<ReleaseOrWithheld | Pending, { readonly status: "released" }>,
  options: CollectOptions,
): Promise<string> {
  if (outcome.status === "pending") {
    return `${withHindrance(describeState(outcome), await helperHindrance(options, options.task))}: wait for it with --wait`;
  }
  return `window ${outcome.window} of ${outcome.task}: ${whyWithheld(outcome)}`;
}
