import { timesOf } from "../window-time.ts";
import type { Queryable } from "./database.ts";
import type { TaskRegistry } from "./tasks.ts";
import { unfinishedWindows } from "./windows.ts";

/** What waits to be done, over all processes on a database. */
export interface Backlog {
  /** Reports that are stored and not counted yet. */
  readonly reports: number;
  /** The fewest keys that lie ready for a window that takes devices. */
  readonly keys: number;
  /** Windows that are past their closing time and not released. */
  readonly windows: number;
}

export async function measureBacklog(database: Queryable, tasks: TaskRegistry, now: number): Promise<Backlog> {
  const [waiting] = await database.query<{ reports: number }>("SELECT count(*) AS reports FROM uncounted");
  const spares = await database.query<{ keys: number }>(
    `SELECT (SELECT count(*) FROM devices WHERE window_id = id AND token_hash IS NULL) AS keys
     FROM windows WHERE state = $1`,
    ["collecting"],
  );
  const closesBefore = (taskId: number, number: number): boolean => {
    const task = tasks.byId(taskId);
    return task !== undefined && timesOf(task.manifest, number).closes < now;
  };
  const overdue = (await unfinishedWindows(database)).filter(
    ({ state, taskId, number }) => state === "closed" || (state === "collecting" && closesBefore(taskId, number)),
  );
  return {
    reports: waiting?.reports ?? 0,
    keys: Math.min(...spares.map(({ keys }) => keys)),
    windows: overdue.length,
  };
}
