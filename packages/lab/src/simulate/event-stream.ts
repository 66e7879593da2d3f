import type { Metric } from "@lethe/core/message";
import { type Randomness, uniformBelow } from "@lethe/core/randomness";
import { trueAnswer } from "./true-figures.ts";

/** Something that happened on a device. */
export interface StreamEvent {
  /** From 0 on. */
  readonly tick: number;
  readonly event: string;
}

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

/** The events of metrics that run together, by the index under which their recorder records them. */
export function eventsOf(metrics: readonly Metric[]): readonly string[] {
  return metrics.map(({ name }) => name);
}

/** What a device with this stream truly adds to each sum of a metric: plain execution over the whole stream. */
export function answerToStream(metric: Metric, stream: readonly StreamEvent[]): readonly number[] {
  return trueAnswer(metric, stream.filter(({ event }) => event === metric.name).length);
}
