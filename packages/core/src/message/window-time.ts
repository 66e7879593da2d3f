import type { Task } from "./task.ts";

/**
 * Which window runs when. Window 0 began with Unix time itself, and window follows window without a gap, so a window's
 * number and the task's timing give all its times. All times are Unix seconds and may be fractions. The functions are
 * pure and small: devices, servers and clients use the same ones.
 */

/** Unix seconds. */
export interface WindowTimes {
  readonly from: number;
  readonly to: number;
  /** From here on no report of the window is accepted. */
  readonly closes: number;
}

/** Where a window is in its life, by the clock alone: `next` follows the running one, `later` all after that. */
export type WindowPhase = "later" | "next" | "running" | "grace" | "over";

/** What a task says about the length of its windows. */
export type WindowLength = Pick<Task, "ticks" | "tickSeconds">;

/** The same, and how long reports are accepted after the end of a window. */
export type WindowTiming = WindowLength & Pick<Task, "graceSeconds">;

/** The length of a window. */
export function windowSeconds({ ticks, tickSeconds }: WindowLength): number {
  return ticks * tickSeconds;
}

/**
 * The window that runs at this time. It begins at its first second and ends just before the first second of the next.
 */
export function windowAt(length: WindowLength, now: number): number {
  return Math.floor(now / windowSeconds(length));
}

/** When a window begins. It ends when the next one begins. */
export function beginningOf(length: WindowLength, window: number): number {
  return window * windowSeconds(length);
}

/** When a window begins, ends, and accepts no more reports. */
export function timesOf(timing: WindowTiming, window: number): WindowTimes {
  const to = beginningOf(timing, window + 1);
  return { from: beginningOf(timing, window), to, closes: to + timing.graceSeconds };
}

/** The number of the tick that runs at this time, counted from Unix time 0 like windows. */
export function tickAt({ tickSeconds }: Pick<Task, "tickSeconds">, now: number): number {
  return Math.floor(now / tickSeconds);
}

/** When the next tick begins. */
export function nextTick(timing: Pick<Task, "tickSeconds">, now: number): number {
  return (tickAt(timing, now) + 1) * timing.tickSeconds;
}

/** The oldest window whose reports are still accepted, by the clock alone. */
export function oldestInGrace(timing: WindowTiming, now: number): number {
  return Math.max(0, windowAt(timing, now - timing.graceSeconds));
}

/** Where a window is in its life at this time. */
export function phaseOf(timing: WindowTiming, window: number, now: number): WindowPhase {
  const running = windowAt(timing, now);
  if (window > running + 1) return "later";
  if (window > running) return "next";
  if (window === running) return "running";
  return now < timesOf(timing, window).closes ? "grace" : "over";
}
