import { LetheError } from "@lethe/core/error";
import { eventsOfMetric, type Metric, schemeOf, type Task } from "@lethe/core/message";
import { readTask } from "../options/task-file.ts";
import { describeLimits, describeWrites } from "../print/room.ts";
import { formatTable } from "../print/table.ts";
import { inWords } from "../print/time.ts";

/** `lethe task check`. */
export function checkTask(path: string, { json }: { json?: boolean }): void {
  try {
    const task = readTask(path);
    console.log(json ? JSON.stringify({ valid: true, task }) : describeTask(task, "a good task"));
  } catch (error) {
    if (json && error instanceof LetheError) console.log(JSON.stringify({ valid: false, error: error.message }));
    throw error;
  }
}

/** A task in words: its windows, its room, and its metrics. `verdict` ends the first line. */
export function describeTask(task: Task, verdict: string): string {
  const { version, tickSeconds, ticks, graceSeconds, mode, collusion, minimumDevices, metrics, groups } = task;
  const grace = graceSeconds > 0 ? `for ${inWords(graceSeconds)} after it` : "until it ends";
  const schemes = new Set(metrics.map((metric) => schemeOf(task, metric)));
  const differ = schemes.size > 1;
  const guard = collusion === "one-server" ? ["collusion one-server"] : [];
  const events = metrics.map((metric) => eventsOfMetric(task, metric).join(", "));
  const haveNames = metrics.some(({ name }, i) => events[i] !== name);
  const limits = describeLimits(task);
  return [
    `${task.task}, version ${version}: ${verdict}`,
    `window of ${inWords(ticks * tickSeconds)}: ${ticks} ticks of ${inWords(tickSeconds)}; reports are accepted ${grace}`,
    describeWrites(task),
    `${[mode, ...guard, ...(differ ? [] : schemes)].join(", ")}; released if at least ${minimumDevices} devices report`,
    ...(groups
      ? [
          `groups ${groups.join(", ")}: each is released on its own, if at least ${minimumDevices} of its devices report`,
        ]
      : []),
    "",
    formatTable(
      ["metric", "statistic", "noise", ...(differ ? ["scheme"] : []), ...(haveNames ? ["events"] : [])],
      metrics.map((metric, i) => [
        metric.name,
        metric.statistic,
        noiseOf(metric, mode),
        ...(differ ? [schemeOf(task, metric)] : []),
        ...(haveNames ? [events[i] as string] : []),
      ]),
      5,
    ),
    ...(limits.length > 0 ? ["", ...limits] : []),
  ].join("\n");
}

/** With two servers, sigma is always that of each server. */
function noiseOf(metric: Metric, mode: Task["mode"]): string {
  if (!("sigma" in metric)) return `local ε ${metric.localEpsilon}`;
  return `sigma ${metric.sigma}${mode === "two-server" ? ", of each server" : ""}`;
}
