import type { Automaton } from "../automaton/automaton.ts";
import type { NamedTypes } from "../automaton/named.ts";
import { periodsIn, requireCategories, requireStates } from "../automaton/parts.ts";
import { bucketOf, checkEdges } from "../histogram/histogram.ts";

/** In how many periods of the window did it happen? */
export interface ActivePeriodsSettings {
  /** The metric's name if absent. */
  readonly event?: string | undefined;
  readonly periodTicks: number;
  /** Where buckets begin: [0, 1, 2, 8] means in no period, in 1, in 2 to 7, in 8 or more. */
  readonly edges: readonly number[];
}

/** The types of this statistic, for the list in `table.ts`. */
export type ActivePeriodsTypes = NamedTypes<"active-periods", ActivePeriodsSettings>;

/**
 * States are numbers of periods in which it happened, up to the last edge or the number of periods, whichever is less,
 * where counting ends; from 1 on with whether it happened in this period already. State 2n − 1: in n periods, this one
 * included; state 2n: in n earlier ones.
 */
export function activePeriodsAutomaton(
  { event = "", periodTicks, edges }: ActivePeriodsSettings,
  { ticks }: { readonly ticks: number },
): Automaton {
  const periods = periodsIn(ticks, periodTicks);
  checkEdges(edges);
  // Edges beyond the number of periods take no states, but each is an answer.
  requireCategories("edges", edges.length);
  const most = Math.min(edges.at(-1) as number, periods);
  const states = 2 * most;
  requireStates("edges", states, "end them earlier, or make periods longer");
  return {
    states,
    start: 0,
    events: [event],
    periods,
    periodTicks,
    onEvent: (_, state) => (state % 2 === 0 ? state + 1 : state),
    // In as many periods as are counted, or in none, nothing changes.
    onEnd: (state) => (state % 2 === 1 && state < states - 1 ? state + 1 : state),
    output: {
      kind: "category",
      categories: edges.length,
      categoryOf: (state) => bucketOf(edges, Math.ceil(state / 2)),
    },
  };
}
