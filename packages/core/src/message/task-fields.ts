import { type Budget, MOST_BUDGET_DAYS, MOST_BUDGET_EPSILON } from "../privacy/accounting/budget.ts";
import {
  described,
  type Field,
  type Fields,
  type JsonObject,
  list,
  name,
  object,
  oneOf,
  optional,
  refuseUnknown,
  share,
  union,
  upTo,
  whole,
} from "../schema/index.ts";
import type { MetricForm } from "../statistic/entry.ts";
import { scheme } from "../statistic/metric-fields.ts";
import { COLLUSIONS, MODES } from "../statistic/names.ts";
import type { Metric } from "../statistic/spec.ts";
import { entryOf, STATISTICS } from "../statistic/table.ts";
import { DEFAULT_HIDES, MOST_TICKS } from "../statistic/writes.ts";
import type { Task } from "./task.ts";

const DAY = 86_400;
/** All pairs of groups are compared, so figures grow with the square of this. */
const MOST_GROUPS = 16;

const asField = ({ what, fields }: MetricForm): Field<Metric> => object(what, fields as unknown as Fields<Metric>);

/** Of the forms that the statistic of a metric has, the one that says it is for it, else the first. */
function formOf(path: string, found: JsonObject): Field<Metric> {
  // Which fields there are depends on the statistic, so its name is looked at first.
  if (found.statistic === undefined) refuseUnknown(path, found, "a metric", fieldsOfAny());
  const statistic = oneOf(...STATISTICS)(`${path}.statistic`, found.statistic);
  const { forms } = entryOf(statistic).task;
  return asField(forms.find(({ isFor }) => isFor?.(found)) ?? forms[0]);
}

function fieldsOfAny(): object {
  return Object.assign({}, ...STATISTICS.map((statistic) => entryOf(statistic).task.forms[0].fields));
}

const metric: Field<Metric> = union(
  STATISTICS.flatMap((statistic) => entryOf(statistic).task.forms.map(asField)),
  formOf,
);

const BUDGET: Fields<Budget> = { epsilon: upTo(MOST_BUDGET_EPSILON), days: upTo(MOST_BUDGET_DAYS) };

/** The fields of a task file, each by itself. Which of them go together `parseTask` says. */
export const TASK_FIELDS: Fields<Task> = {
  version: whole(1, Number.MAX_SAFE_INTEGER),
  task: name,
  tickSeconds: whole(1, 31 * DAY),
  ticks: whole(1, MOST_TICKS),
  graceSeconds: whole(0, 366 * DAY),
  mode: oneOf(...MODES),
  collusion: described(
    optional(oneOf(...COLLUSIONS)),
    "of two servers: one-server keeps what devices store safe from an intruder with the keys of one; none if absent",
  ),
  scheme: described(scheme, "of all metrics; if absent, each has its own"),
  hides: described(
    optional(whole(0, MOST_TICKS), DEFAULT_HIDES),
    "writes that a window allows besides those of ticks",
  ) as Field<number>,
  minimumDevices: whole(1, 1e9),
  missing: optional(share, 0) as Field<number>,
  budget: described(
    optional(object("a budget", BUDGET)),
    "what a device may spend at most in any such period, at a total δ of 1e-6; it skips a window rather than spend more",
  ),
  groups: described(
    optional(list("groups", name, 2, MOST_GROUPS)),
    "of devices, each of which is in one; figures and minimumDevices are then per group",
  ),
  metrics: list("metrics", metric, 1, 10_000),
};
