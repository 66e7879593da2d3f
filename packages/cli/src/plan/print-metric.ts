import type { PlanParameters } from "@lethe/core/plan";
import { entryOf, SCHEME_TABLE, type StatisticName } from "@lethe/core/statistic";
import type { NoiseSource } from "@lethe/core/two-server";
import type { MeasuredCost } from "@lethe/lab/cost";
import { describeLimit, describeWrites } from "../print/room.ts";
import { count, figure, formatTable } from "../print/table.ts";
import type { AnsweredMetric } from "./metric.ts";
import type { PlannedMetric } from "./question.ts";

type Plan = AnsweredMetric["plan"];
type Parameters = AnsweredMetric["parameters"];

/**
 * The plan of one metric as a table, with a note if its local guarantee hides next to nothing. `detect` is what the
 * guarantee was chosen for, if anything.
 */
export function describeMetric(
  question: PlannedMetric,
  { plan, parameters }: AnsweredMetric,
  detect: number | undefined,
): string {
  const { statistic, devices, ticks } = question;
  const { mechanism, localEpsilon, noise } = plan;
  const table = formatTable(
    [`${statistic} over ${count(devices)} devices`, `${ticks} ticks, ${mechanism}`, ""],
    [
      ...(detect === undefined ? [] : [detectRow(question, plan, detect)]),
      ...guaranteeRows(question, plan),
      ...errorRows(question, plan),
      ...deviceRows(question, plan, parameters),
    ],
    3,
  );
  return localEpsilon > WEAK ? `${table}\n\n${weakness(localEpsilon, noise)}` : table;
}

/** Each row has a name, a value, and an explanation. */
type Row = readonly [name: string, value: string, explanation: string];

function detectRow(question: PlannedMetric, { localEpsilon, noise }: Plan, detect: number): Row {
  const { statistic, devices } = question;
  const isAverage = entryOf(statistic).answers.output(question) === "average";
  const what = isAverage ? `a mean of ${figure(detect)}` : `${count(detect)} of ${count(devices)} devices`;
  const whose = noise === "servers" ? "ε" : "ε₀";
  return ["to make visible", what, `take ${whose} = ${figure(localEpsilon)}: it is the least that does`];
}

function guaranteeRows({ statistic, devices }: PlannedMetric, plan: Plan): Row[] {
  const { localEpsilon, epsilon, delta, bound, hijackedEpsilon, sigma, noise } = plan;
  const who = plan.reporting === devices ? "all are honest" : `${count(plan.reporting)} are honest`;
  const isAtServers = noise === "servers";
  const rows: Row[] = [
    [
      "local guarantee",
      `ε₀ = ${figure(localEpsilon)}${sigma === undefined ? "" : `, δ = ${figure(delta)}`}`,
      whoLearns(noise),
    ],
    [
      "aggregate guarantee",
      `ε = ${figure(epsilon)}, δ = ${figure(delta)}`,
      `what a release reveals of one device, if ${isAtServers ? "one server is honest" : who} (${bound})`,
    ],
    ["hijacked report", describeHijacked(hijackedEpsilon, delta), "what it reveals of a state that an intruder sent"],
  ];
  if (sigma !== undefined) {
    const { sigmaUnit } = entryOf(statistic).words;
    rows.push([`noise of ${isAtServers ? "each server" : "a device"}`, `sigma = ${figure(sigma)}`, sigmaUnit]);
  }
  return rows;
}

function errorRows(question: PlannedMetric, plan: Plan): Row[] {
  const { standardError, largestStandardError, detectable, informationTheoreticStandardError, noise } = plan;
  const { statistic, devices, ticks } = question;
  const { words, answers, plan: planning } = entryOf(statistic);
  const unit = unitOf(statistic);
  const bucket =
    largestStandardError > standardError
      ? ` in ${words.emptyFigure}, ± ${figure(largestStandardError)} in a full one`
      : "";
  const isGuess = informationTheoreticStandardError === planning.rangeOf(question) / 2;
  return [
    ["standard error", `± ${figure(standardError)}${unit}${bucket}`, `of ${words.figure}`],
    [
      "stands out at 95%",
      `${words.decimals > 0 ? figure(detectable) : count(detectable)}${unit}`,
      answers.output(question) !== "average" && detectable > devices
        ? "more than there are: nothing stands out"
        : "the smallest true value that does from zero",
    ],
    [
      "without cryptography",
      `± ${figure(informationTheoreticStandardError)}${unit}`,
      isGuess
        ? "by guessing the middle; a counter in the clear would be further off"
        : `of a pan-private counter in the clear${noise === "servers" ? "" : `, √${ticks} times as much`}`,
    ],
  ];
}

function deviceRows(
  { statistic, ticks, hides, eventsPerTick }: PlannedMetric,
  { localEpsilon }: Plan,
  parameters: Parameters,
): Row[] {
  const { stateBytes, reportBytes, microseconds } = parameters;
  const isAttained = parameters.localEpsilon < localEpsilon * (1 - 1e-6);
  const attained: Row = [
    "as it is built",
    `ε₀ = ${figure(parameters.localEpsilon)}`,
    `standard error ± ${figure(parameters.standardError)}${unitOf(statistic)}`,
  ];
  return [
    ["on the device", describeScheme(parameters), `state ${count(stateBytes)} bytes, report ${count(reportBytes)}`],
    ...(isAttained ? [attained] : []),
    ["time on this machine", describeTimes(microseconds), ""],
    ["writes", describeWrites({ ticks, hides }), describeEvents(statistic, eventsPerTick)],
  ];
}

function unitOf(statistic: StatisticName): string {
  const { unit } = entryOf(statistic).words;
  return unit === "" ? "" : ` ${unit}`;
}

/** Above this ε₀ an answer is nearly in the clear: the true answer is e^ε₀ > 3,000 times as likely as another. */
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
  const { title } = SCHEME_TABLE[scheme];
  return set === undefined
    ? title
    : `${title} ${set}, N = ${dimension}, t = ${t}${z === undefined ? "" : `, z = ${z}`}`;
}

function describeEvents(statistic: StatisticName, eventsPerTick: number | undefined): string {
  return eventsPerTick === undefined ? entryOf(statistic).words.events : describeLimit(eventsPerTick);
}

function describeTimes(measured: MeasuredCost | undefined): string {
  if (!measured) return "not measured: it would take seconds";
  const { write, seal, open } = measured;
  const times = [`write ${duration(write)}`];
  if (seal !== undefined) times.push(`seal ${duration(seal)}`);
  if (open !== undefined) times.push(`open ${duration(open)}`);
  return times.join(", ");
}

/** The guarantee of a hijacked report; an infinite ε means that there is no bound. */
function describeHijacked(epsilon: number, delta: number): string {
  return Number.isFinite(epsilon) ? `ε = ${figure(epsilon)}, δ = ${figure(delta)}` : "no bound: too few devices";
}

function duration(microseconds: number): string {
  return microseconds < 1000 ? `${microseconds.toFixed(0)} µs` : `${(microseconds / 1000).toFixed(1)} ms`;
}
