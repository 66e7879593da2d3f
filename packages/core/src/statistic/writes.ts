import { requireWhole } from "../error.ts";

/** How many ticks a window has, and how many writes besides. */
export interface WritesSpec {
  readonly ticks: number;
  /** Writes that end no tick: page hides, and those that a session makes by itself. */
  readonly hides?: number | undefined;
}

/** The hides of a task that does not state any. */
export const DEFAULT_HIDES = 1000;
/** Of ticks, hides, limits and events: the most that anybody may ask for. */
export const MOST_TICKS = 100_000;

/**
 * W: the number of writes that a window allows, T of them for ticks and the last one. The time between two writes is a
 * segment, so it has as many of those.
 */
export function writesAllowed({ ticks, hides = DEFAULT_HIDES }: WritesSpec): number {
  return ticks + hides;
}

/** Refuses ticks and hides that cannot be, with a `RangeError`. */
export function checkWrites({ ticks, hides = DEFAULT_HIDES }: WritesSpec): void {
  requireWhole("ticks", ticks, 1, MOST_TICKS);
  requireWhole("hides", hides, 0, MOST_TICKS);
}

/** The writes of something that has them and more, without a field that is not set. */
export function writesIn({ ticks, hides }: WritesSpec): { readonly ticks: number; readonly hides?: number } {
  return hides === undefined ? { ticks } : { ticks, hides };
}
