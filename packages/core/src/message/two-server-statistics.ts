import { isJoint, JOINT } from "../statistic/names.ts";
import type { Metric, TwoServerSpec } from "../statistic/spec.ts";
import { type Task, writesOf } from "./task.ts";

/** A statistic of a task of two servers, and the names of its metrics in the order of its answers. */
export interface TwoServerTaskStatistic {
  readonly spec: TwoServerSpec;
  readonly metrics: readonly string[];
}

/**
 * The statistics that a device runs for a task of two servers: first those whose metrics run together, with the
 * devices' noise and with the servers'; then the others in the task's order.
 */
export function twoServerStatisticsOf({ metrics, collusion, ...task }: Task): readonly TwoServerTaskStatistic[] {
  const writes = { ...writesOf(task), ...(collusion === "one-server" && { collusion }) };
  const joint = JOINT.flatMap((statistic) => {
    const own = metrics.filter((metric) => metric.statistic === statistic);
    const told = own.filter((metric): metric is Told => metric.noise === undefined);
    const counted = own.filter((metric): metric is Counted => metric.noise !== undefined);
    const localEpsilons = told.map(({ localEpsilon }) => localEpsilon);
    const sigmas = counted.map(({ sigma }) => sigma);
    return [
      {
        spec: { statistic, noise: "device", ...writes, events: eventsIn(told), localEpsilons },
        metrics: namesIn(told),
      },
      {
        spec: { statistic, noise: "servers", ...writes, events: eventsIn(counted), sigmas },
        metrics: namesIn(counted),
      },
    ].filter((part) => part.metrics.length > 0);
  });
  const others = metrics
    .filter((metric) => !isJoint(metric.statistic))
    .map(({ name, scheme: _, event = name, ...metric }) => {
      // With two servers a sigma is always that of the servers' noise.
      const noise = "sigma" in metric ? "servers" : "device";
      return { spec: { event, ...metric, noise, ...writes }, metrics: [name] };
    });
  return [...joint, ...others] as TwoServerTaskStatistic[];
}

type Told = Extract<Metric, { readonly localEpsilon: number }>;
type Counted = Extract<Metric, { readonly noise: "servers" }>;

function namesIn(metrics: readonly Metric[]): string[] {
  return metrics.map(({ name }) => name);
}

function eventsIn(metrics: readonly Metric[]): string[] {
  return metrics.map(({ name, event = name }) => event);
}
