/**
 * The command `lethe plan`: which guarantees hold and how large errors will be. `question.ts` reads the options,
 * `metric.ts` computes the plan of one metric, and `print-metric.ts`, `print-task.ts` and `print-budget.ts` write plans as
 * text. Core
 * plans, the lab measures.
 */
import { accessSync, constants, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { Task } from "@lethe/core/message";
import {
  type Budget,
  DEFAULT_DELTA,
  MOST_BUDGET_DAYS,
  MOST_BUDGET_EPSILON,
  planBudget,
  planTask,
} from "@lethe/core/plan";
import { DEFAULT_HIDES } from "@lethe/core/statistic";
import { renderSvg, renderTerminal } from "@lethe/lab/plot";
import type { Command } from "commander";
import { edges, positive, positiveUpTo, probability, shareBelowOne, wholeNumber } from "../options/options.ts";
import {
  eventsPerTickOption,
  hidesOption,
  mechanismOption,
  modeOption,
  noiseOption,
  schemeOption,
  statisticOption,
} from "../options/statistic-options.ts";
import { readTask } from "../options/task-file.ts";
import { createProgress } from "../print/progress.ts";
import { answerMetric } from "./metric.ts";
import { describeBudget } from "./print-budget.ts";
import { describeMetric } from "./print-metric.ts";
import { describeTask, withRoom } from "./print-task.ts";
import { type PlannedMetric, type PlanOptions, questionFrom } from "./question.ts";

/** Adds the command to the program. */
export function addPlan(program: Command): void {
  program
    .command("plan")
    .description("compute which guarantees hold and how large errors will be, before you deploy")
    .option("--task <file>", "plan all metrics of a task file")
    .addOption(statisticOption())
    .option("--devices <n>", "number of devices that report", wholeNumber(1, 1e9))
    .option(
      "--epsilon <e>",
      "the aggregate guarantee to plan for: the release is (ε, δ)-private for each device",
      positive,
    )
    .option("--delta <d>", "the δ of the aggregate guarantee (default: 1e-6, unless --epsilon is given)", probability)
    .option("--local-epsilon <e0>", "the local guarantee to plan for: each device's answer is ε₀-private", positive)
    .option("--detect <count>", "find the least ε with which this many devices, or this mean, stand out", positive)
    .option("--edges <list>", "histogram: where each bucket begins", edges, [0, 1, 2, 5])
    .addOption(mechanismOption())
    .option("--limit <k>", "mean: larger counts are cut to this limit", wholeNumber(1, 100_000), 10)
    .option("--ticks <T>", "ticks of a window", wholeNumber(1, 100_000), 288)
    .addOption(hidesOption(`default: 0 for a lattice histogram or mean, else ${DEFAULT_HIDES}`))
    .addOption(eventsPerTickOption())
    .option(
      "--missing <share>",
      "share of devices that may be missing or dishonest (default: 0, or what the task says)",
      shareBelowOne,
    )
    .addOption(modeOption())
    .addOption(noiseOption())
    .addOption(schemeOption("one server (default: lattice for an occurrence, else elgamal)"))
    .option("--windows <w>", "with --task: the number of windows to add up", wholeNumber(1, 100_000), 1)
    .option(
      "--budget-epsilon <e>",
      "with --task and --budget-days: what a device may spend at most (default: the task's budget)",
      positiveUpTo(MOST_BUDGET_EPSILON),
    )
    .option(
      "--budget-days <n>",
      "with --task and --budget-epsilon: the length of the period, in days",
      positiveUpTo(MOST_BUDGET_DAYS),
    )
    .option("--plot [file]", "draw the error by the number of devices; with a file name, write it as SVG")
    .option("--json", "print JSON only")
    .action(async (options: PlanOptions, command: Command) => {
      if (options.task !== undefined) runTaskPlan(options.task, options, command);
      else await runMetricPlan(questionFrom(options, command), options);
    });
}

async function runMetricPlan(question: PlannedMetric, options: PlanOptions): Promise<void> {
  const { mode, plot, json, detect } = options;
  if (typeof plot === "string") requireWritable(plot);
  const answered = await answerMetric(question, options);
  const { plan, parameters, picture } = answered;
  if (typeof plot === "string" && picture) writeFileSync(plot, renderSvg(picture));
  if (json) {
    const { statistic, devices, ticks, hides, eventsPerTick = null } = question;
    const servers = mode === "two-server" ? { mode } : {};
    const room = { ticks, hides, writes: ticks + hides, eventsPerTick };
    const asked = detect === undefined ? {} : { detect };
    const answer = {
      statistic,
      ...servers,
      devices,
      ...asked,
      ...room,
      ...plan,
      sigma: plan.sigma ?? null,
      parameters,
    };
    console.log(JSON.stringify(picture ? { ...answer, errorByDevices: picture.lines } : answer));
    return;
  }
  console.log(describeMetric(question, answered, detect));
  if (picture) console.log(`\n${renderTerminal(picture, Math.min(process.stdout.columns ?? 78, 100))}`);
  if (typeof plot === "string") console.log(`\nwritten to ${plot}`);
}

/** Checks this before anything is computed, and leaves no empty file behind if that fails. */
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

/** A task file sets what these options set otherwise. */
const SAID_BY_TASK = [
  "statistic",
  "epsilon",
  "localEpsilon",
  "detect",
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
      command.error(`error: option '--${long}' cannot be used with --task: the task file sets it`);
    }
  }
  const task = readTask(file);
  const { missing, windows, delta = DEFAULT_DELTA, json } = options;
  const devices = options.devices ?? task.minimumDevices;
  if (devices < task.minimumDevices) {
    command.error(
      `error: --devices must be at least the task's minimumDevices, ${task.minimumDevices}: reports of fewer devices are never released`,
    );
  }
  const progress = task.metrics.length > FEW_METRICS ? createProgress(`${task.metrics.length} metrics`) : undefined;
  const plan = planTask({ task, devices, ...(missing !== undefined && { missing }), delta, windows }, progress);
  const budget = budgetFrom(options, task, command);
  const budgetPlan = budget && planBudget({ task, budget, windows, devices });
  if (json) console.log(JSON.stringify({ ...withRoom(plan, task), ...(budgetPlan && { budget: budgetPlan }) }));
  else console.log([describeTask(plan, task), ...(budgetPlan ? ["", describeBudget(budgetPlan)] : [])].join("\n"));
}

/** That of the options, else the task's, if there is any. */
function budgetFrom(
  { budgetEpsilon: epsilon, budgetDays: days }: PlanOptions,
  task: Task,
  command: Command,
): Budget | undefined {
  if (epsilon !== undefined && days !== undefined) return { epsilon, days };
  if (epsilon !== undefined) return command.error("error: --budget-days is missing: --budget-epsilon needs it");
  if (days !== undefined) return command.error("error: --budget-epsilon is missing: --budget-days needs it");
  return task.budget;
}

/** Up to this number of metrics, planning takes a moment, and no progress is shown. */
const FEW_METRICS = 10;
