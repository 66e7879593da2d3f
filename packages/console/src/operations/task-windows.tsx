import { isProblemCode, PROBLEMS, type TaskOperations, type WindowStatus } from "@lethe/core/message";
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { type Cell, DataTable } from "../chart/figure.tsx";
import { whole } from "../format/number.ts";
import { dayAndTime, duration } from "../format/time.ts";
import { useNow } from "../shell/now.ts";
import { CloseDialog, type ClosedWindow, type Source } from "./close-dialog.tsx";
import { Countdown } from "./countdown.tsx";
import { type Read, reasonsOf, refusedIn, STATE_WORDS, serviceTime, stripOf } from "./live.ts";
import { WindowStrip } from "./window-strip.tsx";

/** How far the windows of one task are. */
export function TaskWindows({
  task,
  read,
  source,
  onClosed,
}: {
  task: TaskOperations;
  read: Read;
  source: Source;
  onClosed: () => void;
}): JSX.Element {
  const { task: name, version, windowSeconds, nextRelease, windows } = task;
  return (
    <section class="panel task-windows" aria-label={name}>
      <header>
        <h2>{name}</h2>
        <p class="muted">
          Version {whole(version)}, windows of {duration(windowSeconds)}.
        </p>
        {nextRelease && (
          <p class="next" data-value={String(nextRelease.at)}>
            Window {nextRelease.window} is released <Countdown read={read} at={nextRelease.at} />
          </p>
        )}
      </header>
      <WindowStrip cells={stripOf(task, serviceTime(read, useNow()))} />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard. */}
      <section class="scroll windows" aria-label={`Windows of ${name}, as a table`} tabIndex={0}>
        <DataTable
          caption={`Windows of ${name}, newest first`}
          columns={["window", "state", "begins", "ends", "closes", "enrolled", "received", "needed", "refused"]}
          rows={windows.map(cellsOf)}
        />
      </section>
      <Refusals name={name} windows={windows} />
      {read.operations.role !== "helper" && <Closing windows={windows} source={source} onClosed={onClosed} />}
    </section>
  );
}

const numberCell = (value: number): Cell => ({ text: whole(value), value });
const timeCell = (value: number): Cell => ({ text: dayAndTime(value), value });

function cellsOf(status: WindowStatus): Cell[] {
  const { window, state, from, to, closes, enrolled, received, minimumDevices, groups } = status;
  return [
    String(window),
    STATE_WORDS[state],
    ...[from, to, closes].map(timeCell),
    ...[enrolled, received].map(numberCell),
    { text: `${whole(minimumDevices)}${groups ? " per group" : ""}`, value: minimumDevices },
    numberCell(refusedIn(status)),
  ];
}

/** What was refused in which window, by reason, and what the reasons mean. */
function Refusals({ name, windows }: { name: string; windows: readonly WindowStatus[] }): JSX.Element | null {
  const reasons = reasonsOf(windows);
  if (reasons.length === 0) return null;
  const rows = windows
    .filter((status) => refusedIn(status) > 0)
    .map(({ window, refused }) => [String(window), ...reasons.map((reason) => numberCell(refused[reason] ?? 0))]);
  return (
    <div class="refusals">
      <h3>Refused requests, by reason</h3>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard. */}
      <section class="scroll" aria-label={`Refused requests of ${name}, as a table`} tabIndex={0}>
        <DataTable
          caption={`Refused requests of ${name}, by window and reason`}
          columns={["window", ...reasons]}
          rows={rows}
        />
      </section>
      <ul class="muted">
        {reasons.map((reason) => (
          <li key={reason}>
            <code>{reason}</code>: {isProblemCode(reason) ? PROBLEMS[reason].title : "refused"}.
          </li>
        ))}
      </ul>
    </div>
  );
}

/** Lets the admin close windows that still accept reports. */
function Closing({
  windows,
  source,
  onClosed,
}: {
  windows: readonly WindowStatus[];
  source: Source;
  onClosed: () => void;
}): JSX.Element {
  const [asked, setAsked] = useState<WindowStatus>();
  const [closed, setClosed] = useState<ClosedWindow>();
  const open = windows.filter(({ state }) => state === "open" || state === "grace");
  return (
    <>
      <div class="actions">
        {open.map((status) => (
          <button key={status.window} type="button" class="quiet" onClick={() => setAsked(status)}>
            Close window {status.window} now …
          </button>
        ))}
      </div>
      <p role="status" class="muted">
        {closed && `Window ${closed.window} is closed with ${whole(closed.received)} reports.`}
      </p>
      {asked && (
        <CloseDialog
          status={asked}
          source={source}
          onEnd={(done) => {
            setAsked(undefined);
            if (!done) return;
            setClosed(done);
            onClosed();
          }}
        />
      )}
    </>
  );
}
