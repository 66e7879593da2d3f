import type { Cell } from "../chart/figure.tsx";
import { epsilonText, whole } from "../format/number.ts";
import type { PeriodCost } from "../planner/task-jobs.ts";

/** The figures of a period, with all their digits for programs. */
export function cellsOf({ windows, answered, total }: PeriodCost): Cell[] {
  const counts: Cell[] = [windows, answered].map((value) => ({ text: whole(value), value }));
  if (!total) return [...counts, ...new Array<Cell>(3).fill(answered === 0 ? "nothing yet" : "not added up")];
  const epsilons = [total.local.epsilon, total.aggregate.epsilon, total.hijackedEpsilon];
  return [...counts, ...epsilons.map((value) => ({ text: epsilonText(value), value }))];
}
