/**
 * The command `lethe demo`: runs the lab's demonstration, opens its console, and prints what happened beside what the
 * service learned.
 */
import type { Task } from "@lethe/core/message";
import { MODES } from "@lethe/core/statistic";
import type { Demo, DemoResult } from "@lethe/lab/demo";
import { type Command, Option } from "commander";
import { wholeNumber } from "../options/options.ts";
import { createProgress, PREPARING } from "../print/progress.ts";
import { formatFigure, formatTable } from "../print/table.ts";
import { openBrowser } from "../system/browser.ts";
import { readConsole } from "../system/console.ts";
import { requireFreePort, whyNotListening } from "../system/port.ts";
import { stopSignal } from "../system/stop-signal.ts";

const HOST = "127.0.0.1";

interface DemoOptions {
  readonly mode: Task["mode"];
  readonly devices?: number;
  readonly port: number;
  /** Whether to open a browser. */
  readonly open: boolean;
  readonly once?: boolean;
  readonly json?: boolean;
}

/** Adds the command to the program. */
export function addDemo(program: Command): void {
  program
    .command("demo")
    .description("run a service and its devices over HTTP, and show what happened beside what the service learned")
    .addOption(
      new Option("--mode <name>", "one service in this process, or two servers, each in its own process")
        .choices(MODES)
        .default("one-server"),
    )
    .option("--devices <n>", "number of devices (default: 200; 40 with two servers)", wholeNumber(1, 1e5))
    .option("--port <n>", "the port of the console; 0 takes any free one", wholeNumber(0, 65_535), 0)
    .option("--no-open", "print the address of the console, and open no browser")
    .option("--once", "stop after the first window, instead of running windows until Ctrl-C; opens no browser")
    .option("--json", "print JSON only, one object per window; opens no browser")
    .action(run);
}

async function run(options: DemoOptions): Promise<void> {
  const { once, json = false } = options;
  await requireFreePort({ host: HOST, port: options.port });
  const ending = new AbortController();
  const stopped = stopSignal().then(() => ending.abort());
  const opening = open(options, ending.signal);
  const show = async (demo: Demo): Promise<void> => {
    const page = `${demo.urls[0]}/`;
    if (json) process.stderr.write(`console: ${page}\n`);
    else process.stdout.write(describeDemo(demo));
    if (options.open && !json && !once) openBrowser(page);
    await runWindows(demo, once ? 1 : Number.POSITIVE_INFINITY, json);
  };
  try {
    await Promise.race([opening.then((demo) => (ending.signal.aborted ? undefined : show(demo))), stopped]);
  } finally {
    // A demo that failed to open has nothing to close; its error was thrown above.
    await opening.then(
      (demo) => demo.close(),
      () => {},
    );
  }
  // Otherwise devices in the middle of a window would retry for a while, although the service is gone.
  if (ending.signal.aborted) process.exit();
}

async function open({ mode, devices, port }: DemoOptions, signal: AbortSignal): Promise<Demo> {
  // Imported here because loading the service takes as long as everything else that a command does.
  const { openDemo, openTwoServerDemo } = await import("@lethe/lab/demo");
  const options = { port, ...(devices !== undefined && { devices }) };
  // With two servers, the other processes run the same command file.
  if (mode === "two-server") return openTwoServerDemo({ command: process.argv[1] as string, ...options, signal });
  process.stderr.write(`${PREPARING}\n`);
  try {
    return await openDemo({ ...options, console: readConsole() });
  } catch (error) {
    throw whyNotListening(error, { host: HOST, port });
  }
}

/** What the user can open: first of all the console, which shows everything that the terminal shows, and more. */
function describeDemo({ urls: [first, helper], adminToken }: Demo): string {
  const services = helper === undefined ? `OpenAPI: ${first}/openapi.json` : `leader: ${first}, helper: ${helper}`;
  return [`console: ${first}/`, `admin token, for some of its views: ${adminToken}`, services, "", ""].join("\n");
}

async function runWindows(demo: Demo, windows: number, json: boolean): Promise<void> {
  for (let window = 0; window < windows; window++) {
    const result = await demo.runWindow(createProgress(`${demo.devices} devices, ${demo.ticks} ticks`));
    console.log(json ? JSON.stringify(result) : describe(result, demo));
  }
}

function describe(result: DemoResult, { urls, task, ticks }: Demo): string {
  const { devices, window, received, metrics, localEpsilon, seconds } = result;
  const rows = metrics.map(({ name, statistic, bucket, truth, estimate, interval: [low, high] }) => {
    const figure = (value: number): string => formatFigure(value, statistic);
    const label = bucket === undefined ? name : `${name} ${bucket}`;
    return [label, statistic, figure(truth), figure(estimate), `[${figure(low)}, ${figure(high)}]`];
  });
  const costs = Object.entries(localEpsilon).map(([name, epsilon]) => `${name} ${epsilon.toPrecision(3)}`);
  const told = urls.map((url) => `${url}/v1/tasks/${task}/releases/${window}`);
  const [gaussian, where] =
    told.length === 1 ? ["the mean", "The release"] : ["noise of the servers", "The shares, each noise by itself"];
  return [
    formatTable(["metric", "statistic", "truth", "estimate", "95% interval"], rows, 2),
    "",
    `${received} of ${devices} devices reported in window ${window}, ${seconds.toFixed(1)} s. Each counted only inside ciphertexts, rewritten in each of ${ticks}`,
    `ticks, event or not. What its answers cost a device, local ε: ${costs.join(", ")} (${gaussian} at δ = 1e-6).`,
    `${where}: ${told.join(" and ")}`,
    "",
  ].join("\n");
}
