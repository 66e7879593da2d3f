import { type ActivePeriodsSettings, activePeriodsAutomaton } from "../active-periods/active-periods.ts";
import type { Automaton } from "../automaton/automaton.ts";
import { counter } from "../automaton/counter.ts";
import type { NamedTypes } from "../automaton/named.ts";
import { NONE, requireCategories, requireStates } from "../automaton/parts.ts";
import { type ChoiceSettings, choiceAutomaton } from "../choice/choice.ts";
import { type FunnelSettings, funnelAutomaton } from "../funnel/funnel.ts";
import { bucketOf, checkEdges } from "../histogram/histogram.ts";
import { type RetentionSettings, retentionAutomaton } from "../retention/retention.ts";
import { productAutomaton } from "./product.ts";

/** What each side of a table may be, without name and noise. Each side names its events. */
export interface ComponentSettings {
  readonly occurrence: { readonly event: string };
  readonly histogram: { readonly event: string; readonly edges: readonly number[] };
  readonly funnel: FunnelSettings;
  readonly choice: ChoiceSettings;
  readonly "active-periods": ActivePeriodsSettings & { readonly event: string };
  readonly retention: RetentionSettings & { readonly event: string };
}

/** The names of these statistics. */
export type ComponentName = keyof ComponentSettings;

/** One side of a table, as a task states it. */
export type Component = {
  [Name in ComponentName]: { readonly statistic: Name } & ComponentSettings[Name];
}[ComponentName];

/** How many devices are in each pair of categories of two statistics? */
export interface JointSettings {
  readonly of: readonly Component[];
}

/** The types of this statistic, for the list in `table.ts`. */
export type JointTypes = NamedTypes<"joint", JointSettings>;

type Place = { readonly ticks: number };

const AUTOMATA: { readonly [Name in ComponentName]: (settings: ComponentSettings[Name], place: Place) => Automaton } = {
  occurrence: ({ event }) => {
    if (event === NONE) {
      throw new RangeError(`event is ${NONE}, which stands for devices without an event: use another name`);
    }
    return countsUpTo(1, event, [0, 1]);
  },
  histogram: ({ event, edges }) => {
    checkEdges(edges);
    return countsUpTo(edges.at(-1) as number, event, edges);
  },
  funnel: funnelAutomaton,
  choice: choiceAutomaton,
  "active-periods": activePeriodsAutomaton,
  retention: retentionAutomaton,
};

/** A state is the number of events, up to the last edge. */
function countsUpTo(top: number, event: string, edges: readonly number[]): Automaton {
  requireStates("edges", top + 1, "end them earlier");
  return {
    ...counter(event, top),
    output: { kind: "category", categories: edges.length, categoryOf: (count) => bucketOf(edges, count) },
  };
}

/** Both sides next to each other. */
export function jointAutomaton({ of }: JointSettings, place: Place): Automaton {
  const [first, second] = of.map((component, i) => componentAutomaton(component, place, `of[${i}].`));
  if (!first || !second) throw new RangeError("of has two statistics");
  requireStates("of", first.states * second.states, `its sides have ${first.states} and ${second.states}`);
  requireCategories("of", categoriesOf(first) * categoriesOf(second));
  return within("of: the periods in which both are whole: ", () => productAutomaton(first, second, place.ticks));
}

function categoriesOf({ output }: Automaton): number {
  return output.kind === "category" ? output.categories : 1;
}

function componentAutomaton(component: Component, place: Place, where: string): Automaton {
  const create = AUTOMATA[component.statistic] as (settings: Component, place: Place) => Automaton;
  return within(where, () => create(component, place));
}

/** Says where a mistake is. */
function within(where: string, create: () => Automaton): Automaton {
  try {
    return create();
  } catch (error) {
    throw error instanceof RangeError ? new RangeError(where + error.message) : error;
  }
}
