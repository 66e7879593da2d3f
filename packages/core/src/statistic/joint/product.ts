import { type Automaton, periodOf } from "../automaton/automaton.ts";
import { periodsIn } from "../automaton/parts.ts";

/**
 * Two automata side by side, which see the same events: state (i, j) is i·(states of the second) + j, and so are
 * categories. Their periods may differ in length. The product's periods are the longest of which all of theirs are made
 * up, so that both see the ends of their own.
 */
export function productAutomaton(first: Automaton, second: Automaton, ticks: number): Automaton {
  const events = [...new Set([...first.events, ...second.events])];
  const { periods, periodTicks } = commonPeriods(first, second, ticks);
  const place = (automaton: Automaton): Part => ({
    places: events.map((event) => automaton.events.indexOf(event)),
    periodAt: (period) => periodOf(automaton, period * periodTicks),
    endsAt: (period) =>
      period === periods - 1 ||
      periodOf(automaton, (period + 1) * periodTicks) > periodOf(automaton, period * periodTicks),
  });
  const [one, two] = [place(first), place(second)];
  const pair = (i: number, j: number): number => i * second.states + j;
  const after = (automaton: Automaton, part: Part, event: number, state: number, period: number): number => {
    const symbol = part.places[event] as number;
    return symbol < 0 ? state : automaton.onEvent(symbol, state, part.periodAt(period));
  };
  const end = (automaton: Automaton, part: Part, state: number, period: number): number =>
    part.endsAt(period) ? automaton.onEnd(state, part.periodAt(period)) : state;
  const of = (state: number): readonly [number, number] => [Math.floor(state / second.states), state % second.states];
  return {
    states: first.states * second.states,
    start: pair(first.start, second.start),
    events,
    periods,
    periodTicks,
    onEvent: (event, state, period) => {
      const [i, j] = of(state);
      return pair(after(first, one, event, i, period), after(second, two, event, j, period));
    },
    onEnd: (state, period) => {
      const [i, j] = of(state);
      return pair(end(first, one, i, period), end(second, two, j, period));
    },
    output: categoryPairs(first, second, of),
  };
}

/** One of the two, seen from the product. */
interface Part {
  /** The number of each event of the product among its own, or −1. */
  readonly places: readonly number[];
  /** Its own period during a period of the product. */
  readonly periodAt: (period: number) => number;
  /** Whether a period of the product is the last in a period of its own. */
  readonly endsAt: (period: number) => boolean;
}

function commonPeriods(first: Automaton, second: Automaton, ticks: number): Pick<Automaton, "periods" | "periodTicks"> {
  const [longer, shorter] = first.periods === 1 ? [first, second] : [second, first];
  // One without periods sees the window's end, whatever the other's are.
  if (longer.periods === 1) return shorter;
  const periodTicks = greatestDivisor(first.periodTicks, second.periodTicks);
  return { periodTicks, periods: periodsIn(ticks, periodTicks) };
}

function greatestDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestDivisor(b, a % b);
}

function categoryPairs(
  first: Automaton,
  second: Automaton,
  of: (state: number) => readonly [number, number],
): Automaton["output"] {
  const [one, two] = [first.output, second.output];
  if (one.kind !== "category" || two.kind !== "category") throw new TypeError("a table has categories, not numbers");
  return {
    kind: "category",
    categories: one.categories * two.categories,
    categoryOf: (state) => {
      const [i, j] = of(state);
      return one.categoryOf(i) * two.categories + two.categoryOf(j);
    },
  };
}
