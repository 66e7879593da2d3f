/**
 * The command `lethe try`: a service whose console has a button, and the release that contains the user's own click. The
 * lab runs the service; this file opens the console at the inside of a device, and prints the releases.
 */
import { figuresOf, type Release } from "@lethe/core/message";
import type { Trial } from "@lethe/lab/trial";
import type { Command } from "commander";
import { wholeNumber } from "../options/options.ts";
import { PREPARING } from "../print/progress.ts";
import { openBrowser } from "../system/browser.ts";
import { readConsole } from "../system/console.ts";
import { requireFreePort, whyNotListening } from "../system/port.ts";
import { readSdk } from "../system/sdk.ts";
import { stopSignal } from "../system/stop-signal.ts";

const HOST = "127.0.0.1";

interface TryOptions {
  readonly port: number;
  /** Whether to open a browser. */
  readonly open: boolean;
  readonly json?: boolean;
}

/** Adds the command to the program. */
export function addTry(program: Command): void {
  program
    .command("try")
    .description("see your own event: a service, a page with a button, and the release that contains your click")
    .option("--port <n>", "the port of the page; 0 takes any free one", wholeNumber(0, 65_535), 0)
    .option("--no-open", "print the address of the page, and open no browser")
    .option("--json", "print JSON only: first the addresses, then one object per release; opens no browser")
    .action(run);
}

async function run({ port, open, json = false }: TryOptions): Promise<void> {
  const stopped = stopSignal();
  await requireFreePort({ host: HOST, port });
  let last = "";
  const show = (release: Release): void => {
    const text = json ? JSON.stringify(release) : describeRelease(release);
    if (text !== last) console.log(json ? text : `window ${release.window}: ${text}`);
    last = text;
  };
  const trial = await start(port, show);
  console.log(json ? JSON.stringify(addressesOf(trial)) : describe(trial));
  if (open && !json) openBrowser(trial.page);
  await stopped;
  await trial.close();
}

async function start(port: number, onRelease: (release: Release) => void): Promise<Trial> {
  process.stderr.write(`${PREPARING}\n`);
  // Imported here because loading the service takes as long as everything else that a command does.
  const { openTrial } = await import("@lethe/lab/trial");
  try {
    return await openTrial({ port, sdk: readSdk(), console: readConsole(), onRelease });
  } catch (error) {
    throw whyNotListening(error, { host: HOST, port });
  }
}

function addressesOf({ page, server, operatorKey, task }: Trial) {
  return { page, server, operatorKey, task };
}

function describe({ page, server, event, adminToken, localEpsilon, windowSeconds }: Trial): string {
  return [
    `Open this page, join the task, and press the button ${event}:`,
    "",
    `  ${page}`,
    "",
    `Every window of ${windowSeconds} seconds is released here and on the page, for a single device and with ε = ${localEpsilon}: next to no noise, so`,
    "that you see your own click. A real task asks for a thousand devices and ε near 1.",
    `The service is at ${server}. Some views of its page ask for the admin token: ${adminToken}`,
    "Ctrl-C ends it, and removes what it stored.",
    "",
  ].join("\n");
}

/** The release in one line. The caller prints it only if it differs from the line before. */
function describeRelease({ received, metrics: [metric] }: Release): string {
  const [first] = metric ? figuresOf(metric) : [];
  if (!first) throw new TypeError("the release of the trial has no figure");
  const { estimate, standardError } = first.figure;
  const devices = received === 1 ? "1 device" : `${received} devices`;
  return `${devices} reported, an estimated ${estimate.toFixed(2)} ± ${standardError.toFixed(2)} clicked`;
}
