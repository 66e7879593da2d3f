import {
  boolean,
  count,
  described,
  type Field,
  type Fields,
  field,
  finite,
  list,
  name,
  nullable,
  object,
  oneOf,
  optional,
  readFields,
  readMessage,
  text,
} from "../schema/index.ts";
import type { Operations, OperationsBacklog, ServiceInfo, ServiceRole, TaskOperations } from "./operations.ts";
import { WINDOW_STATUS_FIELDS } from "./window-status-fields.ts";

const role: Field<ServiceRole> = oneOf("all", "intake", "tally", "leader", "helper");
const now = described(finite, "Unix seconds, by the service's clock");

/** The fields of what a page asks a service first. */
export const SERVICE_INFO_FIELDS: Fields<ServiceInfo> = {
  version: text,
  role,
  now,
  privateResults: described(boolean, "whether releases and windows need the admin token"),
  isAdmin: described(boolean, "whether this request had the admin token"),
  tasks: described(
    optional(list("names", name, 0, Number.POSITIVE_INFINITY)),
    "absent if results are private and the request had no admin token",
  ) as Field<readonly string[]>,
  operatorKey: optional(text) as Field<string>,
  hasDemonstration: boolean,
};

const BACKLOG: Fields<OperationsBacklog> = {
  reports: described(count, "stored and not counted yet"),
  keys: described(
    optional(count),
    "ready in the open window that has fewest; absent without an open window",
  ) as Field<number>,
  windows: described(count, "past their closing time and not released"),
};

const TASK: Fields<TaskOperations> = {
  task: name,
  version: described(count, "in force in the running window"),
  windowSeconds: count,
  nextRelease: nullable(object("a release to come", { window: count, at: finite })),
  windows: described(
    list("windows", object("a window", WINDOW_STATUS_FIELDS), 0, Number.POSITIVE_INFINITY),
    "the next, all that are not finished, and the last finished; newest first",
  ),
};

const ready: Field<true | string> = field((path, value) => (value === true ? value : text(path, value)), {
  anyOf: [{ type: "boolean", const: true }, text.schema],
  description: "true, or why the service is not ready",
});

/** The fields of what a live view of a service shows. */
export const OPERATIONS_FIELDS: Fields<Operations> = {
  now,
  role,
  version: text,
  ready,
  clockInDoubt: boolean,
  backlog: described(
    optional(object("a backlog", BACKLOG)),
    "of all processes on the database; absent if the database does not answer",
  ) as Field<OperationsBacklog>,
  disk: described(optional(object("a disk", { freeBytes: count, isLow: boolean })), "of an embedded database") as Field<
    NonNullable<Operations["disk"]>
  >,
  helper: described(
    optional(object("a helper", { url: text, answers: boolean, detail: text })),
    "of a leader: its helper, at most 5 s ago",
  ) as Field<NonNullable<Operations["helper"]>>,
  tasks: list("tasks", object("a task", TASK), 0, Number.POSITIVE_INFINITY),
};

/** Reads what a service says about itself; anything else is a `bad-encoding` error that names the field. */
export function parseServiceInfo(json: string): ServiceInfo {
  return readMessage("the answer", json, (found) => readFields("", found, "a service", SERVICE_INFO_FIELDS));
}

/** Reads what a live view shows; anything else is a `bad-encoding` error that names the field. */
export function parseOperations(json: string): Operations {
  return readMessage("the answer", json, (found) => readFields("", found, "a live view", OPERATIONS_FIELDS));
}
