import {
  DEFAULT_DELTA,
  type Goal,
  localEpsilonToDetect,
  reportingDevices,
  type TwoServerQuestion,
} from "@lethe/core/plan";
import {
  DEFAULT_HIDES,
  defaultScheme,
  type HistogramMechanismName,
  limitsEvents,
  type SchemeName,
  type StatisticName,
} from "@lethe/core/statistic";
import type { NoiseSource } from "@lethe/core/two-server";
import type { Command } from "commander";
import { ALL_STATISTICS, refuseForeignOptions } from "../options/statistic-options.ts";

/** The options of `lethe plan`, as commander parses them. */
export interface PlanOptions {
  readonly task?: string;
  readonly statistic?: StatisticName;
  readonly devices?: number;
  readonly epsilon?: number;
  readonly delta?: number;
  readonly localEpsilon?: number;
  readonly detect?: number;
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
  readonly budgetEpsilon?: number;
  readonly budgetDays?: number;
  readonly plot?: string | true;
  readonly json?: boolean;
}

/** Options that only plans of tasks have. */
const FOR_TASKS = { windows: "--windows", budgetEpsilon: "--budget-epsilon", budgetDays: "--budget-days" };

/** The writes and events for which a metric has room in a window. */
interface PlannedRoom {
  readonly hides: number;
  /** Absent where every event is counted. */
  readonly eventsPerTick?: number;
}

/** What is to be planned: a metric, by the guarantee that it shall have. */
export type PlannedMetric = TwoServerQuestion & PlannedRoom;

/**
 * The question that the options ask about one metric. A missing or contradictory option ends the command with one line.
 */
export function questionFrom(options: PlanOptions, command: Command): PlannedMetric {
  const { statistic, devices, edges, mechanism, limit, ticks, missing = 0, noise } = options;
  const refuse = (message: string): never => command.error(`error: ${message}`);
  if (statistic === undefined) return refuse(`--statistic is missing: ${ALL_STATISTICS} (or --task)`);
  if (devices === undefined) return refuse("--devices is missing: how many devices report");
  refuseForeignOptions(statistic, command);
  for (const [name, option] of Object.entries(FOR_TASKS)) {
    if (command.getOptionValueSource(name) === "cli") return refuse(`option '${option}' is for --task only`);
  }
  const named = { ...(mechanism && { mechanism }), ...(noise && { noise }) };
  const asked = { statistic, devices, ticks, ...roomFrom(options, statistic), edges, limit, ...named };
  const goal = goalFrom(options, asked, refuse);
  return { ...asked, reporting: reportingDevices(devices, missing), goal };
}

/** The guarantee that the options ask for, or the weakest one that they need. */
function goalFrom(
  { epsilon, delta, localEpsilon, detect, mode, scheme }: PlanOptions,
  asked: Omit<PlannedMetric, "goal" | "reporting">,
  refuse: (message: string) => never,
): Goal {
  const given = [epsilon, localEpsilon, detect].filter((each) => each !== undefined);
  if (given.length !== 1) return refuse("give either --epsilon with --delta, or --local-epsilon, or --detect");
  if (epsilon !== undefined) {
    return delta === undefined ? refuse("--delta is missing: --epsilon needs one, such as 1e-6") : { epsilon, delta };
  }
  if (localEpsilon !== undefined) return { localEpsilon, delta: delta ?? DEFAULT_DELTA };
  const question = { ...asked, detect: detect as number, delta: delta ?? DEFAULT_DELTA, mode };
  return { localEpsilon: localEpsilonToDetect({ ...question, ...(scheme && { scheme }) }), delta: question.delta };
}

/** Statistics on lattices have little room, so the default is a plan without page hides. */
function roomFrom({ mode, scheme, hides, eventsPerTick = 1 }: PlanOptions, statistic: StatisticName): PlannedRoom {
  const isLimited = mode === "one-server" && limitsEvents(scheme ?? defaultScheme(statistic), statistic);
  return isLimited ? { hides: hides ?? 0, eventsPerTick } : { hides: hides ?? DEFAULT_HIDES };
}
