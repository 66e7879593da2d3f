import type { Alternative } from "../planner/task-jobs.ts";

/** A change of the task, as the heading of a row. */
export function alternativeText({ change }: Pick<Alternative, "change">): string {
  if (change.kind === "none") return "As it is";
  return change.kind === "longer" ? `Windows ${change.times} times as long` : `Without ${change.metric}`;
}
