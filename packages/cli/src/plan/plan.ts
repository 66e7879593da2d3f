import { accessSync, constants, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { schemeOf, type Task } from "@lethe/core/message";
import {
  type Goal,
  type MetricPlan,
  type PlanParameters,
  parametersFor,
  planMetric,
  planTask,
  planTwoServerMetric,
  type Question,
  reportingDevices,
  type TaskPlan,
  type TotalCost,
  type TwoServerMetricPlan,
  type TwoServerQuestion,
} from "@lethe/core/plan";
import { DEFAULT_HIDES, type HistogramMechanismName, type SchemeName } from "@lethe/core/statistic";
import type { NoiseSource } from "@lethe/core/two-server";
import { type MeasuredCost, measureCost } from "@lethe/lab/cost";
import { errorByDevices } from "@lethe/lab/error-plot";
import { renderSvg, renderTerminal } from "@lethe/lab/plot";
import { type Command, Option } from "commander";
import {
  edges,
  eventsPerTickOption,
  hidesOption,
  positive,
  probability,
  refuseForeignOptions,
  shareBelowOne,
  wholeNumber,
} from "../options/options.ts";
import { readTask } from "../options/task-file.ts";
import { createProgress } from "../print/progress.ts";
import { describeLimit, describeLimits, describeWrites, limitOf } from "../print/room.ts";
import { count, figure, formatTable } from "../print/table.ts";

interface PlanOptions {
  readonly task?: string;
  readonly statistic?: Question["statistic"];
  readonly devices?: number;
  readonly epsilon?: number;
  readonly delta?: number;
  readonly localEpsilon?: number;
  readonly edges: readonly number[];
  readonly mechanism?: HistogramMechanismName;
  readonly limit: number;
  readonly ticks: number;
  readonly hides?: number;
  readonly eventsPerTick?: number;
  readonly missing?: number;
  readonly mode: "one-server" | "two-server";
  readonly noise?: NoiseSource;
  readonly scheme?: SchemeName;
  readonly windows: number;
  readonly plot?: string | true;
  readonly json?: boolean;
}

/** The δ beside which an aggregate ε is stated if none is asked for. */
const DEFAULT_DELTA = 1e-6;

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

/** Everything that is missing or does not belong ends here, with one line. */
function questionFrom(options: PlanOptions, command: Command): TwoServerQuestion & PlannedRoom {
  const {
    statistic,
    devices,
    epsilon,
    delta,
    localEpsilon,
    edges: begins,
    mechanism,
    limit,
    ticks,
    missing = 0,
    noise,
  } = options;
  const refuse = (message: string): never => command.error(`error: ${message}`);
  if (statistic === undefined) return refuse("--statistic is missing: occurrence, histogram or mean (or --task)");
  if (devices === undefined) return refuse("--devices is missing: how many devices report");
  refuseForeignOptions(statistic, command);
  if (command.getOptionValueSource("windows") === "cli") return refuse("option '--windows' is for --task only");
  if ((epsilon === undefined) === (localEpsilon === undefined)) {
    return refuse("give either --epsilon with --delta, or --local-epsilon");
  }
  if (epsilon !== undefined && delta === undefined)
    return refuse("--delta is missing: --epsilon needs one, such as 1e-6");
  const goal: Goal =
    epsilon !== undefined
      ? { epsilon, delta: delta as number }
      : { localEpsilon: localEpsilon as number, delta: delta ?? DEFAULT_DELTA };
  const reporting = reportingDevices(devices, missing);
  const named = { ...(mechanism && { mechanism }), ...(noise && { noise }) };
  return {
    statistic,
    devices,
    reporting,
    ticks,
    ...roomFrom(options, statistic),
    goal,
    edges: begins,
    limit,
    ...named,
  };
}

interface PlannedRoom {
  readonly hides: number;
  /** Absent where every event is counted. */
  readonly eventsPerTick?: number;
}

/** Rotations have room for little: the plan without page hides is where to start from. */
function roomFrom(
  { mode, scheme, hides, eventsPerTick = 1 }: PlanOptions,
  statistic: Question["statistic"],
): PlannedRoom {
  const rotates =
    mode === "one-server" && statistic !== "occurrence" && schemeOf({}, { scheme, statistic }) === "lattice";
  return rotates ? { hides: hides ?? 0, eventsPerTick } : { hides: hides ?? DEFAULT_HIDES };
}

async function runMetricPlan(
  question: TwoServerQuestion & PlannedRoom,
  { mode, scheme, plot, json }: PlanOptions,
): Promise<void> {
  if (typeof plot === "string") requireWritable(plot);
  const planFor = mode === "two-server" ? planTwoServerMetric : planMetric;
  const { spec, ...plan }: MetricPlan | TwoServerMetricPlan = planFor(question);
  const chosen = parametersFor(spec, question.devices, plan.delta, scheme);
  const microseconds = await measureCost(chosen.scheme, spec);
  const parameters = { ...chosen, ...(microseconds && { microseconds }) };
  // The picture is of the mechanism that was chosen.
  const drawn = "mechanism" in spec && spec.mechanism ? { ...question, mechanism: spec.mechanism } : question;
  const picture = plot === undefined ? undefined : errorByDevices(drawn, planFor, createProgress("error by devices"));
  if (typeof plot === "string" && picture) writeFileSync(plot, renderSvg(picture));
  const { statistic, devices, ticks, hides, eventsPerTick = null } = question;
  if (json) {
    const { lines } = picture ?? {};
    const servers = mode === "two-server" ? { mode } : {};
    const room = { ticks, hides, writes: ticks + hides, eventsPerTick };
    const answer = { statistic, ...servers, devices, ...room, ...plan, sigma: plan.sigma ?? null, parameters };
    console.log(JSON.stringify(lines ? { ...answer, errorByDevices: lines } : answer));
  } else {
    console.log(describeMetric(question, plan, parameters));
    if (picture) console.log(`\n${renderTerminal(picture, Math.min(process.stdout.columns ?? 78, 100))}`);
    if (typeof plot === "string") console.log(`\nwritten to ${plot}`);
  }
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

function describeMetric(
  { statistic, devices, ticks, hides, eventsPerTick, limit }: Question & PlannedRoom,
  plan: Omit<MetricPlan, "spec"> & { readonly noise?: NoiseSource },
  parameters: PlanParameters & { readonly microseconds?: MeasuredCost },
): string {
  const { localEpsilon, epsilon, delta, bound, standardError, largestStandardError, detectable } = plan;
  const unit = statistic === "mean" ? "" : " devices";
  const who = plan.reporting === devices ? "all are honest" : `${count(plan.reporting)} are honest`;
  const bucket =
    largestStandardError > standardError ? ` in an empty bucket, ± ${figure(largestStandardError)} in a full one` : "";
  const guess = plan.informationTheoreticStandardError === (statistic === "mean" ? limit : devices) / 2;
  const attained = parameters.localEpsilon < localEpsilon * (1 - 1e-6);
  return formatTable(
    [`${statistic} over ${count(devices)} devices`, `${ticks} ticks, ${plan.mechanism}`, ""],
    [
      [
        "local guarantee",
        `ε₀ = ${figure(localEpsilon)}${plan.sigma === undefined ? "" : `, δ = ${figure(delta)}`}`,
        whoLearns(plan.noise),
      ],
      [
        "aggregate guarantee",
        `ε = ${figure(epsilon)}, δ = ${figure(delta)}`,
        plan.noise === "servers"
          ? `what a release reveals of one device, if one server is honest (${bound})`
          : `what a release reveals of one device, if ${who} (${bound})`,
      ],
      [
        "hijacked report",
        describeHijacked(plan.hijackedEpsilon, delta),
        "what it reveals of a state that an intruder sent",
      ],
      ...(plan.sigma === undefined
        ? []
        : [
            [
              `noise of ${plan.noise === "servers" ? "each server" : "a device"}`,
              `sigma = ${figure(plan.sigma)}`,
              statistic === "mean" ? "in units of the limit" : "in devices",
            ],
          ]),
      [
        "standard error",
        `± ${figure(standardError)}${unit}${bucket}`,
        statistic === "mean" ? "of the mean" : "of a count",
      ],
      [
        "stands out at 95%",
        `${statistic === "mean" ? figure(detectable) : count(detectable)}${unit}`,
        statistic !== "mean" && detectable > devices
          ? "more than there are: nothing stands out"
          : "the smallest true value that does from zero",
      ],
      [
        "without cryptography",
        `± ${figure(plan.informationTheoreticStandardError)}${unit}`,
        guess
          ? "by guessing the middle; a counter in the clear would be further off"
          : `of a pan-private counter in the clear${plan.noise === "servers" ? "" : `, √${ticks} times as much`}`,
      ],
      [
        "on the device",
        describeScheme(parameters),
        `state ${count(parameters.stateBytes)} bytes, report ${count(parameters.reportBytes)}`,
      ],
      ...(attained
        ? [
            [
              "as it is built",
              `ε₀ = ${figure(parameters.localEpsilon)}`,
              `standard error ± ${figure(parameters.standardError)}${unit}`,
            ],
          ]
        : []),
      ["time on this machine", describeTimes(parameters.microseconds), ""],
      ["writes", describeWrites({ ticks, hides }), describeEvents(statistic, eventsPerTick)],
    ],
    3,
  ).concat(localEpsilon > WEAK ? `\n\n${weakness(localEpsilon, plan.noise)}` : "");
}

/** From here on an answer is nearly in the clear: the other one is likelier by e^ε₀ > 3,000. */
const WEAK = 8;

function weakness(localEpsilon: number, noise: NoiseSource | undefined): string {
  const answer = `note: with ε₀ = ${figure(localEpsilon)} an answer by itself hides next to nothing`;
  if (noise === "device") {
    return (
      `${answer} from two servers that put their shares together;\n` +
      "the aggregate guarantee holds if both follow the protocol. Plan with --local-epsilon if they may not."
    );
  }
  if (noise === "servers") return `note: ε = ${figure(localEpsilon)} hides next to nothing.`;
  return (
    `${answer} from the server that opens it;\n` +
    "the aggregate guarantee holds if the service releases nothing but sums. Plan with --local-epsilon if it may not."
  );
}

function whoLearns(noise: NoiseSource | undefined): string {
  if (noise === "device") return "what both servers together learn of one device, or one that cheats";
  return noise === "servers"
    ? "what either server learns of one device, if the other is honest"
    : "what the server learns of one device";
}

function describeScheme({ scheme, set, dimension, t, z }: PlanParameters): string {
  if (scheme === "elgamal") return "ElGamal over Ristretto255";
  return `lattice ${set}, N = ${dimension}, t = ${t}${z === undefined ? "" : `, z = ${z}`}`;
}

function describeEvents(statistic: Question["statistic"], eventsPerTick: number | undefined): string {
  if (eventsPerTick !== undefined) return describeLimit(eventsPerTick);
  return statistic === "occurrence" ? "one event counts as many do" : "every event is counted";
}

function describeTimes(measured: MeasuredCost | undefined): string {
  if (!measured) return "not measured: it would take seconds";
  const { write, seal, open } = measured;
  const times = [`write ${duration(write)}`];
  if (seal !== undefined) times.push(`seal ${duration(seal)}`);
  if (open !== undefined) times.push(`open ${duration(open)}`);
  return times.join(", ");
}

function runTaskPlan(file: string, options: PlanOptions, command: Command): void {
  for (const option of [
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
  ]) {
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

/** A plan in JSON says what room means, too: `eventsPerTick` is null where every event is counted. */
function withRoom(plan: TaskPlan, task: Task): object {
  const { ticks, hides = ticks } = task;
  const rooms = new Map(
    task.metrics.map((metric) => {
      return [metric.name, { scheme: schemeOf(task, metric), eventsPerTick: limitOf(task, metric) ?? null }];
    }),
  );
  const metrics = plan.metrics.map((metric) => ({ ...metric, ...rooms.get(metric.name) }));
  return { ...plan, ticks, hides, writes: ticks + hides, metrics };
}

/** So many are priced at once. */
const FEW_METRICS = 10;

function describeTask(plan: TaskPlan, task: Task): string {
  const [whom, ifHonest] = task.mode === "one-server" ? ["the server", ""] : ["the servers", " and an honest server"];
  const rows = plan.metrics.map((metric) => [
    metric.name,
    metric.mechanism,
    figure(metric.localEpsilon),
    figure(metric.epsilon),
    `± ${figure(metric.standardError)}`,
    figure(metric.detectable),
  ]);
  const totals = plan.total.windows > 1 ? [plan.perWindow, plan.total] : [plan.perWindow];
  return [
    `${plan.task}: errors with ${count(plan.devices)} devices, guarantees with ${count(plan.reporting)} honest reports${ifHonest}, at δ = ${figure(plan.delta)}`,
    "",
    formatTable(["metric", "mechanism", "local ε₀", "aggregate ε", "s.e.", "stands out"], rows, 2),
    "",
    formatTable(
      ["a device pays", `to ${whom}: local ε`, "", "in releases: aggregate ε", "", "if its report is hijacked: ε"],
      totals.map((total) => [
        total.windows === 1 ? "per window" : `over ${total.windows} windows`,
        figure(total.local.epsilon),
        describeSum(total),
        figure(total.aggregate.epsilon),
        "(upper, invalid count included)",
        Number.isFinite(total.hijackedEpsilon) ? figure(total.hijackedEpsilon) : "no bound",
      ]),
      6,
    ),
    "",
    `device: state ${count(plan.stateBytes)} bytes, report ${count(plan.reportBytes)} bytes; ${describeWrites(task)}`,
    ...describeLimits(task),
  ].join("\n");
}

/** Without a bound there is no number to print. */
function describeHijacked(epsilon: number, delta: number): string {
  return Number.isFinite(epsilon) ? `ε = ${figure(epsilon)}, δ = ${figure(delta)}` : "no bound: too few devices";
}

function describeSum({ local: { sum } }: TotalCost): string {
  return sum === undefined ? "" : `(${figure(sum)} with δ = 0)`;
}

function duration(microseconds: number): string {
  return microseconds < 1000 ? `${microseconds.toFixed(0)} µs` : `${(microseconds / 1000).toFixed(1)} ms`;
}
