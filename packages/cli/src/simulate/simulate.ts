/**
 * The command `lethe simulate`: a fleet of devices. The lab runs it: here with one statistic and its server in this
 * process, in `task.ts` with all metrics of a task file, and in `fleet.ts` against a service over HTTP.
 */
import { entryOf, isJoint } from "@lethe/core/statistic";
import { type SimulationOptions, type SimulationResult, simulate } from "@lethe/lab/simulate";
import type { Command } from "commander";
import { edges, positive, serviceUrl, share, wholeNumber } from "../options/options.ts";
import {
  ALL_STATISTICS,
  eventsPerTickOption,
  hidesOption,
  mechanismOption,
  modeOption,
  noiseOption,
  refuseForeignOptions,
  schemeOption,
  statisticOption,
} from "../options/statistic-options.ts";
import { createProgress } from "../print/progress.ts";
import { formatFigure, formatTable } from "../print/table.ts";
import { simulateFleet } from "./fleet.ts";
import { simulateTaskFile } from "./task.ts";

/** Adds the command to the program. */
export function addSimulate(program: Command): void {
  program
    .command("simulate")
    .description("run the real code of a fleet of devices, with a server in the same process or against a service")
    .option("--server <url>", "enrol the devices with this service, and report to it", serviceUrl)
    .option("--task <task>", "a task file, all of whose metrics are simulated; with --server: the name of its task")
    .addOption(statisticOption())
    .addOption(modeOption())
    .addOption(noiseOption())
    .addOption(schemeOption("one server; two servers use elgamal").default("lattice"))
    .option("--devices <n>", "number of devices", wholeNumber(1, 1e9), 1000)
    .option("--ticks <T>", "ticks of the window", wholeNumber(1, 100_000), 24)
    .addOption(hidesOption("default: 0; simulated pages are never hidden"))
    .addOption(eventsPerTickOption())
    .option("--rate <r>", "probability of an event per tick and metric", share, 0.05)
    .option("--local-epsilon <e>", "the local ε of each metric", positive, 1)
    .option("--metrics <m>", "occurrence: number of metrics", wholeNumber(1, 1e6), 1)
    .option("--edges <list>", "histogram: where each bucket begins", edges, [0, 1, 2, 5])
    .addOption(mechanismOption())
    .option("--limit <k>", "mean: larger counts are cut to this limit", wholeNumber(1, 100_000), 10)
    .option(
      "--sigma <s>",
      "instead of --local-epsilon, the noise: of a mean in units of the limit; with --noise servers in devices, per server",
      positive,
    )
    .option("--seed <s>", "make the run reproducible")
    .option("--json", "print JSON only")
    .action(run);
}

type SimulateOptions = Omit<SimulationOptions, "statistic"> &
  Partial<Pick<SimulationOptions, "statistic">> & {
    readonly server?: string;
    readonly task?: string;
    readonly json?: boolean;
  };

async function run({ server, task, statistic, ...options }: SimulateOptions, command: Command): Promise<void> {
  if (server !== undefined) {
    refuseAllBut(["server", "task", "devices", "rate", "json"], command, "--server: the task of the service sets it");
    if (task === undefined) return command.error("error: --task is missing: --server needs the name of a task");
    const { devices, rate, json } = options;
    return simulateFleet({ server, task, devices, rate, ...(json && { json }) });
  }
  if (task !== undefined) {
    refuseAllBut(["task", "devices", "rate", "seed", "json"], command, "--task: the task file sets it");
    const { devices, rate, seed, json } = options;
    return simulateTaskFile(task, { devices, rate, ...(seed !== undefined && { seed }), ...(json && { json }) });
  }
  if (statistic === undefined) {
    return command.error(`error: --statistic is missing: ${ALL_STATISTICS} (or --task)`);
  }
  refuseForeignOptions(statistic, command);
  const progress = createProgress(`${options.devices} devices, ${options.ticks} ticks`);
  const result = await simulate({ ...options, statistic }, progress);
  console.log(options.json ? JSON.stringify(result) : describe(result, options));
}

/** Ends the command if the user gives an option besides these; `because` is what sets the others. */
function refuseAllBut(possible: readonly string[], command: Command, because: string): void {
  for (const option of command.options) {
    const name = option.attributeName();
    if (!possible.includes(name) && command.getOptionValueSource(name) === "cli") {
      command.error(`error: option '${option.long}' cannot be used with ${because}`);
    }
  }
}

function describe(result: SimulationResult, shape: Pick<SimulationOptions, "edges" | "limit">): string {
  const { statistic, truth, estimate, consistent, standardError, interval, bytes, microseconds } = result;
  const { answers, words } = entryOf(statistic);
  const labels = answers.labels(shape);
  const figure = (value: number | undefined): string => formatFigure(value as number, statistic);
  const rows = truth.map((value, i) => {
    const [low, high] = interval[i] as readonly [number, number];
    const range = `[${figure(low)}, ${figure(high)}]`;
    return [
      labels[i] ?? String(i),
      figure(value),
      figure(estimate[i]),
      figure(standardError[i]),
      range,
      figure(consistent[i]),
    ];
  });
  const { record, write, seal, open } = microseconds;
  return [
    formatTable([words.heading, "truth", "estimate", "± s.e.", "95% interval", "consistent"], rows, 1),
    "",
    `${describeServers(result)}${result.scheme}, ${result.mechanism}, ${describeCost(result)}; ${result.valid} of ${result.devices} reports valid`,
    `bytes: state ${bytes.state}, report ${bytes.report}, public key ${bytes.publicKey}`,
    `microseconds (medians): record ${record.toFixed(1)}, write ${write.toFixed(0)}, seal ${seal.toFixed(0)}, open ${open.toFixed(0)}`,
  ].join("\n");
}

function describeServers({ mode, noise }: SimulationResult): string {
  return mode === "two-server" ? `two servers, noise of the ${noise === "device" ? "devices" : "servers"}, ` : "";
}

/** What a device pays for its answers in one window. The costs of metrics add up. */
function describeCost({ statistic, mechanism, localEpsilon, truth }: SimulationResult): string {
  const cost = `local ε ${localEpsilon.toPrecision(4)}`;
  const hasMetrics = isJoint(statistic) && truth.length > 1;
  if (mechanism === "discrete-gaussian") return `${cost} at δ = 1e-6${hasMetrics ? " per metric" : ""}`;
  return hasMetrics ? `${cost} per metric, ${(truth.length * localEpsilon).toPrecision(4)} per device` : cost;
}
