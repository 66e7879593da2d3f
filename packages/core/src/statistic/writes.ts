import { requireWhole } from "../error.ts";

/** How many ticks a window has, and how many writes besides. */
export interface WritesSpec {
  readonly ticks: number;
  /** Writes that end no tick: page hides, and those that a session makes by itself. */
  readonly hides?: number | undefined;
}

export const DEFAULT_HIDES = 1000;
export const MOST_TICKS = 100_000;

/** W: a window allows so many writes, T of them for ticks and the last one. The time between two writes is a segment, so it has as many of those. */
export function writesAllowed({ ticks, hides = DEFAULT_HIDES }: WritesSpec): number {
  return ticks + hides;
}

export function checkWrites({ ticks, hides = DEFAULT_HIDES }: WritesSpec): void {
  requireWhole("ticks", ticks, 1, MOST_TICKS);
  requireWhole("hides", hides, 0, MOST_TICKS);
}
