import type { FinishedWindow } from "@lethe/analyst";
import type { WindowStatus } from "@lethe/core/message";
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { whole } from "../format/number.ts";
import { dateAndTime } from "../format/time.ts";
import { useLoaded } from "../shell/load.ts";
import { Empty } from "../shell/states.tsx";
import { fetchUnfinished, type Source } from "./fetch.ts";

const [LEAST_PAUSE_MS, MOST_PAUSE_MS] = [2000, 30_000];

/** How often to look: about twenty times a window, and not more often than a person can see. */
function pauseOf(newest: FinishedWindow | undefined): number {
  const length = newest ? 1000 * (newest.to - newest.from) : 0;
  return Math.min(MOST_PAUSE_MS, Math.max(LEAST_PAUSE_MS, length / 20));
}

/** The windows that run or wait for their release. Calls `onFinished` when one of them has ended. */
export function Unfinished({
  source,
  newest,
  clockAhead,
  onFinished,
}: {
  source: Source;
  newest: FinishedWindow | undefined;
  clockAhead: number;
  onFinished: () => void;
}): JSX.Element {
  const { server, token, task } = source;
  const loaded = useLoaded(
    () => fetchUnfinished(source, newest, Date.now() / 1000 + clockAhead),
    [server, token, task, newest?.window],
    { everyMilliseconds: pauseOf(newest) },
  );
  const windows = loaded.state === "there" ? loaded.value : [];
  const hasFinished = windows.some(({ state }) => state === "released" || state === "not-enough" || state === "lost");
  useEffect(() => {
    if (hasFinished) onFinished();
  }, [hasFinished]);
  const lines = windows.map((window) => <li key={window.window}>{describeUnfinished(window)}</li>);
  if (newest) return <ul class="unfinished">{lines}</ul>;
  return (
    <Empty title="No window is released yet">
      <ul class="unfinished">{lines}</ul>
      <p>This page shows the first figures by itself.</p>
    </Empty>
  );
}

/** The state of a window that is not finished, in one sentence. */
function describeUnfinished({ state, from, to, closes, received, minimumDevices, groups }: WindowStatus): string {
  const reports = `${whole(received)} reports so far, at least ${whole(minimumDevices)} needed${groups ? " in a group" : ""}`;
  if (state === "not-open") return `The first window begins ${dateAndTime(from)}.`;
  if (state === "open") return `Running until ${dateAndTime(to)}, releases at ${dateAndTime(closes)}: ${reports}.`;
  if (state === "grace") return `Waiting for late reports, releases at ${dateAndTime(closes)}: ${reports}.`;
  return `The window until ${dateAndTime(to)} is being counted: ${reports}.`;
}
