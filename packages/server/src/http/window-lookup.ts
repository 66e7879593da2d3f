import { LetheError } from "@lethe/core/error";
import { phaseOf, type Task, timesOf, type WindowState, type WindowStatus, windowAt } from "@lethe/core/message";
import type { ServiceClock } from "../clock/clock.ts";
import { type Databases, withAllParts } from "../storage/databases.ts";
import type { TaskRegistry, TaskVersion } from "../storage/tasks.ts";
import { findWindow, refusalsOf, type WatchedWindow, type WindowRow } from "../storage/windows.ts";

/** A window as paths name it. */
interface At {
  readonly task: string;
  readonly window: number;
}

/** What endpoints ask about tasks and windows. */
export interface WindowLookup {
  /** The oldest version of a task. */
  firstVersion(task: string): TaskVersion;
  /** The version a window runs under. */
  versionIn(at: At): TaskVersion;
  /**
   * These two throw if the window is not open by the clock. While the clock is in doubt, the error asks the client to
   * try again later.
   */
  requireEnrolmentOpen(at: At): void;
  requireUploadOpen(at: At): void;
  status(at: At): Promise<WindowStatus>;
}

/** The lookup over the tasks and windows of these databases. */
export function createWindowLookup(databases: Databases, tasks: TaskRegistry, clock: ServiceClock): WindowLookup {
  function firstVersion(task: string): TaskVersion {
    const [first] = tasks.versions(task);
    if (!first) throw new LetheError("unknown-task", `there is no task ${task}`);
    return first;
  }

  function versionIn({ task, window }: At): TaskVersion {
    const { manifest } = firstVersion(task);
    const version = tasks.inWindow(task, window);
    if (!version) throw new LetheError("window-closed", `${task} begins with window ${manifest.fromWindow}`);
    return version;
  }

  /** Whatever the time may be, it is the right one for this. */
  function requireTime(check: (now: number) => void): void {
    try {
      for (const now of clock.possible()) check(now);
    } catch (refusal) {
      throw clock.doubt() ?? refusal;
    }
  }

  return {
    firstVersion,
    versionIn,
    requireEnrolmentOpen: (at) => {
      const { manifest } = versionIn(at);
      requireTime((now) => {
        const phase = phaseOf(manifest, at.window, now);
        if (phase === "later") {
          const running = windowAt(manifest, now);
          throw new LetheError(
            "window-not-open",
            `devices enrol for the running window, ${running}, and the next; not for ${at.window}`,
          );
        }
        if (phase === "grace" || phase === "over") throw new LetheError("window-closed", `window ${at.window} is over`);
      });
    },
    requireUploadOpen: (at) => {
      const { manifest } = versionIn(at);
      requireTime((now) => {
        const phase = phaseOf(manifest, at.window, now);
        if (phase === "later" || phase === "next") {
          throw new LetheError("window-not-open", `window ${at.window} has not begun`);
        }
        if (phase === "over") throw new LetheError("window-closed", `window ${at.window} takes no more reports`);
      });
    },
    status: async (at) => {
      const version = versionIn(at);
      const { first } = databases;
      const row = await findWindow(first, at.task, at.window);
      const watched = row && { ...(await withAllParts(databases, row)), refused: await refusalsOf(first, row.id) };
      return statusOf(version, at.window, watched, clock.guess());
    },
  };
}

/** The status of a window, from its row if it was made. */
export function statusOf(
  { manifest }: TaskVersion,
  window: number,
  row: WatchedWindow | undefined,
  now: number,
): WindowStatus {
  return {
    task: manifest.task,
    version: manifest.version,
    window,
    state: stateOf(manifest, window, row, now),
    ...timesOf(manifest, window),
    enrolled: row?.enrolled ?? 0,
    received: row?.received ?? 0,
    minimumDevices: manifest.minimumDevices,
    ...(manifest.groups && { groups: manifest.groups }),
    refused: row?.refused ?? {},
  };
}

function stateOf(task: Task, window: number, row: WindowRow | undefined, now: number): WindowState {
  if (row && row.state !== "collecting") return row.state;
  const phase = phaseOf(task, window, now);
  if (phase === "over") return "closed";
  if (phase === "grace") return "grace";
  return phase === "running" ? "open" : "not-open";
}
