import type { Task } from "@lethe/core/message";

/** Where a window is in its life, by the clock alone. */
export type Phase = "later" | "next" | "running" | "grace" | "over";

/** Unix seconds. */
export interface WindowTimes {
  readonly from: number;
  readonly to: number;
  readonly closes: number;
}

type Timing = Pick<Task, "ticks" | "tickSeconds" | "graceSeconds">;

export function windowSeconds({ ticks, tickSeconds }: Pick<Timing, "ticks" | "tickSeconds">): number {
  return ticks * tickSeconds;
}

export function windowAt(timing: Timing, now: number): number {
  return Math.floor(now / windowSeconds(timing));
}

export function timesOf(timing: Timing, window: number): WindowTimes {
  const from = window * windowSeconds(timing);
  const to = from + windowSeconds(timing);
  return { from, to, closes: to + timing.graceSeconds };
}

export function phaseOf(timing: Timing, window: number, now: number): Phase {
  const running = windowAt(timing, now);
  if (window > running + 1) return "later";
  if (window > running) return "next";
  if (window === running) return "running";
  return now < timesOf(timing, window).closes ? "grace" : "over";
}
