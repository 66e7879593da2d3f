import { requireWhole } from "../error.ts";
import { checkWrites, DEFAULT_HIDES, MOST_TICKS, type WritesSpec, writesAllowed } from "./writes.ts";

/** Of a statistic that counts events. */
export interface CountSpec extends WritesSpec {
  /** The name of the event; "event" if absent. */
  readonly event?: string | undefined;
  /**
   * The most events that a segment counts. Lattices need it, because a state has limited room. ElGamal ciphertexts
   * saturate and ignore it.
   */
  readonly eventsPerTick?: number | undefined;
  /** As tasks ran before there were segments: room in every tick, none after a write that does not end it. */
  readonly roomPerTick?: boolean | undefined;
}

/** The event that such a statistic counts. */
export function eventOf({ event = "event" }: CountSpec): string {
  return event;
}

/** Refuses writes and room that cannot be, with a `RangeError`. */
export function checkCounts({ eventsPerTick, ...spec }: CountSpec): void {
  checkWrites(spec);
  if (eventsPerTick !== undefined) requireWhole("eventsPerTick", eventsPerTick, 1, MOST_TICKS);
}

/** What a state that cannot saturate needs to know. */
export interface Room {
  readonly ticks: number;
  readonly hides: number;
  readonly eventsPerTick: number;
  readonly roomPerTick: boolean;
  /** M: the most events that a window can hold. */
  readonly capacity: number;
}

/** What can be lowered where there is too little room. */
export function lowerable({ hides }: Room, more: string): string {
  return `ticks, ${hides > 0 ? "hides, " : ""}${more}`;
}

/** The room of a statistic whose state cannot saturate; a `RangeError` if `eventsPerTick` is missing. */
export function roomOf({ ticks, hides = DEFAULT_HIDES, eventsPerTick, roomPerTick = false }: CountSpec): Room {
  if (eventsPerTick === undefined) {
    throw new RangeError(
      "eventsPerTick is required with the lattice scheme: it is how many events between two writes are counted",
    );
  }
  const capacity = eventsPerTick * (roomPerTick ? ticks : writesAllowed({ ticks, hides }));
  return { ticks, hides, eventsPerTick, roomPerTick, capacity };
}
