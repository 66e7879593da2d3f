import type { ClockMark } from "../storage/clock-mark.ts";
import type { MachineTime } from "./machine-time.ts";

/** How far two clocks that are set by NTP may be apart, in seconds. */
export const MOST_SECONDS_APART = 60;
/**
 * How long a service may have been off, in seconds, before a start on another machine, or after this one was started
 * again, needs the operator's word.
 */
const LONGEST_UNKNOWN = 86_400;

/** A moment at which the time was known, and how far the clock may be ahead of what has passed since. */
export interface Anchor {
  readonly wall: number;
  readonly monotonic: number;
  readonly uptime: number;
  readonly mostAhead: number;
  /** Whether this machine has counted the time since then. */
  readonly isCounted: boolean;
}

/** The clock beside where it should be, by an anchor; seconds since 1970. */
export interface Reading {
  readonly wall: number;
  readonly expected: number;
  readonly isRight: boolean;
}

/** The clock is right at this moment. */
export function anchorHere(machine: MachineTime): Anchor {
  const [wall, monotonic, uptime] = [machine.wall(), machine.monotonic(), machine.uptime()];
  return { wall, monotonic, uptime, mostAhead: MOST_SECONDS_APART, isCounted: true };
}

/**
 * What a stored mark says of now. Since the same start of this machine the time that passed is known to the second,
 * however long the service was off. Otherwise a service that was off looks like a clock that is ahead: a day is
 * believed, or any time if `anyGap`.
 */
export function anchorAt(mark: ClockMark, machine: MachineTime, anyGap: boolean): Anchor {
  const [monotonic, uptime] = [machine.monotonic(), machine.uptime()];
  const isSameStart = mark.boot !== null && mark.boot === machine.boot && monotonic >= mark.monotonic;
  if (isSameStart) return { ...mark, mostAhead: MOST_SECONDS_APART, isCounted: true };
  const mostAhead = anyGap ? Number.POSITIVE_INFINITY : LONGEST_UNKNOWN;
  return { wall: mark.wall, monotonic, uptime, mostAhead, isCounted: false };
}

/**
 * Compares the clock with the anchor. Either way of counting may explain it: one stands still in a machine that sleeps,
 * one starts again at 0 in some containers.
 */
export function readClock(anchor: Anchor, machine: MachineTime): Reading {
  const wall = machine.wall();
  const isRight = (expected: number): boolean =>
    wall - expected <= anchor.mostAhead && expected - wall <= MOST_SECONDS_APART;
  const awake = anchor.wall + machine.monotonic() - anchor.monotonic;
  if (isRight(awake)) return { wall, expected: awake, isRight: true };
  const asleepToo = anchor.wall + machine.uptime() - anchor.uptime;
  return { wall, expected: Math.max(awake, asleepToo), isRight: isRight(asleepToo) };
}
