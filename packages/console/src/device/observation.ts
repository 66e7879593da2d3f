import { changedShare } from "./picture.ts";

/** What a store has, and how often it was written. */
interface Look {
  readonly bytes: Uint8Array;
  readonly writes: number;
}

/** One look at both stores: what they have, and how much of it changed since the look before. */
export interface Observation {
  readonly number: number;
  /** Events that were recorded since the look before. */
  readonly recorded: number;
  readonly device: Seen;
  readonly counter: Seen;
}

/** One store at one look. */
export interface Seen extends Look {
  /** What it had at the look before. */
  readonly before?: Uint8Array;
  readonly changed?: number;
}

/** Looks that are kept for the table. */
const KEPT = 8;

/** Adds a look at both stores; the newest is the first. */
export function observe(
  observations: readonly Observation[],
  recorded: number,
  device: Look,
  counter: Look,
): readonly Observation[] {
  const [last] = observations;
  const observation = {
    number: (last?.number ?? 0) + 1,
    recorded,
    device: compared(device, last?.device),
    counter: compared(counter, last?.counter),
  };
  return [observation, ...observations].slice(0, KEPT);
}

function compared(look: Look, last: Look | undefined): Seen {
  return last ? { ...look, before: last.bytes, changed: changedShare(look.bytes, last.bytes) } : look;
}
