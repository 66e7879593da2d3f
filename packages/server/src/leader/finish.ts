import { LetheError } from "@lethe/core/error";
import { decodeTwoServerReport } from "@lethe/core/two-server";
import { digestOf, groupByteOf } from "../between/messages.ts";
import type { Published } from "../release/release.ts";
import { publishShare } from "../release/share.ts";
import type { Database } from "../storage/database.ts";
import { hashOfReports } from "../storage/helper-reports.ts";
import { hasUncounted } from "../storage/reports.ts";
import { countedIn } from "../storage/tallies.ts";
import type { TwoServerTask } from "../storage/tasks.ts";
import { lockWindow, readWindow } from "../storage/windows.ts";
import type { CountingParts } from "../tally/batches.ts";
import type { Helper } from "./client.ts";

/**
 * Finishes a closed window: first the helper publishes its share, if it has counted exactly the same reports, then the
 * leader. Undefined while there is more to count, or if another process has finished it.
 */
export async function finishWithHelper(
  { database, keyFile }: Pick<CountingParts, "database" | "keyFile">,
  helper: Helper,
  task: TwoServerTask,
  id: number,
  at: number,
): Promise<Published | undefined> {
  const window = await readWindow(database, id);
  if (window.state !== "closed" || (await countedIn(database, id)) !== window.received) return undefined;
  const reports = await hashOfReports(database, id, task.reportBytes, ({ device, group, body }) => {
    const { reportId, helper: half } = decodeTwoServerReport(task.layout, task.hash, body);
    return digestOf({ device, groupByte: groupByteOf(task, group), report: reportId, half });
  });
  await helper.finish(task, window, { received: window.received, reports });
  return database.transaction(async (transaction) => {
    const locked = await lockWindow(transaction, id);
    if (locked.state !== "closed") return undefined;
    return publishShare(transaction, keyFile, { task, window: locked, role: "leader", reports, at });
  });
}

/**
 * Whether this error means that the servers can never count a window alike: one of them was restored from a backup, or
 * their secret was changed in the middle of a job. Another leader on this database may have counted everything
 * meanwhile and finished: then the window is not lost.
 */
export async function canNeverAgree(database: Database, windowId: number, error: unknown): Promise<boolean> {
  if (!(error instanceof LetheError)) return false;
  if (error.code === "reports-differ") return true;
  if (error.code !== "report-differs" && error.code !== "window-closed") return false;
  return hasUncounted(database, windowId);
}
