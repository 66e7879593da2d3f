import { type Task, writesOf } from "../message/task.ts";
import { HALF_BYTES, type ServerRole } from "../sharing/shared-bit.ts";
import { createTwoServerStatistic } from "../statistic/create-two-server.ts";
import type { TwoServerStatistic } from "../statistic/two-server.ts";
import type { TwoServerSpec } from "./spec.ts";

/** A statistic of a task of two servers, and the names of its metrics in the order of its answers. */
export interface TwoServerTaskStatistic {
  readonly spec: TwoServerSpec;
  readonly metrics: readonly string[];
}

export interface TwoServerPart extends TwoServerTaskStatistic {
  readonly statistic: TwoServerStatistic;
}

/** In the order of their bits in a report. */
export type TwoServerLayout = readonly TwoServerPart[];

export function twoServerLayoutOf(task: Task): TwoServerLayout {
  return twoServerStatisticsOf(task).map((part) => ({ ...part, statistic: createTwoServerStatistic(part.spec) }));
}

/** Occurrences share a statistic, those whose noise is the devices' one and those whose noise is the servers' another; then the others in the task's order. */
export function twoServerStatisticsOf({ metrics, ...task }: Task): readonly TwoServerTaskStatistic[] {
  const parts: TwoServerTaskStatistic[] = [];
  const writes = writesOf(task);
  const told = metrics.filter((metric) => metric.statistic === "occurrence" && metric.noise === undefined);
  if (told.length > 0) {
    const localEpsilons = told.map(({ localEpsilon }) => localEpsilon);
    parts.push({
      spec: { statistic: "occurrence", noise: "device", ...writes, localEpsilons },
      metrics: namesOf(told),
    });
  }
  const counted = metrics.filter((metric) => metric.statistic === "occurrence" && metric.noise !== undefined);
  if (counted.length > 0) {
    const sigmas = counted.map(({ sigma }) => sigma);
    parts.push({
      spec: { statistic: "occurrence", noise: "servers", ...writes, sigmas },
      metrics: namesOf(counted),
    });
  }
  for (const metric of metrics) {
    if (metric.statistic === "occurrence") continue;
    const { name, scheme: _, ...rest } = metric;
    const spec: TwoServerSpec =
      rest.statistic === "mean" || rest.noise === "servers"
        ? { ...rest, noise: "servers", ...writes }
        : { ...rest, noise: "device", ...writes };
    parts.push({ spec, metrics: [name] });
  }
  return parts;
}

function namesOf(metrics: readonly { readonly name: string }[]): string[] {
  return metrics.map(({ name }) => name);
}

/** What the sizes of messages follow from. */
export type TwoServerStatistics = readonly Pick<TwoServerPart, "statistic">[];

/** Bits that a report shares. */
function sharedBits(layout: TwoServerStatistics): number {
  return layout.reduce((sum, { statistic }) => sum + statistic.answerOf.length, 0);
}

/** Of a server's half of a report, before it is wrapped. */
export function halfBytes(layout: TwoServerStatistics, role: ServerRole): number {
  return sharedBits(layout) * HALF_BYTES[role];
}
