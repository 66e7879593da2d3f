import { estimateDifference, type PerDevice } from "../estimate/index.ts";
import { entryOf } from "../statistic/table.ts";
import {
  type Figure,
  type FigureDifference,
  figuresOf,
  type GroupDifference,
  type MetricDifference,
  type Release,
  type ReleasedGroup,
  type ReleasedMetric,
  type WithheldGroup,
} from "./release.ts";
import { releasedMetrics, type SummedStatistic, type TaskPrice } from "./released-metrics.ts";
import type { Task } from "./task.ts";

/** How many devices of a group enrolled and reported. */
export interface GroupCounts {
  readonly enrolled: number;
  readonly received: number;
}

/** What the reports of a group add up to: one list of sums for each statistic. */
export interface GroupSums extends GroupCounts {
  readonly sums: readonly (readonly number[])[];
}

type Grouped = Pick<Task, "metrics" | "minimumDevices" | "groups">;
type UnsummedStatistic = Omit<SummedStatistic, "sums">;

/**
 * The figures of a release, from what was counted in each group of the task, or in its one group if it declares none.
 * Whatever is in the result is made from the sums of groups of which at least `minimumDevices` devices reported; sums of
 * other groups are not even read. Such a group must exist.
 */
export function releasedFigures(
  task: Grouped,
  statistics: readonly UnsummedStatistic[],
  counted: readonly GroupSums[],
  cost: TaskPrice,
): Pick<Release, "metrics" | "devices" | "groups" | "differences"> {
  const figures = (each: readonly GroupSums[]): ReleasedMetric[] => {
    const summed = statistics.map((statistic, i) => ({ ...statistic, sums: added(each.map(({ sums }) => sums[i])) }));
    return releasedMetrics(task.metrics, summed, receivedIn(each), cost, each.length);
  };
  const { groups: names } = task;
  const released = counted.filter((group) => !names || group.received >= task.minimumDevices);
  if (released.length === 0) throw new TypeError("too few devices of each group reported");
  if (!names) return { metrics: figures(released) };
  const groups = names.map((group, i): ReleasedGroup | WithheldGroup => {
    const own = counted[i] as GroupSums;
    const { enrolled, received } = own;
    const missing = task.minimumDevices - received;
    if (missing > 0) return { group, status: "not-enough", enrolled, received, missing };
    return { group, status: "released", enrolled, received, metrics: figures([own]) };
  });
  return {
    metrics: figures(released),
    devices: receivedIn(released),
    groups,
    differences: differencesOf(groups, statistics),
  };
}

/** The groups of a task, if too few devices of each reported; else undefined. */
export function withheldGroups(
  { minimumDevices, groups = [] }: Grouped,
  counts: readonly GroupCounts[],
): WithheldGroup[] | undefined {
  const withheld = groups.map((group, i): WithheldGroup => {
    const { enrolled, received } = counts[i] as GroupCounts;
    return { group, status: "not-enough", enrolled, received, missing: minimumDevices - received };
  });
  return withheld.every(({ missing }) => missing > 0) ? withheld : undefined;
}

function receivedIn(groups: readonly GroupCounts[]): number {
  return groups.reduce((sum, { received }) => sum + received, 0);
}

/** Sums of the same statistic in several groups, added up; a group without reports may have none. */
function added(sums: readonly (readonly number[] | undefined)[]): number[] {
  const length = Math.max(...sums.map((each) => each?.length ?? 0));
  return Array.from({ length }, (_, i) => sums.reduce((sum, each) => sum + (each?.[i] ?? 0), 0));
}

/** Every pair of released groups, the later one minus the earlier one. */
function differencesOf(
  groups: readonly (ReleasedGroup | WithheldGroup)[],
  statistics: readonly UnsummedStatistic[],
): GroupDifference[] {
  const released = groups.filter((group) => group.status === "released");
  const ranges = rangesOf(statistics);
  return released.flatMap((later, i) =>
    released.slice(0, i).map((earlier) => ({
      group: later.group,
      minus: earlier.group,
      metrics: later.metrics.map((metric, m) => {
        const { name, statistic } = metric;
        const others = figuresOf(earlier.metrics[m] as ReleasedMetric);
        const differences = figuresOf(metric).map(({ label, figure }, f): FigureDifference & { bucket?: string } => ({
          ...(label !== undefined && { bucket: label }),
          ...estimateDifference(
            perDevice(figure, later.received, ranges.get(name)),
            perDevice(others[f]?.figure as Figure, earlier.received, ranges.get(name)),
          ),
        }));
        return { name, statistic, ...("buckets" in metric ? { buckets: differences } : differences[0]) };
      }) as MetricDifference[],
    })),
  );
}

/** Which values an average can have, by the metric's name: from the nearest to −∞ to the nearest to +∞. */
function rangesOf(statistics: readonly UnsummedStatistic[]): Map<string, PerDevice["range"]> {
  const averages = statistics.filter((part) => entryOf(part.statistic).answers.output(part) === "average");
  return new Map(
    averages.flatMap(({ metrics, estimates }) => {
      const end = (most: number) =>
        estimates.consistent(
          metrics.map(() => most),
          1,
        );
      const [least, greatest] = [end(Number.NEGATIVE_INFINITY), end(Number.POSITIVE_INFINITY)];
      return metrics.map((name, i) => [name, [least[i] as number, greatest[i] as number]] as const);
    }),
  );
}

const SHARES: PerDevice["range"] = [0, 1];

/** A number of devices as a share of those that reported; an average, which has a range, is per device already. */
function perDevice(
  { estimate, standardError }: Figure,
  devices: number,
  average: PerDevice["range"] | undefined,
): PerDevice {
  const parts = average ? 1 : devices;
  return { estimate: estimate / parts, standardError: standardError / parts, devices, range: average ?? SHARES };
}
