import { requireWhole } from "../../error.ts";
import type { Automaton, CategoryOutput } from "./automaton.ts";

/** The most states of an automaton that a task describes: a device rerandomizes every state's slot at each write. */
export const MOST_STATES = 64;

/** The most events of such an automaton: the maps of all of them are looked at, in every period. */
export const MOST_EVENTS = 1000;

/** The most periods of a window. A device that was off all the time applies the ends of all of them at once. */
const MOST_PERIODS = 400;

/** The category of devices on which nothing happened, in statistics whose categories are events. */
export const NONE = "none";

/** Of an automaton in which periods play no role. */
export const WITHOUT_PERIODS: Pick<Automaton, "periods" | "periodTicks" | "onEnd"> = {
  periods: 1,
  periodTicks: 1,
  onEnd: (state) => state,
};

/** Every state is its own category. */
export function everyState(states: number): CategoryOutput {
  return { kind: "category", categories: states, categoryOf: (state) => state };
}

/** Refuses names of which two are the same, or one is that of devices without an event, with a `RangeError`. */
export function requireDistinct(field: string, names: readonly string[]): void {
  for (const [i, name] of names.entries()) {
    const first = names.indexOf(name);
    if (first < i) throw new RangeError(`${field}[${i}] is ${name}, as ${field}[${first}] is: each may be there once`);
    if (name === NONE) {
      throw new RangeError(`${field}[${i}] is ${NONE}, which stands for devices without an event: use another name`);
    }
  }
}

/** Refuses more states than a device keeps, with a `RangeError`; `states` says how many, `advice` what to lower. */
export function requireStates(field: string, states: number, advice: string): void {
  if (states > MOST_STATES) {
    throw new RangeError(`${field} takes ${states} states, and a device keeps at most ${MOST_STATES}: ${advice}`);
  }
}

/** Refuses more categories than an automaton may have states, with a `RangeError`: a report may hold one bit for each. */
export function requireCategories(field: string, categories: number): void {
  if (categories > MOST_STATES) {
    throw new RangeError(`${field} makes ${categories} categories, and at most ${MOST_STATES} are counted`);
  }
}

/** How many periods of this length a window has; a `RangeError` if there are none, or more than a device can end. */
export function periodsIn(ticks: number, periodTicks: number): number {
  requireWhole("periodTicks", periodTicks, 1, ticks);
  const periods = Math.ceil(ticks / periodTicks);
  if (periods > MOST_PERIODS) {
    const least = Math.ceil(ticks / MOST_PERIODS);
    throw new RangeError(`periodTicks is at least ${least} in a window of ${ticks} ticks, not ${periodTicks}`);
  }
  return periods;
}
