import { requireWhole } from "../../error.ts";
import { quote } from "../../schema/quote.ts";
import type { NamedMetric, Types } from "../spec.ts";
import { MOST_TICKS, type WritesSpec } from "../writes.ts";
import type { Automaton } from "./automaton.ts";
import type { AutomatonNoise } from "./device.ts";
import { MOST_EVENTS, MOST_STATES, periodsIn } from "./parts.ts";

/** A state by name, or one for each period. */
export type Target = string | readonly string[];

/** A map of states, by name; a state that is not in it stays. */
type EndMap = Readonly<Record<string, string>>;

/** An automaton as a task states it, with names for everything. */
export interface GeneralSettings {
  readonly states: readonly string[];
  readonly start: string;
  /** By state, then by event, what comes next; a state stays at events that are not named. */
  readonly transitions: Readonly<Record<string, Readonly<Record<string, Target>>>>;
  /** By state: a category, or for all states a whole number. */
  readonly outputs: Readonly<Record<string, string | number>>;
  /** The window is one period if absent. */
  readonly periodTicks?: number | undefined;
  /** What the end of each period does, or one map for each period. */
  readonly ends?: EndMap | readonly EndMap[] | undefined;
}

type Named = { readonly statistic: "automaton" };

/** The types of this statistic, for the list in `table.ts`. */
export interface AutomatonTypes extends Types {
  readonly metric: NamedMetric & Named & { readonly noise?: never } & GeneralSettings & AutomatonNoise;
  readonly schemes: "elgamal";
  readonly oneServer: Named & WritesSpec & GeneralSettings & AutomatonNoise;
  readonly twoServers: never;
  readonly shape: { readonly [Field in keyof GeneralSettings]?: GeneralSettings[Field] | undefined } & {
    readonly ticks?: number;
  };
  readonly output: "categories" | "average";
}

/** Compiles names into numbers. Refuses what is no automaton with a `RangeError` that names the state and the symbol. */
export function generalAutomaton(settings: GeneralSettings, { ticks }: { readonly ticks: number }): Automaton {
  const { states, start, transitions, outputs, periodTicks = ticks, ends = {} } = settings;
  requireWhole("states.length", states.length, 1, MOST_STATES);
  const periods = periodsIn(ticks, periodTicks);
  const stateAt = stateFinder(states);
  for (const [field, map] of Object.entries({ transitions, outputs })) {
    for (const state of Object.keys(map)) stateAt(`${field} has a row for each state: every name in it`, state);
  }
  const events = eventsIn(transitions);
  if (events.length === 0) throw new RangeError("transitions has at least one event");
  if (events.length > MOST_EVENTS) {
    throw new RangeError(`transitions has at most ${MOST_EVENTS} different events, not ${events.length}`);
  }
  /** By event and state: the next state, or one for each period. */
  const next = events.map((event) =>
    states.map((state, itself) => {
      const target = own(own(transitions, state) ?? {}, event) ?? [];
      const where = `transitions: state ${quote(state)} at event ${quote(event)}`;
      if (typeof target === "string") return stateAt(where, target);
      if (target.length === 0) return itself;
      requirePerPeriod(where, target, periods);
      return target.map((name) => stateAt(where, name));
    }),
  );
  const compiledEnd = (map: EndMap): readonly number[] => {
    for (const state of Object.keys(map)) stateAt("ends: every name of a state in it", state);
    return states.map((state, itself) => {
      const name = own(map, state);
      return name === undefined ? itself : stateAt(`ends: state ${quote(state)} at the end of a period`, name);
    });
  };
  if (Array.isArray(ends)) requirePerPeriod("ends", ends, periods);
  const after = (Array.isArray(ends) ? (ends as readonly EndMap[]) : [ends as EndMap]).map(compiledEnd);
  return {
    states: states.length,
    start: stateAt("start", start),
    events,
    periods,
    periodTicks,
    onEvent: (event, state, period) => {
      const found = next[event]?.[state];
      return (typeof found === "object" ? found[period] : found) as number;
    },
    onEnd: (state, period) => after[after.length > 1 ? period : 0]?.[state] as number,
    output: outputOf(settings),
  };
}

