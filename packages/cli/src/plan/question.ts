import { type Goal, reportingDevices, type TwoServerQuestion } from "@lethe/core/plan";
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

/** The δ of an aggregate guarantee if the user asks for none. */
export const DEFAULT_DELTA = 1e-6;

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
  if (statistic === undefined) return refuse(`--statistic is missing: ${ALL_STATISTICS} (or --task)`);
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

/** Statistics on lattices have little room, so the default is a plan without page hides. */
function roomFrom({ mode, scheme, hides, eventsPerTick = 1 }: PlanOptions, statistic: StatisticName): PlannedRoom {
  const isLimited = mode === "one-server" && limitsEvents(scheme ?? defaultScheme(statistic), statistic);
  return isLimited ? { hides: hides ?? 0, eventsPerTick } : { hides: hides ?? DEFAULT_HIDES };
}
