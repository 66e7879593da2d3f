import type { Task } from "@lethe/core/message";
import { type SimulatedTask, simulateTask } from "@lethe/lab/simulate-task";
import { readTask } from "../options/task-file.ts";
import { createProgress } from "../print/progress.ts";
import { count, formatFigure, formatTable } from "../print/table.ts";

/** The options of `lethe simulate --task`. */
export interface TaskCommandOptions {
  readonly devices: number;
  readonly rate: number;
  readonly seed?: string;
  readonly json?: boolean;
}

/** Simulates all metrics of a task file in this process, and prints their figures beside the truth. */
export async function simulateTaskFile(file: string, { json, ...fleet }: TaskCommandOptions): Promise<void> {
  const task = readTask(file);
  const progress = createProgress(`${fleet.devices} devices, ${task.ticks} ticks`);
  const result = await simulateTask({ task, ...fleet }, progress);
  console.log(json ? JSON.stringify(result) : describe(result, task));
}

function describe({ devices, ticks, valid, metrics }: SimulatedTask, task: Task): string {
  const hasGroups = metrics.some(({ group }) => group !== undefined);
  const rows = metrics.flatMap(({ name, statistic, group, rows: figures }) =>
    figures.map(({ bucket, truth, estimate, standardError, interval }) => {
      const shown = (value: number): string => formatFigure(value, statistic, bucket === undefined);
      return [
        bucket === undefined ? name : `${name} ${bucket}`,
        ...(hasGroups ? [group ?? "all"] : []),
        shown(truth),
        shown(estimate),
        shown(standardError),
        `[${interval.map(shown).join(", ")}]`,
      ];
    }),
  );
  const header = ["metric", ...(hasGroups ? ["group"] : []), "truth", "estimate", "± s.e.", "95% interval"];
  return [
    formatTable(header, rows, hasGroups ? 2 : 1),
    "",
    `${task.task}: ${count(valid)} of ${count(devices)} devices sent valid reports after ${count(ticks)} ticks`,
    ...describeMinimum(devices, task),
  ].join("\n");
}

/** A service releases nothing of few devices. Those of the smallest group are the fewest. */
function describeMinimum(devices: number, { minimumDevices, groups = [""] }: Task): string[] {
  const least = Math.floor(devices / groups.length);
  if (least >= minimumDevices) return [];
  const what = groups.length > 1 ? "nothing of a group of" : "nothing of";
  return [`note: a service would release ${what} ${count(least)} devices: minimumDevices is ${count(minimumDevices)}`];
}
