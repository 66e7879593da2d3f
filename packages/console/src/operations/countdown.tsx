import type { JSX } from "preact";
import { dateAndTime, duration } from "../format/time.ts";
import { useNow } from "../shell/now.ts";
import { type Read, serviceTime } from "./live.ts";

/** How long it takes until a time of the service's clock, in Unix seconds. */
export function Countdown({ read, at }: { read: Read; at: number }): JSX.Element {
  const left = at - serviceTime(read, useNow());
  return (
    <time dateTime={new Date(1000 * at).toISOString()} title={dateAndTime(at)}>
      {left > 0 ? `in ${duration(Math.ceil(left))}` : "due now"}
    </time>
  );
}
