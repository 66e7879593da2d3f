import { randomBytes } from "node:crypto";
import { LetheError } from "@lethe/core/error";
import { randomnessFrom } from "@lethe/core/randomness";
import {
  decodeTwoServerReport,
  halfBytes,
  isValidReport,
  type PreparedHalf,
  type TwoServerLayout,
  type TwoServerStatistic,
  verifierBytes,
  WRAPPING_BYTES,
} from "@lethe/core/two-server";
import { allOf } from "../all-of.ts";
import type { Helper } from "../peer/client.ts";
import { digestOf, type JobEntry } from "../peer/messages.ts";
import { shareWindow } from "../release/share.ts";
import type { Database } from "../storage/database.ts";
import { leaseReports } from "../storage/reports.ts";
import { hashOfReports } from "../storage/shared-reports.ts";
import type { TaskVersion } from "../storage/tasks.ts";
import { lockWindow, readWindow, type WindowRow } from "../storage/windows.ts";
import { addCounted, type CountingParts } from "./counting.ts";
import type { Tally } from "./sealed-tally.ts";
import { aggregateIn, tallyOf } from "./share-tally.ts";
import { secretOf, windowKeysOf } from "./windows.ts";

/** A task of two servers, at its leader. */
export interface SharedTask extends TaskVersion {
  readonly shared: TwoServerLayout;
}

export function isShared(task: TaskVersion): task is SharedTask {
  return task.shared !== undefined;
}

const random = randomnessFrom(globalThis.crypto);
/** A job's bytes stay far below what a helper takes. */
const JOB_BYTES = 2_000_000;
const FIRST_JOB = 16;
const LARGEST_JOB = 128;
/** What a job should take each server, far less than a lease lasts. */
const JOB_SECONDS = 1;

/**
 * Opens the leader's halves of reports, has the helper open its own, and counts what both find: in the transaction that marks them as counted, and only if the lease still holds. Killed anywhere, the
 * same job is done again, and the helper answers as before.
 */
export async function countShared(
  { database, threads, keyFile, leaseSeconds, onCounted }: CountingParts,
  helper: Helper,
  window: WindowRow,
  task: SharedTask,
  isPaused: () => boolean,
): Promise<void> {
  const windowSecret = await secretOf(database, keyFile, window);
  if (!windowSecret) return;
  const verifyKey = helper.verifyKey(window.name, window.number);
  const statistics = task.shared.map(({ statistic }) => statistic);
  const sizes = { half: halfBytes(task.shared, "helper") + WRAPPING_BYTES, verifier: verifierBytes(statistics) };
  const most = Math.max(1, Math.min(LARGEST_JOB, Math.floor(JOB_BYTES / (sizes.half + sizes.verifier))));
  let job = Math.min(FIRST_JOB, most);
  const work = async (): Promise<void> => {
    while (!isPaused()) {
      const lease = randomBytes(16);
      const reports = await leaseReports(database, window.id, lease, job, leaseSeconds);
      if (reports.length === 0) return;
      const parts = reports.map(({ device, body }) => ({
        device,
        ...decodeTwoServerReport(task.shared, task.hash, body),
      }));
      const halves = parts.map(({ device, reportId: report, leader }) => ({ device, report, half: leader }));
      const keys = windowKeysOf(task, window, windowSecret);
      const start = performance.now();
      const prepared = await threads.run("prepareShares", keys, "leader", verifyKey, halves);
      const perReport = (performance.now() - start) / 1000 / reports.length;
      job = Math.min(Math.max(Math.round(JOB_SECONDS / perReport), 1), 2 * job, most);
      const entries = parts.map(({ device, reportId: report, helper: half }, i): JobEntry => {
        return { device, report, half, leaderVerifier: (prepared[i] as PreparedHalf).verifier };
      });
      const verifiers = await helper.verify(task, await readWindow(database, window.id), entries, sizes);
      const valid = prepared.map(({ verifier }, i) => isValidReport(statistics, verifier, verifiers[i] as Uint8Array));
      const devices = reports.map(({ device }) => device);
      const counted = await addCounted(database, window.id, windowSecret, lease, devices, (tally) =>
        withReports(tally, statistics, prepared, valid),
      );
      if (counted) onCounted(devices.length);
    }
  };
  // While one job is at the helper the next is opened here.
  await allOf(Array.from({ length: threads.count + 1 }, work));
}

/** The tally with these reports in it, or "no event" in place of those that are invalid. */
function withReports(
  tally: Tally,
  statistics: readonly TwoServerStatistic[],
  prepared: readonly PreparedHalf[],
  valid: readonly boolean[],
): Tally {
  const aggregate = aggregateIn(tally, statistics);
  for (const [i, { outShare }] of prepared.entries()) {
    // Drawn whether it is needed or not, so that time does not tell. It is the leader's to draw; the helper's share of it is zero.
    const noEvent = statistics.flatMap(({ onNoEvent }) => onNoEvent(random));
    if (valid[i]) aggregate.add(outShare);
    else aggregate.addConstant(noEvent);
  }
  return tallyOf(aggregate, tally.invalid + valid.filter((isValid) => !isValid).length);
}

/**
 * Finishes a closed window: first the helper makes its share, if it has counted the very same reports, then the leader. Undefined while
 * there is more to count, or if another process has done it.
 */
export async function finishShared(
  { database, keyFile }: Pick<CountingParts, "database" | "keyFile">,
  helper: Helper,
  task: SharedTask,
  id: number,
  at: number,
): Promise<"released" | "not-enough" | undefined> {
  const window = await readWindow(database, id);
  if (window.state !== "closed" || !(await isCounted(database, window))) return undefined;
  const reports = await hashOfReports(database, id, task.reportBytes, (device, body) => {
    const { reportId, helper: half } = decodeTwoServerReport(task.shared, task.hash, body);
    return digestOf(device, reportId, half);
  });
  await helper.finish(task, window, { received: window.received, reports });
  return database.transaction(async (transaction) => {
    const locked = await lockWindow(transaction, id);
    if (locked.state !== "closed") return undefined;
    return shareWindow(transaction, keyFile, { task, window: locked, role: "leader", reports, at });
  });
}

/**
 * Whether the helper has said that it can never count a window as the leader does: one of them was restored from a backup, or their secret was changed
 * in the midst of a job. Another leader on this database may have counted everything meanwhile and finished.
 */
export async function isHopeless(database: Database, windowId: number, error: unknown): Promise<boolean> {
  if (!(error instanceof LetheError)) return false;
  if (error.code === "reports-differ") return true;
  if (error.code !== "report-differs" && error.code !== "window-closed") return false;
  return (await database.query("SELECT 1 FROM uncounted WHERE window_id = $1 LIMIT 1", [windowId])).length > 0;
}

async function isCounted(database: Database, { id, received }: WindowRow): Promise<boolean> {
  const [row] = await database.query<{ counted: number }>("SELECT counted FROM tallies WHERE window_id = $1", [id]);
  return row?.counted === received;
}
