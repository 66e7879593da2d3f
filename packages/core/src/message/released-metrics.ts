import type { AnyShape, StatisticName } from "../statistic/spec.ts";
import type { ServerEstimates } from "../statistic/statistic.ts";
import { entryOf } from "../statistic/table.ts";
import type { Figure, Release, ReleasedMetric, ReleasedQuantile, ReleasedSummary } from "./release.ts";

/** A statistic of a task, and what its devices' answers add up to. */
export interface SummedStatistic extends AnyShape {
  readonly metrics: readonly string[];
  readonly quantiles?: readonly number[];
  readonly statistic: StatisticName;
  readonly estimates: Pick<ServerEstimates, "estimate" | "combine" | "consistent" | "quantiles">;
  readonly sums: readonly number[];
}

/** What a release states about privacy. A `TaskPlan` is one. */
export interface TaskPrice {
  readonly metrics: readonly Guarantee[];
  readonly perWindow: Omit<Release["privacy"], "honest" | "hijackedEpsilon"> & { readonly hijackedEpsilon: number };
  /** How many honest reports the guarantees stand on. */
  readonly reporting: number;
}

/**
 * The figures of a release, in the order in which the task names its metrics. `parts` says of how many sums, each with
 * its own noise if the noise is the servers', these are the total.
 */
export function releasedMetrics(
  order: readonly { readonly name: string }[],
  statistics: readonly SummedStatistic[],
  received: number,
  cost: TaskPrice,
  parts = 1,
): ReleasedMetric[] {
  const costs = costsOf(cost);
  const metrics = statistics.flatMap((part): ReleasedMetric[] => {
    const { metrics: names, statistic, estimates, sums } = part;
    const found = estimates.estimate(sums, received, parts);
    const consistent = estimates.consistent(
      found.map(({ estimate }) => estimate),
      received,
    );
    const figures = found.map((estimate, i): Figure => ({ ...estimate, consistent: consistent[i] as number }));
    const labels = entryOf(statistic).answers.labels(part);
    const buckets = labels.map((bucket, b) => ({ bucket, ...(figures[b] as Figure) }));
    const quantiles = releasedQuantiles(part, labels, received, parts);
    const categories = { buckets, ...(quantiles && { quantiles }), ...releasedSummary(part, consistent, received) };
    return names.map((name, i) => {
      const released = { ...costs(name), statistic, ...(labels.length > 0 ? categories : figures[i]) };
      return released as ReleasedMetric;
    });
  });
  const places = new Map(order.map(({ name }, i) => [name, i]));
  return metrics.sort((a, b) => (places.get(a.name) ?? 0) - (places.get(b.name) ?? 0));
}

/** What follows from the sums of the categories. Nothing new is learnt of a device: it is computed from what is known. */
function releasedSummary(part: SummedStatistic, consistent: readonly number[], received: number): ReleasedSummary {
  const { statistic, estimates, sums } = part;
  const summary = entryOf(statistic).answers.summary?.(part);
  if (!summary) return {};
  const { field, isShare, figures } = summary;
  const unit = isShare ? received : 1;
  const released = figures.map(({ label, categories }, i) => {
    const weights = sums.map((_, category) => (categories.includes(category) ? 1 / unit : 0));
    const estimate = estimates.combine?.(sums, received, weights);
    if (!estimate) throw new TypeError(`${statistic} has no joint distribution of its figures`);
    const likely = consistent.reduce((total, value, category) => total + value * (weights[category] as number), 0);
    return { ...(field === "curve" ? { period: i + 1 } : { bucket: label }), ...estimate, consistent: likely };
  });
  return { [field]: released };
}

/** The quantiles that a metric asks for, if its categories have an order. */
function releasedQuantiles(
  { statistic, quantiles, estimates, sums }: SummedStatistic,
  labels: readonly string[],
  received: number,
  parts: number,
): ReleasedQuantile[] | undefined {
  const asked = entryOf(statistic).answers.quantiles && (quantiles ?? entryOf(statistic).answers.quantiles);
  return (
    asked &&
    estimates.quantiles?.(sums, received, asked, parts).map(({ q, bucket, low, high }) => {
      const [name, from, to] = [bucket, low, high].map((b) => labels[b]) as [string, string, string];
      return { q, bucket: name, low: from, high: to };
    })
  );
}

type Guarantee = Pick<ReleasedMetric, "name" | "mechanism" | "localEpsilon" | "epsilon" | "delta" | "bound">;

function costsOf({ metrics }: TaskPrice): (name: string) => Guarantee {
  const plans = new Map(metrics.map((metric) => [metric.name, metric]));
  return (name) => {
    const plan = plans.get(name);
    if (!plan) throw new TypeError(`metric ${name} has no price`);
    const { mechanism, localEpsilon, epsilon, delta, bound } = plan;
    return { name, mechanism, localEpsilon, epsilon, delta, bound };
  };
}

/**
 * What a release states of all metrics together. It does not depend on how many reports there are: anyone can send
 * some.
 */
export function releasedPrivacy({ perWindow, reporting }: TaskPrice): Release["privacy"] {
  const { local, aggregate, hijackedEpsilon } = perWindow;
  return {
    local,
    aggregate,
    hijackedEpsilon: Number.isFinite(hijackedEpsilon) ? hijackedEpsilon : null,
    honest: reporting,
  };
}
