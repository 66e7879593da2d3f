import type { Seen } from "@lethe/lab/duel";
import { changedBytes } from "./picture.ts";

/** What a device of the game had stored at the end of a tick. */
export interface Frame {
  readonly bytes: Uint8Array;
  /** At the end of the tick before. */
  readonly before: Uint8Array;
  /** In this tick. */
  readonly writes: number;
  /** How many bytes differ from those before. */
  readonly changed: number;
}

/** What a device stored, tick by tick. If it wrote nothing in a tick, it has what it had before. */
export function framesOf(seen: readonly Seen[]): readonly Frame[] {
  let before: Uint8Array = new Uint8Array();
  return seen.map(({ stored }) => {
    const bytes = stored.at(-1)?.bytes ?? before;
    const frame = { bytes, before, writes: stored.length, changed: changedBytes(bytes, before) };
    before = bytes;
    return frame;
  });
}
