import type { Automaton } from "../automaton/automaton.ts";
import type { NamedTypes } from "../automaton/named.ts";
import { everyState, NONE, requireDistinct, requireStates, WITHOUT_PERIODS } from "../automaton/parts.ts";

/** How far did devices get, in this order? */
export interface FunnelSettings {
  /** The names of the events, in the order in which they must happen. */
  readonly steps: readonly string[];
}

/** The types of this statistic, for the list in `table.ts`. */
export type FunnelTypes = NamedTypes<"funnel", FunnelSettings>;

/** State j: the first j steps happened in their order. An event that is not the next step changes nothing. */
export function funnelAutomaton({ steps }: FunnelSettings): Automaton {
  requireStates("steps", steps.length + 1, "leave steps out");
  requireDistinct("steps", steps);
  return {
    ...WITHOUT_PERIODS,
    states: steps.length + 1,
    start: 0,
    events: steps,
    onEvent: (step, reached) => (step === reached ? reached + 1 : reached),
    output: everyState(steps.length + 1),
  };
}

/** "none", then each step: devices that got there and no further. */
export function funnelLabels({ steps }: FunnelSettings): readonly string[] {
  return [NONE, ...steps];
}
