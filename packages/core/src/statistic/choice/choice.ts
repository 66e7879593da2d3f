import type { Automaton } from "../automaton/automaton.ts";
import type { NamedTypes } from "../automaton/named.ts";
import { everyState, NONE, requireDistinct, requireStates, WITHOUT_PERIODS } from "../automaton/parts.ts";

/** Which of several choices of a device counts. */
export type Keep = "first" | "last" | "highest";

/** All of them. */
export const KEEPS: readonly Keep[] = ["first", "last", "highest"];

/** Which option did devices choose? */
export interface ChoiceSettings {
  /** The names of the events. Later options are higher. */
  readonly options: readonly string[];
  /** "first" if absent. */
  readonly keep?: Keep | undefined;
}

/** The types of this statistic, for the list in `table.ts`. */
export type ChoiceTypes = NamedTypes<"choice", ChoiceSettings>;

/** The option that counts after a choice, from the one that counted before it; 0 if there was none. */
function kept(keep: Keep, before: number, chosen: number): number {
  if (keep === "last") return chosen;
  return keep === "highest" ? Math.max(before, chosen) : before || chosen;
}

/** State 0: no choice yet; state j: option j, from 1, counts. */
export function choiceAutomaton({ options, keep = "first" }: ChoiceSettings): Automaton {
  requireStates("options", options.length + 1, "leave options out");
  requireDistinct("options", options);
  return {
    ...WITHOUT_PERIODS,
    states: options.length + 1,
    start: 0,
    events: options,
    onEvent: (option, before) => kept(keep, before, option + 1),
    output: everyState(options.length + 1),
  };
}

/** "none", then each option. */
export function choiceLabels({ options }: Pick<ChoiceSettings, "options">): readonly string[] {
  return [NONE, ...options];
}
