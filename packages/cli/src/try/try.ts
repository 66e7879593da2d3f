import { spawn } from "node:child_process";
import type { Release } from "@lethe/core/message";
import type { Trial } from "@lethe/lab/trial";
import type { Command } from "commander";
import { wholeNumber } from "../options/options.ts";
import { PREPARING } from "../print/progress.ts";
import { whyNotListening } from "../system/port.ts";
import { readSdk } from "../system/sdk.ts";
import { stopSignal } from "../system/stop-signal.ts";

interface TryOptions {
  readonly port: number;
  /** Whether to open a browser. */
  readonly open: boolean;
  readonly json?: boolean;
}

export function addTry(program: Command): void {
  program
    .command("try")
    .description("see your own event: a page with a button, a service, and the release that contains your click")
    .option("--port <n>", "where the page is; 0 takes any that is free", wholeNumber(0, 65_535), 0)
    .option("--no-open", "print the page's address, and open no browser")
    .option("--json", "print JSON only: first the addresses, then one object a release; opens no browser")
    .action(run);
}

async function run({ port, open, json = false }: TryOptions): Promise<void> {
  const stopped = stopSignal();
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
  // Here, as the service takes as long to load as all the rest of every command.
  const { openTrial } = await import("@lethe/lab/trial");
  try {
    return await openTrial({
      port,
      sdk: readSdk(),
      onPreparing: () => process.stderr.write(`${PREPARING}\n`),
      onRelease,
    });
  } catch (error) {
    throw whyNotListening(error, { host: "127.0.0.1", port });
  }
}

function addressesOf({ page, server, operatorKey, task }: Trial) {
  return { page, server, operatorKey, task };
}

function describe({ page, server, localEpsilon, windowSeconds }: Trial): string {
  return [
    "Open this page and click its button:",
    "",
    `  ${page}`,
    "",
    `Every window of ${windowSeconds} seconds is released here and on the page, for a single device and with ε = ${localEpsilon}: next to no noise, so`,
    "that you see your own click. A real task asks for a thousand devices and ε near 1.",
    `The service is at ${server}. Ctrl-C ends both, and removes what they stored.`,
    "",
  ].join("\n");
}

/** Windows that tell the same follow each other in silence. */
function describeRelease({ received, metrics: [metric] }: Release): string {
  if (metric?.statistic !== "occurrence") throw new TypeError("the trial counts occurrences");
  const { estimate, standardError } = metric;
  const devices = received === 1 ? "1 device" : `${received} devices`;
  return `${devices} reported, an estimated ${estimate.toFixed(2)} ± ${standardError.toFixed(2)} clicked`;
}

/** Only where there is a screen; if it fails, the printed address serves. */
function openBrowser(page: string): void {
  const [command, ...args] = browserCommand(page);
  if (command === undefined) return;
  spawn(command, args, { stdio: "ignore", detached: true })
    .on("error", () => undefined)
    .unref();
}

function browserCommand(page: string): readonly string[] {
  if (process.platform === "darwin") return ["open", page];
  if (process.platform === "win32") return ["cmd", "/c", "start", "", page];
  return process.env.DISPLAY || process.env.WAYLAND_DISPLAY ? ["xdg-open", page] : [];
}
