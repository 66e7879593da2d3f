import { collectRelease, fetchManifest, helperHindrance, type Pending, type ServerPair } from "@lethe/analyst";
import type { ReleaseOrWithheld } from "@lethe/core/message";
import type { Command } from "commander";
import { operatorKey, serviceUrl, windowNumber } from "../options/options.ts";
import { failure } from "../system/failure.ts";
import { type Format, printOutcome, refuseTwoFormats } from "./print.ts";
import { describeState, whyWithheld } from "./text.ts";
import { createStatusLine, withHindrance } from "./wait.ts";

interface CollectOptions extends Format, ServerPair {
  readonly task: string;
  readonly window?: number;
  readonly wait?: boolean;
}

export function addCollect(program: Command): void {
  program
    .command("collect")
    .description(
      "results of two servers: fetches both shares of a window, checks that they belong together, adds them up",
    )
    .requiredOption("--leader <url>", "where the leader is", serviceUrl)
    .requiredOption("--helper <url>", "where the helper is", serviceUrl)
    .requiredOption("--task <name>", "the task's name")
    .option("--window <n>", "the window's number; if not given, the newest that is shared", windowNumber)
    .option("--leader-key <key>", "the leader's operator key, as its operator told you", operatorKey)
    .option("--helper-key <key>", "the helper's operator key, as its operator told you", operatorKey)
    .option("--wait", "wait for the window's shares; without --window, for the next ones from now on")
    .option("--csv", "print CSV, one row a figure")
    .option("--json", "print JSON only")
    .addHelpText("after", HELP)
    .action(collect);
}

const HELP = `
Either share by itself is noise. Keys that are not given are taken from the manifest that the leader sends: then one operator
could have played both parts. Exit code 2 if there are no results: the window is not finished (with --json, "status" is
pending), too few devices reported (not-enough), its secret is gone (lost), or the shares do not belong together.`;

async function collect(options: CollectOptions, command: Command): Promise<void> {
  const { leader, task } = options;
  refuseTwoFormats(options, command);
  const { mode } = await fetchManifest(leader, task);
  if (mode === "one-server")
    throw failure(`${task} is counted by one server: npx lethe results ${task} --server ${leader}`);
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
    onUnpinnedKey: (role, key) =>
      process.stderr.write(
        `note: you gave no --${role}-key, so the manifest's key is believed: --${role}-key ${key}\n`,
      ),
  });
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
