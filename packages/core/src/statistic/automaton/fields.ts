import {
  described,
  type Field,
  type Fields,
  field,
  type JsonObject,
  label,
  list,
  name,
  number,
  oneOf,
  optional,
  quote,
  record,
  stricter,
  whole,
} from "../../schema/index.ts";
import type { TaskPart } from "../entry.ts";
import { requireHistogramEpsilon } from "../histogram/histogram.ts";
import { requireSigma } from "../mean/mean.ts";
import { named, ONE_DAY } from "../metric-fields.ts";
import type { AnyShape } from "../spec.ts";
import { MOST_TICKS } from "../writes.ts";
import { eventsIn, type GeneralSettings, generalAutomaton, hasNumbers, rangeOf } from "./general.ts";
import { categoryNoise } from "./named-entry.ts";
import { MOST_STATES } from "./parts.ts";

/** One value, or a list with one for each period. */
function perPeriod<T>(one: Field<T>): Field<T | readonly T[]> {
  const several = list("entries, one for each period", one, 1, MOST_TICKS);
  return field<T | readonly T[]>((path, value) => (Array.isArray(value) ? several(path, value) : one(path, value)), {
    anyOf: [one.schema, several.schema],
  });
}

const ofStates = whole(-MOST_TICKS, MOST_TICKS);
const output: Field<string | number> = field<string | number>(
  (path, value) => (typeof value === "number" ? ofStates(path, value) : label(path, value)),
  { anyOf: [label.schema, ofStates.schema] },
);

const SETTINGS: Fields<GeneralSettings> = {
  states: list("names of states", label, 1, MOST_STATES),
  start: label,
  transitions: described(record(record(perPeriod(label))), "by state, then by event; a state stays at other events"),
  outputs: described(record(output), "by state: categories, or whole numbers"),
  periodTicks: described(optional(whole(1, MOST_TICKS)), "the window is one period if absent"),
  ends: described(optional(perPeriod(record(label))), "by state, what comes after the end of a period"),
};

const COMMON = { ...named, statistic: oneOf("automaton"), ...SETTINGS };

/** Whether a metric has the noise of numbers, or needs it. */
function isForNumbers({ sigma, localEpsilon, outputs }: JsonObject): boolean {
  if (sigma !== undefined || localEpsilon !== undefined) return sigma !== undefined;
  return Object.values(outputs ?? {}).some((each) => typeof each === "number");
}

/** How automata are written in a task. */
export const automatonInTasks: TaskPart<"automaton"> = {
  forms: [
    { what: "an automaton metric", fields: { ...COMMON, ...categoryNoise } },
    {
      what: "an automaton metric with numbers",
      isFor: isForNumbers,
      fields: { ...COMMON, sigma: stricter(number, { exclusiveMinimum: 0 }) },
    },
  ],
  check: (metric, place) => {
    for (const event of generalAutomaton(metric, place).events) name(`transitions: event ${quote(event)}`, event);
    if ("sigma" in metric) {
      if (!hasNumbers(metric)) throw new RangeError("sigma is for outputs that are numbers: these need localEpsilon");
      requireSigma({ limit: rangeOf(metric), sigma: metric.sigma });
    } else {
      if (hasNumbers(metric)) throw new RangeError("localEpsilon is for outputs that are categories: these need sigma");
      requireHistogramEpsilon(metric.localEpsilon, metric.mechanism);
    }
  },
  events: ({ transitions }) => eventsIn(transitions),
  example: {
    ...ONE_DAY,
    metric: {
      name: "trial",
      statistic: "automaton",
      states: ["idle", "tried", "paid"],
      start: "idle",
      transitions: { idle: { "trial.started": "tried" }, tried: { paid: "paid" } },
      outputs: { idle: "no trial", tried: "tried", paid: "paid" },
      localEpsilon: 1,
    },
  },
  questionOf: (metric, delta) => ({
    goal: "sigma" in metric ? { sigma: metric.sigma, delta } : { localEpsilon: metric.localEpsilon, delta },
    ...("mechanism" in metric && metric.mechanism && { mechanism: metric.mechanism }),
    ...(settingsIn(metric) as AnyShape),
  }),
};

/** The fields of an automaton, among those of all statistics. */
export function settingsIn(shape: object): GeneralSettings {
  const own = Object.keys(SETTINGS) as (keyof GeneralSettings)[];
  const entries = own.map((each) => [each, (shape as GeneralSettings)[each]] as const);
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined)) as unknown as GeneralSettings;
}
