import {
  described,
  type Field,
  type Fields,
  type JsonObject,
  list,
  name,
  number,
  oneOf,
  optional,
  stricter,
  whole,
} from "../schema/index.ts";
import { MOST_STATES } from "./automaton/parts.ts";
import { SCHEMES } from "./names.ts";
import type { NamedMetric, SchemeName } from "./spec.ts";
import { MOST_TICKS } from "./writes.ts";

/** The scheme of a metric or of a task. */
export const scheme: Field<SchemeName | undefined> = optional(oneOf(...SCHEMES));

/** Of an example whose window has no meaning for it: ticks of 5 minutes, and a release every day. */
export const ONE_DAY: { readonly tickSeconds: number; readonly ticks: number } = { tickSeconds: 300, ticks: 288 };

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

/** Events that are the steps or the options of a metric. */
export const eventNames: Field<readonly string[]> = list("names of events", name, 1, MOST_STATES - 1);

/** Where buckets begin. Which numbers can be edges `checkEdges` says. */
export const edges: Field<readonly number[]> = stricter(list("numbers", number, 0, Number.POSITIVE_INFINITY), {
  minItems: 2,
  items: { type: "integer", minimum: 0 },
});

/** Whether a metric says whose noise it has: of two servers. */
export function hasNoise({ noise }: JsonObject): boolean {
  return noise !== undefined;
}

/** The event of a metric that is about one. */
export function eventOf({ name: metric, event: own = metric }: NamedMetric): readonly string[] {
  return [own];
}
