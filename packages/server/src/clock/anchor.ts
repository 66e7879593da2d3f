import type { ClockMark } from "../storage/clock-mark.ts";
import type { MachineTime } from "./machine-time.ts";

/** How far two clocks that are set by NTP may be apart, in seconds. */
export const MOST_SECONDS_APART = 60;
/**
 * How many seconds a service may have been off before a start on another machine, or after a reboot of this one, needs
 * the operator's confirmation.
 */
const LONGEST_UNKNOWN = 86_400;

/** A moment at which the time was known, and how far the clock may be ahead of the time that has passed since. */
export interface Anchor {
  readonly wall: number;
  readonly monotonic: number;
  readonly uptime: number;
  readonly mostAhead: number;
  /** Whether this machine has counted the time since then. */
  readonly isCounted: boolean;
}

/** What the clock shows, and what it should show by an anchor; seconds since 1970. */
export interface Reading {
  readonly wall: number;
  readonly expected: number;
  readonly isRight: boolean;
}

/** An anchor at this moment, for a clock that is right. */
export function anchorHere(machine: MachineTime): Anchor {
  const [wall, monotonic, uptime] = [machine.wall(), machine.monotonic(), machine.uptime()];
  return { wall, monotonic, uptime, mostAhead: MOST_SECONDS_APART, isCounted: true };
}

/**
 * The anchor that a stored mark gives. If this machine has not rebooted since, the time that passed is known to the
 * second, however long the service was off. Otherwise a service that was off looks like a clock that is ahead: a day is
 * accepted, or any time if `anyGap`.
 */
export function anchorAt(mark: ClockMark, machine: MachineTime, anyGap: boolean): Anchor {
  const [monotonic, uptime] = [machine.monotonic(), machine.uptime()];
  const isSameStart = mark.boot !== null && mark.boot === machine.boot && monotonic >= mark.monotonic;
  if (isSameStart) return { ...mark, mostAhead: MOST_SECONDS_APART, isCounted: true };
  const mostAhead = anyGap ? Number.POSITIVE_INFINITY : LONGEST_UNKNOWN;
  return { wall: mark.wall, monotonic, uptime, mostAhead, isCounted: false };
}

/**
 * Compares the clock with the anchor. The clock is right if either way of counting explains it: one stands still while
 * the machine sleeps, the other restarts at 0 in some containers.
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
