/*
 * Apart from `release-fields.ts`, which needs all statistics: a page that shows windows without figures does not load them.
 */
import { count, described, type Field, type Fields, list, name, oneOf, optional, record } from "../schema/index.ts";
import type { Refused, WindowStatus } from "./release.ts";

/** A list with an entry for each group of a task. */
export function ofGroups<T>(entry: Field<T>): Field<readonly T[]> {
  const entries = optional(list("groups", entry, 0, Number.POSITIVE_INFINITY));
  return described(entries, "if the task has groups") as Field<readonly T[]>;
}

/** How many requests were refused, by the code of the refusal. */
export const refused: Field<Refused> = described(record(count), "requests refused, by reason");

/** The fields of a window's status. */
export const WINDOW_STATUS_FIELDS: Fields<WindowStatus> = {
  task: name,
  version: count,
  window: count,
  state: oneOf("not-open", "open", "grace", "closed", "released", "not-enough", "lost"),
  from: count,
  to: count,
  closes: count,
  enrolled: count,
  received: count,
  minimumDevices: count,
  groups: ofGroups(name),
  refused,
};
