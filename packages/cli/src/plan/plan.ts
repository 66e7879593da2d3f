/**
 * The command `lethe plan`: which guarantees hold and how large errors will be. `question.ts` reads the options, `metric.ts`
 * computes the plan of one metric, and `print-metric.ts` and `print-task.ts` write plans as text. Core plans, the lab measures.
 */
import { accessSync, constants, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { planTask } from "@lethe/core/plan";
import { DEFAULT_HIDES } from "@lethe/core/statistic";
import { renderSvg, renderTerminal } from "@lethe/lab/plot";
import { type Command, Option } from "commander";
import {
  edges,
  eventsPerTickOption,
  hidesOption,
  positive,
  probability,
  shareBelowOne,
  wholeNumber,
} from "../options/options.ts";
import { readTask } from "../options/task-file.ts";
import { createProgress } from "../print/progress.ts";
import { answerMetric } from "./metric.ts";
import { describeMetric } from "./print-metric.ts";
import { describeTask, withRoom } from "./print-task.ts";
import { DEFAULT_DELTA, type PlannedMetric, type PlanOptions, questionFrom } from "./question.ts";

/** Adds the command to the program. */
export function addPlan(program: Command): void {
  program
    .command("plan")
    .description("what can be promised and how wrong results will be, before anyone deploys")
    .option("--task <file>", "price a whole task file")
    .addOption(new Option("--statistic <name>").choices(["occurrence", "histogram", "mean"]))
    .option("--devices <n>", "how many devices report", wholeNumber(1, 1e9))
    .option("--epsilon <e>", "the release is to be (ε, δ)-private for each device", positive)
    .option("--delta <d>", "its δ; 1e-6 with --local-epsilon or --task", probability)
    .option("--local-epsilon <e0>", "each device's answer is to be ε₀-private", positive)
    .option("--edges <list>", "histogram: where buckets begin", edges, [0, 1, 2, 5])
    .addOption(
      new Option("--mechanism <name>", "histogram: the best if not given").choices(["kary", "unary", "per-bucket"]),
    )
    .option("--limit <k>", "mean: counts are cut at this", wholeNumber(1, 100_000), 10)
    .option("--ticks <T>", "ticks of a window", wholeNumber(1, 100_000), 288)
    .addOption(hidesOption(`0 for a lattice histogram or mean, else ${DEFAULT_HIDES},`))
    .addOption(eventsPerTickOption())
    .option(
      "--missing <share>",
      "share of devices that may be missing or dishonest; 0, or what the task says, if not given",
      shareBelowOne,
    )
    .addOption(new Option("--mode <name>").choices(["one-server", "two-server"]).default("one-server"))
    .addOption(
      new Option("--noise <whose>", "two servers: the servers' for a mean, else the devices' if not given").choices([
        "device",
        "servers",
      ]),
    )
    .addOption(
      new Option("--scheme <name>", "one server: lattice for an occurrence, else elgamal if not given").choices([
        "lattice",
        "elgamal",
      ]),
    )
    .option("--windows <w>", "with --task: over how many windows the total is", wholeNumber(1, 100_000), 1)
    .option("--plot [file]", "draw error against number of devices; with a file, as SVG")
    .option("--json", "print JSON only")
    .action(async (options: PlanOptions, command: Command) => {
      if (options.task !== undefined) runTaskPlan(options.task, options, command);
      else await runMetricPlan(questionFrom(options, command), options);
    });
}

async function runMetricPlan(question: PlannedMetric, options: PlanOptions): Promise<void> {
  const { mode, plot, json } = options;
  if (typeof plot === "string") requireWritable(plot);
  const answered = await answerMetric(question, options);
  const { plan, parameters, picture } = answered;
  if (typeof plot === "string" && picture) writeFileSync(plot, renderSvg(picture));
  if (json) {
    const { statistic, devices, ticks, hides, eventsPerTick = null } = question;
    const servers = mode === "two-server" ? { mode } : {};
    const room = { ticks, hides, writes: ticks + hides, eventsPerTick };
    const answer = { statistic, ...servers, devices, ...room, ...plan, sigma: plan.sigma ?? null, parameters };
    console.log(JSON.stringify(picture ? { ...answer, errorByDevices: picture.lines } : answer));
    return;
  }
  console.log(describeMetric(question, answered));
  if (picture) console.log(`\n${renderTerminal(picture, Math.min(process.stdout.columns ?? 78, 100))}`);
  if (typeof plot === "string") console.log(`\nwritten to ${plot}`);
}

/** Before anything is computed, and without leaving an empty file if that fails. */
function requireWritable(path: string): void {
  const refuse = (why: string): never => {
    throw new RangeError(`--plot cannot be written to ${path}: ${why}`);
  };
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) refuse("it is a folder");
  try {
    accessSync(dirname(path), constants.W_OK);
  } catch {
    refuse("there is no such folder, or it may not be written to");
  }
}

/** A task file says these things itself. */
const SAID_BY_TASK = [
  "statistic",
  "epsilon",
  "localEpsilon",
  "edges",
  "mechanism",
  "limit",
  "ticks",
  "hides",
  "eventsPerTick",
  "mode",
  "noise",
  "scheme",
  "plot",
];

function runTaskPlan(file: string, options: PlanOptions, command: Command): void {
  for (const option of SAID_BY_TASK) {
    if (command.getOptionValueSource(option) === "cli") {
      const long = option.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
      command.error(`error: option '--${long}' is not for --task, which says it itself`);
    }
  }
  const task = readTask(file);
  const { missing, windows, delta = DEFAULT_DELTA, json } = options;
  const devices = options.devices ?? task.minimumDevices;
  if (devices < task.minimumDevices) {
    command.error(
      `error: --devices is at least the task's minimumDevices, ${task.minimumDevices}: fewer are never released`,
    );
  }
  const progress = task.metrics.length > FEW_METRICS ? createProgress(`${task.metrics.length} metrics`) : undefined;
  const plan = planTask({ task, devices, ...(missing !== undefined && { missing }), delta, windows }, progress);
  console.log(json ? JSON.stringify(withRoom(plan, task)) : describeTask(plan, task));
}

/** So many are priced at once. */
const FEW_METRICS = 10;
