import { randomBytes } from "node:crypto";
import type { Secret } from "@lethe/core/encryption";
import { allOf } from "../all-of.ts";
import type { Database } from "../storage/database.ts";
import { leaseReports, markCounted } from "../storage/reports.ts";
import { lockTally, saveTally } from "../storage/tallies.ts";
import type { TaskVersion } from "../storage/tasks.ts";
import type { WindowRow } from "../storage/windows.ts";
import type { KeyFile } from "./key-file.ts";
import { openTally, sealTally, type Tally } from "./sealed-tally.ts";
import type { Threads } from "./threads.ts";
import { secretOf, windowKeysOf } from "./windows.ts";

const FIRST_BATCH = 16;
const LARGEST_BATCH = 256;
/** What a batch should take, far less than a lease lasts. */
const BATCH_SECONDS = 1;

export interface CountingParts {
  readonly database: Database;
  readonly threads: Threads;
  readonly keyFile: KeyFile;
  readonly leaseSeconds: number;
  readonly onCounted: (reports: number) => void;
}

/**
 * Opens and counts what a window has received, until nothing is left that is not counted or leased by another, or until it is paused. Killed anywhere, it loses nothing and counts nothing twice: a batch is marked as counted in the transaction
 * that adds its answers, and only if its lease still holds.
 */
export async function countReports(
  { database, threads, keyFile, leaseSeconds, onCounted }: CountingParts,
  window: WindowRow,
  task: TaskVersion,
  isPaused: () => boolean,
): Promise<void> {
  const windowSecret = await secretOf(database, keyFile, window);
  if (!windowSecret) return;
  let batch = FIRST_BATCH;
  const work = async (): Promise<void> => {
    while (!isPaused()) {
      const lease = randomBytes(16);
      const reports = await leaseReports(database, window.id, lease, batch, leaseSeconds);
      if (reports.length === 0) return;
      const start = performance.now();
      const sums = await threads.run("open", windowKeysOf(task, window, windowSecret), reports);
      const perReport = (performance.now() - start) / 1000 / reports.length;
      batch = Math.min(Math.max(Math.round(BATCH_SECONDS / perReport), 1), 2 * batch, LARGEST_BATCH);
      const devices = reports.map(({ device }) => device);
      const counted = await addCounted(database, window.id, windowSecret, lease, devices, (tally) => ({
        sums: sums.sums.map((each, i) => each.map((sum, j) => sum + (tally.sums[i]?.[j] ?? 0))),
        invalid: tally.invalid + sums.invalid,
      }));
      if (counted) onCounted(reports.length);
    }
  };
  // While one batch is opened the next is fetched.
  await allOf(Array.from({ length: 2 * threads.count }, work));
}

/** Marks leased reports as counted and adds them to the tally, both or neither; false if the lease was lost: then another counts these reports. */
export async function addCounted(
  database: Database,
  windowId: number,
  windowSecret: Secret<Uint8Array>,
  lease: Uint8Array,
  devices: readonly Uint8Array[],
  add: (tally: Tally) => Tally,
): Promise<boolean> {
  class LeaseLost extends Error {}
  try {
    await database.transaction(async (transaction) => {
      const stored = await lockTally(transaction, windowId);
      const marked = await markCounted(transaction, windowId, lease, devices);
      if (!stored || marked !== devices.length) throw new LeaseLost();
      await saveTally(transaction, windowId, {
        counted: stored.counted + devices.length,
        sealed: sealTally(windowSecret, add(openTally(windowSecret, stored.sealed))),
      });
    });
    return true;
  } catch (error) {
    if (error instanceof LeaseLost) return false;
    throw error;
  }
}
