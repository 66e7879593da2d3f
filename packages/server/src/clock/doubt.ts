import type { LetheErrorCode } from "@lethe/core/error";
import { Unavailable } from "../storage/database.ts";
import { type Anchor, MOST_SECONDS_APART, type Reading } from "./anchor.ts";

/** The time is not known well enough for an action that cannot be undone. The client may try again later. */
export class ClockInDoubt extends Unavailable {
  readonly code: LetheErrorCode = "clocks-apart";

  /** `message` is for the operator. */
  constructor(message: string) {
    super("the service's clock is in doubt: try again later", message);
  }
}

/** Why the clock is not trusted. */
export interface Doubt {
  readonly kind: "jumped" | "unknown" | "server";
  /** The time that it should be, seconds since 1970. */
  readonly expected: number;
  readonly reason: string;
}

/** A server's clock and this machine's, read at the same moment. */
export interface Comparison {
  readonly wall: number;
  readonly server: number;
}

/**
 * The doubt about a clock; undefined if it agrees with the time that has passed and with the database server's clock.
 */
export function doubtAbout(
  anchor: Anchor,
  { wall, expected, isRight }: Reading,
  compared: Comparison | undefined,
): Doubt | undefined {
  const doubt = (kind: Doubt["kind"], otherwise: number, other: string, advice: string): Doubt => ({
    kind,
    expected: otherwise,
    reason: `the clock says ${textOf(wall)}, and ${other}: nothing is closed, released or erased. ${advice}`,
  });
  const restart = "Set the clock; if it is right, restart once with --accept-clock";
  if (!isRight && anchor.isCounted) {
    return doubt("jumped", expected, `by the time that has passed it is ${textOf(expected)}`, restart);
  }
  if (!isRight) return doubt("unknown", expected, `the last time stored is ${textOf(anchor.wall)}`, restart);
  const apart = compared ? compared.wall - compared.server : 0;
  if (Math.abs(apart) <= MOST_SECONDS_APART) return undefined;
  return doubt("server", wall - apart, `the database server's says ${textOf(wall - apart)}`, "Set both clocks, by NTP");
}

function textOf(seconds: number): string {
  const date = new Date(1000 * seconds);
  return Number.isNaN(date.getTime()) ? `${seconds}` : `${date.toISOString().slice(0, 19)}Z`;
}