/** Finds the number of a state by its name. */
function stateFinder(states: readonly string[]): (where: string, name: string) => number {
  const places = placesOf(states);
  const known = states.length <= 8 ? states.join(", ") : `one of the ${states.length} names`;
  return (where, name) => {
    const place = places.get(name);
    if (place === undefined) throw new RangeError(`${where} is a state (${known}), not ${quote(name)}`);
    return place;
  };
}

function requirePerPeriod(where: string, stated: readonly unknown[], periods: number): void {
  if (stated.length !== periods) {
    throw new RangeError(`${where} has an entry for each of the window's ${periods} periods, not ${stated.length}`);
  }
}

/** The events that an automaton names, each once. */
export function eventsIn(transitions: GeneralSettings["transitions"]): readonly string[] {
  return [...new Set(Object.values(transitions).flatMap((row) => Object.keys(row)))];
}

function placesOf(states: readonly string[]): ReadonlyMap<string, number> {
  const places = new Map<string, number>();
  for (const [i, state] of states.entries()) {
    const first = places.get(state);
    if (first !== undefined) throw new RangeError(`states[${i}] is ${quote(state)}, as states[${first}] is`);
    places.set(state, i);
  }
  return places;
}

/** The categories of an automaton in the order in which the list of states first names them; none if it has numbers. */
export function generalLabels({ states, outputs }: Pick<GeneralSettings, "states" | "outputs">): readonly string[] {
  return [...new Set(states.map((state) => outputs[state]))].filter((output) => typeof output === "string");
}

/** The largest difference between two outputs that are numbers. */
export function rangeOf({ states, outputs }: Pick<GeneralSettings, "states" | "outputs">): number {
  const numbers = states.map((state) => Number(outputs[state]));
  return Math.max(...numbers) - Math.min(...numbers);
}

/** Whether the outputs are numbers; a `RangeError` if only some are, or a state has none. */
export function hasNumbers({ states, outputs }: Pick<GeneralSettings, "states" | "outputs">): boolean {
  const [first] = states.map((state) => outputOfState(outputs, state));
  for (const state of states) {
    const output = outputOfState(outputs, state);
    if (typeof output !== typeof first) {
      const kinds = "all texts, which are categories, or all whole numbers";
      throw new RangeError(`outputs are ${kinds}: state ${quote(state)} has ${quote(output)}`);
    }
  }
  return typeof first === "number";
}

function outputOfState(outputs: GeneralSettings["outputs"], state: string): string | number {
  const output = own(outputs, state);
  if (output === undefined) throw new RangeError(`outputs has none for state ${quote(state)}`);
  return output;
}

function outputOf(settings: GeneralSettings): Automaton["output"] {
  const outputs = settings.states.map((state) => outputOfState(settings.outputs, state));
  if (hasNumbers(settings)) {
    const numbers = outputs as readonly number[];
    for (const [i, value] of numbers.entries()) {
      requireWhole(
        `outputs: the number of state ${quote(settings.states[i] as string)}`,
        value,
        -MOST_TICKS,
        MOST_TICKS,
      );
    }
    if (new Set(numbers).size < 2)
      throw new RangeError(`outputs are all ${numbers[0]}: the mean is known without asking`);
    return { kind: "number", numberOf: (state) => numbers[state] as number };
  }
  const labels = generalLabels(settings);
  if (labels.length < 2) {
    throw new RangeError(`outputs are all ${quote(labels[0] as string)}: the count is known without asking`);
  }
  const categories = outputs.map((output) => labels.indexOf(output as string));
  return { kind: "category", categories: labels.length, categoryOf: (state) => categories[state] as number };
}

/** The value of a name, which may be one that every object has. */
function own<T>(map: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(map, name) ? map[name] : undefined;
}
