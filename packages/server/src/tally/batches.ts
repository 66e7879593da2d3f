/**
 * What a process with keys knows of a window: the key file (`key-file.ts`, `open-keys.ts`), the secrets of windows
 * (`window-keys.ts`), what was counted so far (`sealed-tally.ts`), the threads that open reports (`threads.ts`,
 * `opening.ts`, `shares.ts`, `hpke.ts`), and how batches of reports are counted exactly once (this file). This folder may
 * import `ristretto`, `storage` and `async`. Start reading here, then `sealed-tally.ts`.
 */

import { randomBytes } from "node:crypto";
import type { Secret } from "@lethe/core/encryption";
import { allOf } from "../async/all-of.ts";
import type { Database } from "../storage/database.ts";
import type { Databases } from "../storage/databases.ts";
import { leaseReports, markCounted } from "../storage/reports.ts";
import { addTally, lockTally, saveTally } from "../storage/tallies.ts";
import type { TaskVersion } from "../storage/tasks.ts";
import type { WindowRow } from "../storage/windows.ts";
import type { KeyFile } from "./key-file.ts";
import type { CommittedKeys, ReceivedReport } from "./opening.ts";
import { emptyTally, openTally, sealTally, type TallyKind, type TallyOf } from "./sealed-tally.ts";
import type { Threads } from "./threads.ts";
import { secretOf, windowKeysOf } from "./window-keys.ts";

const FIRST_BATCH = 16;
/** The time that opening a batch should take, which is far less than a lease lasts. */
const BATCH_SECONDS = 1;
/** The batch size that was found for a task: counting goes on with it after an interruption. */
const foundSizes = new WeakMap<TaskVersion, number>();

/** What a process needs to count reports. */
export interface CountingParts {
  /** The first database, which decides about windows. */
  readonly database: Database;
  readonly databases: Databases;
  readonly threads: Threads;
  readonly keyFile: KeyFile;
  readonly leaseSeconds: number;
  readonly onCounted: (reports: number) => void;
}

/** How a protocol counts a batch of reports. */
export interface BatchCounter<Opened, Kind extends TallyKind> {
  readonly kind: Kind;
  readonly largestBatch: number;
  /** How many batches are under way at once. */
  readonly workers: number;
  /** Opens the reports. How long that takes decides the size of the next batch. */
  open(keys: CommittedKeys, reports: readonly ReceivedReport[]): Promise<Opened>;
  /**
   * Whatever else must be done before anything is locked; returns what adds the reports to the tally, in the
   * transaction.
   */
  settle(opened: Opened): Promise<(tally: TallyOf<Kind>) => Promise<TallyOf<Kind>>>;
}

/**
 * Opens and counts what a database has received for a window, until every report is counted or leased by another process, or until
 * `isPaused`. A process that is killed at any moment loses nothing and counts nothing twice: a batch is marked as
 * counted in the transaction that adds it to the tally, and only if its lease still holds.
 */
export async function countBatches<Opened, Kind extends TallyKind>(
  { database: first, keyFile, leaseSeconds, onCounted }: CountingParts,
  database: Database,
  task: TaskVersion,
  window: WindowRow,
  { kind, largestBatch, workers, open, settle }: BatchCounter<Opened, Kind>,
  isPaused: () => boolean,
): Promise<void> {
  const windowSecret = await secretOf(first, keyFile, window);
  if (!windowSecret) return;
  let batch = foundSizes.get(task) ?? Math.min(FIRST_BATCH, largestBatch);
  const work = async (): Promise<void> => {
    while (!isPaused()) {
      const lease = randomBytes(16);
      const reports = await leaseReports(database, window.id, lease, batch, leaseSeconds);
      if (reports.length === 0) return;
      const start = performance.now();
      const opened = await open(windowKeysOf(task, window, windowSecret), reports);
      const perReport = (performance.now() - start) / 1000 / reports.length;
      batch = Math.min(Math.max(Math.round(BATCH_SECONDS / perReport), 1), 2 * batch, largestBatch);
      foundSizes.set(task, batch);
      const leased = { windowId: window.id, lease, devices: reports.map(({ device }) => device) };
      const counted = await addCounted(database, windowSecret, leased, kind, await settle(opened));
      if (counted) onCounted(reports.length);
    }
  };
  await allOf(Array.from({ length: workers }, work));
}

/**
 * Marks leased reports as counted and adds them to a shard of the tally, both or neither; false if the lease was lost:
 * then another process counts them.
 */
async function addCounted<Kind extends TallyKind>(
  database: Database,
  windowSecret: Secret<Uint8Array>,
  { windowId, lease, devices }: { windowId: number; lease: Uint8Array; devices: readonly Uint8Array[] },
  kind: Kind,
  add: (tally: TallyOf<Kind>) => Promise<TallyOf<Kind>>,
): Promise<boolean> {
  class LeaseLost extends Error {}
  try {
    await database.shards.borrow((shard) =>
      database.transaction(async (transaction) => {
        const stored = await lockTally(transaction, windowId, shard);
        const marked = await markCounted(transaction, windowId, lease, devices);
        if (marked !== devices.length) throw new LeaseLost();
        const before = stored ? openTally(windowSecret, stored.sealed, kind) : emptyTally(kind);
        const counted = (stored?.counted ?? 0) + devices.length;
        const sealed = sealTally(windowSecret, await add(before));
        await (stored ? saveTally : addTally)(transaction, windowId, shard, { counted, sealed });
      }),
    );
    return true;
  } catch (error) {
    if (error instanceof LeaseLost) return false;
    throw error;
  }
}
