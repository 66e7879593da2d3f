import type { Task } from "@lethe/core/message";

/** How long a window lasts in development, at most if it need not be longer for its periods, and the grace after it. */
const TICKS = 10;
const MOST_TICKS = 64;
const GRACE_SECONDS = 5;
const MINIMUM_DEVICES = 10;

/**
 * The same task in windows of seconds, released for a handful of devices: for trying things out, never for people's
 * data.
 */
export function shortened(task: Task): Task {
  const ticks = shortenedTicks(task);
  return {
    ...task,
    tickSeconds: 1,
    ticks,
    metrics: withPeriods(task.metrics, task.ticks, ticks),
    graceSeconds: Math.min(task.graceSeconds, GRACE_SECONDS),
    minimumDevices: Math.min(task.minimumDevices, MINIMUM_DEVICES),
  };
}

/** A task as a service runs it. */
export function asRun(task: Task, isDevelopment: boolean): Task {
  return isDevelopment ? shortened(task) : task;
}

/** The fewest ticks, from ten on, in which every metric has as many periods as before; ten if there is no such number. */
function shortenedTicks({ metrics, ticks }: Task): number {
  const before = periodsIn(metrics, ticks).join();
  const enough = Array.from({ length: MOST_TICKS - TICKS + 1 }, (_, i) => Math.min(ticks, TICKS + i)).find((fewer) => {
    return periodsIn(withPeriods(metrics, ticks, fewer), fewer).join() === before;
  });
  return enough ?? Math.min(ticks, TICKS);
}

/** What a metric, or a side of a table, says of periods. */
interface Periodic {
  readonly statistic: string;
  readonly periodTicks?: number | undefined;
  readonly periods?: number;
  readonly of?: readonly Periodic[];
}

/** The same metrics in a window of fewer ticks: periods that are stated in ticks get shorter with it. */
function withPeriods<T extends Periodic>(metrics: readonly T[], ticks: number, fewer: number): readonly T[] {
  return metrics.map((metric) => {
    const { periodTicks, of } = metric;
    return {
      ...metric,
      ...(periodTicks && { periodTicks: Math.max(1, Math.round((periodTicks * fewer) / ticks)) }),
      ...(of && { of: withPeriods(of, ticks, fewer) }),
    };
  });
}

/** How many periods metrics, and the sides of tables, have in a window of this many ticks. */
function periodsIn(metrics: readonly Periodic[], ticks: number): number[] {
  return metrics.flatMap(({ periods, periodTicks, of = [] }) => {
    const length = periods ? Math.ceil(ticks / periods) : periodTicks;
    return [...(length ? [Math.ceil(ticks / length)] : []), ...periodsIn(of, ticks)];
  });
}
