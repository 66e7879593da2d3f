import type { Figure, Refused, Release, ReleasedMetric, Withheld } from "@lethe/core/message";
import type { TaskPlan } from "@lethe/core/plan";
import { INVALID_COUNT_EPSILON, INVALID_COUNT_STANDARD_ERROR } from "@lethe/core/privacy";
import { bucketName } from "@lethe/core/statistic";
import type { TaskVersion } from "../storage/tasks.ts";
import type { WindowRow } from "../storage/windows.ts";
import type { Tally } from "../tally/sealed-tally.ts";
import { timesOf } from "../window-time.ts";

/** What a closed window is told to the world. */
export interface ClosedWindow {
  readonly task: TaskVersion;
  readonly window: WindowRow;
  readonly refused: Refused;
  readonly at: number;
}

/** Why nothing is released, if too few devices reported. */
export function withhold(closed: ClosedWindow): Withheld | undefined {
  const missing = closed.task.manifest.minimumDevices - closed.window.received;
  return missing > 0
    ? { status: "not-enough", missing, ...outcomeOf({ ...closed, manifest: closed.task.manifest }) }
    : undefined;
}

/**
 * The release. The number of devices in it is that of the reports received; whether a report was found invalid shows only in `invalid`,
 * to which noise was added from the beginning.
 */
export function makeRelease(closed: ClosedWindow, tally: Tally, cost: TaskPlan): Release {
  const { received } = closed.window;
  const costs = costsOf(cost);
  const metrics = closed.task.layout.flatMap((part, i): ReleasedMetric[] => {
    const sums = tally.sums[i] ?? [];
    const estimates = part.server.estimate(sums, received);
    const consistent = part.server.consistent(
      estimates.map(({ estimate }) => estimate),
      received,
    );
    const figures = estimates.map((estimate, j): Figure => ({ ...estimate, consistent: consistent[j] as number }));
    if (part.spec.statistic !== "histogram") {
      const { statistic } = part.spec;
      return part.metrics.map((name, j) => ({ ...costs(name), statistic, ...(figures[j] as Figure) }));
    }
    const { statistic, edges } = part.spec;
    const buckets = figures.map((figure, b) => ({ bucket: bucketName(edges, b), ...figure }));
    return part.metrics.map((name) => ({ ...costs(name), statistic, buckets }));
  });
  const order = new Map(closed.task.manifest.metrics.map(({ name }, i) => [name, i]));
  return {
    status: "released",
    ...outcomeOf({ ...closed, manifest: closed.task.manifest }),
    metrics: metrics.sort((a, b) => (order.get(a.name) ?? 0) - (order.get(b.name) ?? 0)),
    invalid: {
      estimate: tally.invalid,
      standardError: INVALID_COUNT_STANDARD_ERROR,
      epsilon: INVALID_COUNT_EPSILON,
    },
    privacy: { local: cost.perWindow.local, aggregate: cost.perWindow.aggregate },
  };
}

/** What is told of every window that closed. */
export function outcomeOf({
  manifest,
  window,
  refused,
  at,
}: Omit<ClosedWindow, "task"> & Pick<TaskVersion, "manifest">): Omit<Withheld, "status" | "missing"> {
  const { from, to } = timesOf(manifest, window.number);
  const { task: name, version } = manifest;
  const { number, enrolled, received } = window;
  return { task: name, version, window: number, from, to, at, enrolled, received, refused };
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
