/*
 * This folder counts any finite automaton without remembering (docs/statistics.md): a device keeps an encrypted one-hot
 * vector over the states of a public automaton, and every symbol applies a public map of states to it. The paper's
 * Algorithms 2, 3 and 4 are three such automata. This file is about automata in clear: what one is, and its plain
 * execution, which is the truth that estimates are compared with. `slots.ts` says which encrypted bits stand for a state
 * and what a symbol does to them, `one-hot.ts` and `levels.ts` have the two kinds, `machine.ts` runs them on a device,
 * `sealing.ts` and `sums.ts` make the report, `device.ts` and `server.ts` are the two halves. May import `encryption`,
 * `privacy`, `estimate`, `randomness`, the files directly below `statistic`, and the mechanisms of `histogram` and `mean`.
 * Start reading here.
 */

/**
 * A public finite automaton. Its symbols are events, by name, and the ends of periods. States, events, periods and
 * categories are numbered from 0. All maps are total and depend on nothing but their arguments.
 */
export interface Automaton {
  readonly states: number;
  readonly start: number;
  /** The names of the events that are its symbols, each once. */
  readonly events: readonly string[];
  /** A window has exactly this many ends of periods, the last at sealing. 1 if periods play no role. */
  readonly periods: number;
  /** The length of a period in ticks; the last one of a window may be shorter. */
  readonly periodTicks: number;
  /** The state after an event in a period. */
  onEvent(event: number, state: number, period: number): number;
  /** The state after the end of a period. */
  onEnd(state: number, period: number): number;
  readonly output: CategoryOutput | NumberOutput;
}

/** Every state belongs to one of `categories` categories: the statistic is how many devices are in each. */
export interface CategoryOutput {
  readonly kind: "category";
  readonly categories: number;
  categoryOf(state: number): number;
}

/** Every state has a whole number: the statistic is the mean over the devices. */
export interface NumberOutput {
  readonly kind: "number";
  numberOf(state: number): number;
}

/** An event of a stream: its number in `Automaton.events`, and the tick of the window (from 0) in which it happened. */
export interface TimedEvent {
  readonly event: number;
  readonly tick: number;
}

/** The period in which a tick of the window lies. */
export function periodOf({ periods, periodTicks }: Pick<Automaton, "periods" | "periodTicks">, tick: number): number {
  return Math.min(Math.floor(tick / periodTicks), periods - 1);
}

/** The state at the end of a window, by plain execution over events in the order in which they happened. */
export function finalState(automaton: Automaton, stream: Iterable<TimedEvent>): number {
  let [state, period] = [automaton.start, 0];
  for (const { event, tick } of stream) {
    for (const due = periodOf(automaton, tick); period < due; period++) state = automaton.onEnd(state, period);
    state = automaton.onEvent(event, state, period);
  }
  for (; period < automaton.periods; period++) state = automaton.onEnd(state, period);
  return state;
}
