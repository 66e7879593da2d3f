import { randomBytes } from "node:crypto";
import type { Database } from "../storage/database.ts";
import { leaseReports, markCounted } from "../storage/reports.ts";
import { lockTally, saveTally } from "../storage/tallies.ts";
import type { TaskVersion } from "../storage/tasks.ts";
import type { WindowRow } from "../storage/windows.ts";
import type { KeyFile } from "./key-file.ts";
import type { BatchSums } from "./opening.ts";
import type { Threads } from "./threads.ts";
import { secretOf } from "./windows.ts";

const BATCH = 256;
const LEASE_SECONDS = 60;

/**
 * Opens and counts what a window has received, until nothing is left that is not counted or leased by another, or until it is paused, and says how many
 * reports it counted. Killed anywhere, it loses nothing and counts nothing twice: a batch is marked as counted in the transaction
 * that adds its answers, and only if its lease still holds.
 */
export async function countReports(
  database: Database,
  threads: Threads,
  keyFile: KeyFile,
  window: WindowRow,
  task: TaskVersion,
  isPaused: () => boolean = () => false,
): Promise<number> {
  let counted = 0;
  const work = async (): Promise<void> => {
    while (!isPaused()) {
      const lease = randomBytes(16);
      const reports = await leaseReports(database, window.id, lease, BATCH, LEASE_SECONDS);
      if (reports.length === 0) return;
      const keys = {
        manifest: task.signed.manifest,
        window: window.number,
        windowSecret: secretOf(keyFile, window).reveal(),
      };
      const sums = await threads.run("open", keys, reports);
      if (await addBatch(database, window.id, lease, reports.length, sums)) counted += reports.length;
    }
  };
  // While one batch is opened the next is fetched.
  await Promise.all(Array.from({ length: 2 * threads.count }, work));
  return counted;
}

/** False if the lease was lost: then another counts these reports. */
async function addBatch(
  database: Database,
  windowId: number,
  lease: Uint8Array,
  reports: number,
  batch: BatchSums,
): Promise<boolean> {
  class LeaseLost extends Error {}
  try {
    await database.transaction(async (transaction) => {
      const tally = await lockTally(transaction, windowId);
      if ((await markCounted(transaction, windowId, lease)) !== reports) throw new LeaseLost();
      await saveTally(transaction, windowId, {
        counted: tally.counted + reports,
        sums: batch.sums.map((sums, i) => sums.map((sum, j) => sum + (tally.sums[i]?.[j] ?? 0))),
        invalid: tally.invalid + batch.invalid,
      });
    });
    return true;
  } catch (error) {
    if (error instanceof LeaseLost) return false;
    throw error;
  }
}
