import type { TaskPlan } from "../plan/task.ts";
import { bucketName } from "../statistic/histogram/histogram.ts";
import type { ServerEstimates } from "../statistic/statistic.ts";
import type { Figure, Release, ReleasedMetric } from "./release.ts";

/** A statistic of a task, and what its devices' answers add up to. */
export interface SummedStatistic {
  readonly metrics: readonly string[];
  readonly edges?: readonly number[];
  readonly statistic: "occurrence" | "histogram" | "mean";
  readonly estimates: Pick<ServerEstimates, "estimate" | "consistent">;
  readonly sums: readonly number[];
}

/** The figures of a release, in the order in which the task names its metrics. */
export function releasedMetrics(
  order: readonly { readonly name: string }[],
  statistics: readonly SummedStatistic[],
  received: number,
  cost: TaskPlan,
): ReleasedMetric[] {
  const costs = costsOf(cost);
  const metrics = statistics.flatMap(({ metrics: names, statistic, edges, estimates, sums }): ReleasedMetric[] => {
    const found = estimates.estimate(sums, received);
    const consistent = estimates.consistent(
      found.map(({ estimate }) => estimate),
      received,
    );
    const figures = found.map((estimate, i): Figure => ({ ...estimate, consistent: consistent[i] as number }));
    if (statistic !== "histogram") {
      return names.map((name, i) => ({ ...costs(name), statistic, ...(figures[i] as Figure) }));
    }
    const buckets = figures.map((figure, b) => ({ bucket: bucketName(edges ?? [], b), ...figure }));
    return names.map((name) => ({ ...costs(name), statistic, buckets }));
  });
  const places = new Map(order.map(({ name }, i) => [name, i]));
  return metrics.sort((a, b) => (places.get(a.name) ?? 0) - (places.get(b.name) ?? 0));
}

type Guarantee = Pick<ReleasedMetric, "name" | "mechanism" | "localEpsilon" | "epsilon" | "delta" | "bound">;

function costsOf({ metrics }: TaskPlan): (name: string) => Guarantee {
  const plans = new Map(metrics.map((metric) => [metric.name, metric]));
  return (name) => {
    const plan = plans.get(name);
    if (!plan) throw new TypeError(`metric ${name} has no price`);
    const { mechanism, localEpsilon, epsilon, delta, bound } = plan;
    return { name, mechanism, localEpsilon, epsilon, delta, bound };
  };
}

/** What a release states of all metrics together. It does not depend on how many reports there are: anyone can send some. */
export function releasedPrivacy({ perWindow, reporting }: TaskPlan): Release["privacy"] {
  const { local, aggregate, hijackedEpsilon } = perWindow;
  return {
    local,
    aggregate,
    hijackedEpsilon: Number.isFinite(hijackedEpsilon) ? hijackedEpsilon : null,
    honest: reporting,
  };
}
