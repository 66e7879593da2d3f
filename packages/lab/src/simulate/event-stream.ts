import { type Randomness, uniformBelow } from "@lethe/core/randomness";
import type { StreamEvent } from "@lethe/core/statistic";

const RESOLUTION = 2 ** 32;

/** A stream in which every event happens in every tick with probability `rate`; within a tick in any order. */
export function drawStream(
  { ticks, rate, events }: { readonly ticks: number; readonly rate: number; readonly events: readonly string[] },
  random: Randomness,
): StreamEvent[] {
  const stream: StreamEvent[] = [];
  for (let tick = 0; tick < ticks; tick++) {
    const first = stream.length;
    for (const event of events) {
      if (uniformBelow(random, RESOLUTION) < rate * RESOLUTION) stream.push({ tick, event });
    }
    shuffle(stream, first, random);
  }
  return stream;
}

/** Puts what is in a list from `first` on into a uniform order [Fisher and Yates]. */
function shuffle(list: StreamEvent[], first: number, random: Randomness): void {
  for (let i = list.length - 1; i > first; i--) {
    const j = first + uniformBelow(random, i - first + 1);
    [list[i], list[j]] = [list[j] as StreamEvent, list[i] as StreamEvent];
  }
}
