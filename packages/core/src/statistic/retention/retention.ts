import { requireWhole } from "../../error.ts";
import type { Automaton } from "../automaton/automaton.ts";
import type { NamedTypes } from "../automaton/named.ts";
import { everyState } from "../automaton/parts.ts";

/** In which periods of the window did it happen? */
export interface RetentionSettings {
  /** The metric's name if absent. */
  readonly event?: string | undefined;
  /** How many periods of equal length the window has; the last may be shorter. */
  readonly periods: number;
}

/** The types of this statistic, for the list in `table.ts`. */
export type RetentionTypes = NamedTypes<"retention", RetentionSettings>;

/** There are 2^periods patterns, and each has its own figure. */
export const MOST_RETENTION_PERIODS = 4;

/** A state is the pattern as a binary number: the first period is the highest bit. */
export function retentionAutomaton(
  { event = "", periods }: RetentionSettings,
  { ticks }: { readonly ticks: number },
): Automaton {
  requireWhole("periods", periods, 2, MOST_RETENTION_PERIODS);
  const periodTicks = Math.ceil(ticks / periods);
  const found = Math.ceil(ticks / periodTicks);
  if (found < periods) {
    throw new RangeError(
      `periods cannot be ${periods} in a window of ${ticks} ticks, where periods of ${periodTicks} are ${found}`,
    );
  }
  return {
    states: 2 ** periods,
    start: 0,
    events: [event],
    periods,
    periodTicks,
    onEvent: (_, pattern, period) => pattern | bitOf(period, periods),
    onEnd: (pattern) => pattern,
    output: everyState(2 ** periods),
  };
}

/** The bit of a period in a pattern. */
function bitOf(period: number, periods: number): number {
  return 1 << (periods - 1 - period);
}

/** "1010": in the first and in the third period, not in the second, nor in the fourth. */
export function retentionLabels({ periods }: Pick<RetentionSettings, "periods">): readonly string[] {
  return Array.from({ length: 2 ** periods }, (_, pattern) => pattern.toString(2).padStart(periods, "0"));
}

/** The patterns of devices on which it happened in a period, from 0. */
export function patternsWith({ periods }: Pick<RetentionSettings, "periods">, period: number): readonly number[] {
  return Array.from({ length: 2 ** periods }, (_, pattern) => pattern).filter((each) => each & bitOf(period, periods));
}
