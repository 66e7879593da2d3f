import { described, type Field, type Fields, name, oneOf, optional, whole } from "../schema/index.ts";
import { SCHEMES } from "./names.ts";
import type { NamedMetric, SchemeName } from "./spec.ts";
import { MOST_TICKS } from "./writes.ts";

/** The scheme of a metric or of a task. */
export const scheme: Field<SchemeName | undefined> = optional(oneOf(...SCHEMES));

/** The fields that every metric has. */
export const named: Fields<Omit<NamedMetric, "event">> = {
  name,
  scheme: described(scheme, "if absent the task's, else lattice for an occurrence, elgamal otherwise"),
};

/** Of metrics that count one event. */
export const event: Field<string | undefined> = described(
  optional(name),
  "the name that the application records; if absent that of the metric. Several metrics may have the same",
);

/** Of metrics that count events. */
export const eventsPerTick: Field<number | undefined> = described(
  optional(whole(1, MOST_TICKS)),
  "how many events between two writes are counted; lattice histograms and means need it, others have no limit",
);
