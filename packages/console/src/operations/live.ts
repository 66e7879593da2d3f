import type { Operations, TaskOperations, WindowState, WindowStatus } from "@lethe/core/message";
import { whole } from "../format/number.ts";

/** The states of windows in words, in the order in which a window passes through them. */
export const STATE_WORDS: Readonly<Record<WindowState, string>> = {
  "not-open": "not begun",
  open: "running",
  grace: "late reports",
  closed: "being counted",
  released: "released",
  "not-enough": "too few devices",
  lost: "lost",
};

/** A view of a service, and when it was read, in milliseconds of the reader's clock. */
export interface Read {
  readonly operations: Operations;
  readonly at: number;
}

/** Figures that are older than this are called old, although no request has failed yet. */
export const OLD_MILLISECONDS = 10_000;

/** The service's time, in Unix seconds, while the reader's clock says `now`, in milliseconds. */
export function serviceTime({ operations, at }: Read, now: number): number {
  return operations.now + Math.max(0, now - at) / 1000;
}

/** Whether what was read is not live any more: a request failed, or none was answered for long. */
export function isOld({ at }: Pick<Read, "at">, failure: Error | undefined, now: number): boolean {
  return failure !== undefined || now - at > OLD_MILLISECONDS;
}

/** Whether a window may still change. */
function isUnfinished({ state }: Pick<WindowStatus, "state">): boolean {
  return state === "not-open" || state === "open" || state === "grace" || state === "closed";
}

/** Devices, reports and refusals of all windows of all tasks that are not finished. */
export function totalsOf({ tasks }: Operations): {
  readonly enrolled: number;
  readonly received: number;
  readonly refused: number;
} {
  const windows = tasks.flatMap((task) => task.windows).filter(isUnfinished);
  const sum = (count: (window: WindowStatus) => number): number =>
    windows.reduce((total, window) => total + count(window), 0);
  return {
    enrolled: sum(({ enrolled }) => enrolled),
    received: sum(({ received }) => received),
    refused: sum(refusedIn),
  };
}

/** All refusals of a window. */
export function refusedIn({ refused }: Pick<WindowStatus, "refused">): number {
  return Object.values(refused).reduce((total, requests) => total + requests, 0);
}

/** The reasons for which windows refused something, most frequent first. */
export function reasonsOf(windows: readonly Pick<WindowStatus, "refused">[]): string[] {
  const totals = new Map<string, number>();
  for (const { refused } of windows) {
    for (const [reason, requests] of Object.entries(refused)) {
      totals.set(reason, (totals.get(reason) ?? 0) + requests);
    }
  }
  return [...totals].sort(([a, many], [b, more]) => more - many || (a < b ? -1 : 1)).map(([reason]) => reason);
}

/** The task whose release is the next of all, with the time of it. */
export function nextOf({
  tasks,
}: Operations): { readonly task: string; readonly window: number; readonly at: number } | undefined {
  const found = tasks.flatMap(({ task, nextRelease }) => (nextRelease ? [{ task, ...nextRelease }] : []));
  return found.sort((a, b) => a.at - b.at)[0];
}

/** A window in the picture of a task. */
export interface StripCell {
  readonly window: number;
  readonly state: WindowState;
  /** The share of the window's time that has passed. */
  readonly passed: number;
  /** Whether windows before it are not listed. */
  readonly isAfterGap: boolean;
}

/** The windows of a task for its picture, oldest first. */
export function stripOf({ windows }: TaskOperations, now: number): StripCell[] {
  const ordered = windows.toReversed();
  return ordered.map(({ window, state, from, to }, i) => {
    const before = ordered[i - 1];
    return {
      ...{ window, state },
      passed: Math.min(1, Math.max(0, (now - from) / (to - from))),
      isAfterGap: before !== undefined && before.window !== window - 1,
    };
  });
}

/** How many windows are in each state, in words: "9 released, 1 running". */
export function stripText(cells: readonly Pick<StripCell, "state">[]): string {
  return countsOf(cells)
    .map(({ state, windows }) => `${whole(windows)} ${STATE_WORDS[state]}`)
    .join(", ");
}

/** How many windows are in each state that there is. */
export function countsOf(
  cells: readonly Pick<StripCell, "state">[],
): { readonly state: WindowState; readonly windows: number }[] {
  const states = Object.keys(STATE_WORDS) as WindowState[];
  return states
    .map((state) => ({ state, windows: cells.filter((cell) => cell.state === state).length }))
    .filter(({ windows }) => windows > 0);
}

/** What closing a window now means for its devices and its release, one sentence each. */
export function consequencesOf(status: WindowStatus): string[] {
  const { state, received, enrolled } = status;
  return [
    state === "open"
      ? "The window is still running: devices that report at its end are refused, and what they counted is lost."
      : "Devices that have not sent their reports yet are refused, and what they counted is lost.",
    `${whole(received)} of ${whole(enrolled)} enrolled devices have reported so far.`,
    releaseSentence(status),
    "This cannot be undone.",
  ];
}

function releaseSentence({ received, minimumDevices, groups }: WindowStatus): string {
  if (groups) return `A group with fewer than ${whole(minimumDevices)} reports is in no figure.`;
  const missing = minimumDevices - received;
  if (missing <= 0) return "The release follows as soon as all of them are counted.";
  return `That is too few: ${whole(missing)} more are needed, and without them nothing of this window is released.`;
}
