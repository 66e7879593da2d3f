import { phaseOf } from "@lethe/core/message";
import type { Queryable } from "./database.ts";
import type { Databases } from "./databases.ts";
import { countDeliveries } from "./deliveries.ts";
import { countSpareKeys } from "./spare-keys.ts";
import type { TaskRegistry } from "./tasks.ts";
import { RECEIVED } from "./window-shards.ts";
import { unfinishedWindows } from "./windows.ts";

/** The work that waits, of all processes on a database. */
export interface Backlog {
  /** Reports that are stored and not counted yet. */
  readonly reports: number;
  /** The number of keys in the pool of the open window that has fewest. */
  readonly keys: number;
  /** Windows that are past their closing time and not released. */
  readonly windows: number;
  /** Outcomes that are published and not delivered to the webhook. */
  readonly deliveries: number;
  /** Outcomes that were dropped because too many waited for the webhook. */
  readonly dropped: number;
}

/** Measures the backlog of all databases. */
export async function measureBacklog(databases: Databases, tasks: TaskRegistry, now: number): Promise<Backlog> {
  const { first: database, all } = databases;
  const unfinished = (await unfinishedWindows(database)).flatMap((window) => {
    const task = tasks.byId(window.taskId);
    return task ? [{ ...window, phase: phaseOf(task.manifest, window.number, now) }] : [];
  });
  const open = unfinished.filter(({ state, phase }) => state === "collecting" && ["running", "next"].includes(phase));
  const pools = open.flatMap((window) => databases.of(window).map((each) => countSpareKeys(each, window.id)));
  const keys = await Promise.all(pools);
  const overdue = unfinished.filter(
    ({ state, phase }) => state === "closed" || (state === "collecting" && phase === "over"),
  );
  return {
    reports: (await Promise.all(all.map(countWaiting))).reduce((sum, reports) => sum + reports, 0),
    ...{ keys: Math.min(...keys), windows: overdue.length },
    ...(await countDeliveries(database)),
  };
}

/** As many as `uncounted` has rows, which would take long to count. */
async function countWaiting(database: Queryable): Promise<number> {
  const [waiting] = await database.query<{ reports: number }>(
    `SELECT coalesce(sum(${RECEIVED} - (SELECT coalesce(sum(counted), 0) FROM tallies WHERE window_id = windows.id)), 0)::int
       AS reports
     FROM windows WHERE NOT erased AND state IN ('collecting', 'closed')`,
  );
  return waiting?.reports ?? 0;
}
