import { LetheError } from "@lethe/core/error";
import type { Task, WindowState, WindowStatus } from "@lethe/core/message";
import type { Database } from "../storage/database.ts";
import type { TaskRegistry, TaskVersion } from "../storage/tasks.ts";
import { findWindow, refusalsOf, type WindowRow } from "../storage/windows.ts";
import { phaseOf, timesOf, windowAt } from "../window-time.ts";

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
  requireEnrolmentOpen(at: At): void;
  requireUploadOpen(at: At): void;
  status(at: At): Promise<WindowStatus>;
}

export function createWindowLookup(database: Database, tasks: TaskRegistry, now: () => number): WindowLookup {
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

  return {
    firstVersion,
    versionIn,
    requireEnrolmentOpen: (at) => {
      const { manifest } = versionIn(at);
      const phase = phaseOf(manifest, at.window, now());
      if (phase === "later") {
        const running = windowAt(manifest, now());
        throw new LetheError(
          "window-not-open",
          `devices enrol for the running window, ${running}, and the next; not for ${at.window}`,
        );
      }
      if (phase === "grace" || phase === "over") throw new LetheError("window-closed", `window ${at.window} is over`);
    },
    requireUploadOpen: (at) => {
      const phase = phaseOf(versionIn(at).manifest, at.window, now());
      if (phase === "later" || phase === "next") {
        throw new LetheError("window-not-open", `window ${at.window} has not begun`);
      }
      if (phase === "over") throw new LetheError("window-closed", `window ${at.window} takes no more reports`);
    },
    status: async ({ task, window }) => {
      const { manifest } = versionIn({ task, window });
      const row = await findWindow(database, task, window);
      return {
        task,
        version: manifest.version,
        window,
        state: stateOf(manifest, window, row, now()),
        ...timesOf(manifest, window),
        enrolled: row?.enrolled ?? 0,
        received: row?.received ?? 0,
        minimumDevices: manifest.minimumDevices,
        refused: row ? await refusalsOf(database, row.id) : {},
      };
    },
  };
}

function stateOf(task: Task, window: number, row: WindowRow | undefined, now: number): WindowState {
  if (row && row.state !== "collecting") return row.state;
  const phase = phaseOf(task, window, now);
  if (phase === "over") return "closed";
  if (phase === "grace") return "grace";
  return phase === "running" ? "open" : "not-open";
}
