import type { Operations } from "@lethe/core/message";
import type { ComponentChildren, JSX } from "preact";
import { bytes, whole } from "../format/number.ts";
import { Countdown } from "./countdown.tsx";
import { nextOf, type Read, totalsOf } from "./live.ts";

/** One thing to know about the service. `value` is the number behind the text, for programs that read the page. */
interface Fact {
  readonly name: string;
  readonly text: ComponentChildren;
  readonly note: ComponentChildren;
  readonly value?: number | string | boolean;
  /** Whether somebody should look at it. */
  readonly isBad?: boolean;
  /** Of a text that takes more room than others. */
  readonly isWide?: boolean;
}

/** How the service is, and what waits in it. */
export function Health({ read }: { read: Read }): JSX.Element {
  const { operations } = read;
  return (
    <section aria-label="Health">
      <h2 class="visually-hidden">Health</h2>
      <dl class="facts">
        {[...healthOf(operations), ...workOf(operations), nextFact(read)].map((fact) => (
          <FactCard key={fact.name} {...fact} />
        ))}
      </dl>
    </section>
  );
}

function FactCard({ name, text, note, value, isBad, isWide }: Fact): JSX.Element {
  return (
    <div class={`fact${isBad ? " bad" : ""}${isWide ? " wide" : ""}`}>
      <dt>{name}</dt>
      <dd data-value={value === undefined ? undefined : String(value)}>{text}</dd>
      <dd class="muted">{note}</dd>
    </div>
  );
}

function healthOf({ ready, role, version, clockInDoubt, helper, disk }: Operations): Fact[] {
  const isReady = ready === true;
  return [
    {
      ...{ name: "Service", value: ready, isBad: !isReady },
      text: isReady ? "Ready" : "Not ready",
      note: isReady ? `Role ${role}, version ${version}.` : ready,
    },
    ...(helper ? [helperFact(helper)] : []),
    {
      ...{ name: "Clock", value: clockInDoubt, isBad: clockInDoubt },
      text: clockInDoubt ? "In doubt" : "Right",
      note: clockInDoubt
        ? "Nothing is closed, released or erased until the clock agrees with the time that passes."
        : "It agrees with the time that passes.",
    },
    ...(disk ? [diskFact(disk)] : []),
  ];
}

function helperFact({ url, answers, detail }: NonNullable<Operations["helper"]>): Fact {
  const isReady = answers && detail === "ready";
  return {
    ...{ name: "Helper", value: answers, isBad: !isReady },
    text: isReady ? "Ready" : answers ? "Not ready" : "Does not answer",
    note: isReady ? url : `${url}: ${detail}`,
  };
}

function diskFact({ freeBytes, isLow }: NonNullable<Operations["disk"]>): Fact {
  return {
    ...{ name: "Free disk space", value: freeBytes, isBad: isLow, text: bytes(freeBytes) },
    note: isLow ? "Too little: nothing new is stored." : "Enough for new reports.",
  };
}

function workOf(operations: Operations): Fact[] {
  const { backlog } = operations;
  const { enrolled, received, refused } = totalsOf(operations);
  const unfinished = "In unfinished windows.";
  return [
    { name: "Devices enrolled", value: enrolled, text: whole(enrolled), note: unfinished },
    { name: "Reports received", value: received, text: whole(received), note: unfinished },
    { name: "Requests refused", value: refused, text: whole(refused), note: unfinished },
    ...(backlog
      ? backlogOf(backlog)
      : [{ name: "Backlog", text: "Unknown", note: "The database does not answer.", isBad: true }]),
  ];
}

function backlogOf({ reports, keys, windows }: NonNullable<Operations["backlog"]>): Fact[] {
  return [
    {
      ...{ name: "Reports to count", value: reports, text: whole(reports) },
      note: "Stored, and not counted yet.",
    },
    {
      ...{ name: "Windows overdue", value: windows, text: whole(windows), isBad: windows > 0 },
      note: windows > 0 ? "Past their closing time, and not released." : "None waits for its release.",
    },
    ...(keys === undefined
      ? []
      : [
          {
            ...{ name: "Keys ahead", value: keys, text: whole(keys), isBad: keys === 0 },
            note: "In the open window with fewest.",
          },
        ]),
  ];
}

function nextFact(read: Read): Fact {
  const next = nextOf(read.operations);
  if (!next) return { name: "Next release", isWide: true, text: "None", note: "There is no window yet." };
  return {
    ...{ name: "Next release", value: next.at, isWide: true },
    text: <Countdown read={read} at={next.at} />,
    note: `Window ${next.window} of ${next.task}.`,
  };
}
