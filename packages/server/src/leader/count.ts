import { decodeTwoServerReport } from "@lethe/core/two-server";
import { groupByteOf, type JobEntry, type JobSizes, jobSizesOf } from "../between/messages.ts";
import type { TwoServerTask } from "../storage/tasks.ts";
import { readWindow, type WindowRow } from "../storage/windows.ts";
import { type BatchCounter, type CountingParts, countBatches } from "../tally/batches.ts";
import { type PreparedReport, resumeAggregators } from "../tally/resume-aggregator.ts";
import type { ShareTally } from "../tally/sealed-tally.ts";
import type { Helper } from "./client.ts";

/** A job's bytes stay far below what a helper accepts. */
const JOB_BYTES = 2_000_000;
const LARGEST_JOB = 512;

/** A report of a job, after the leader has prepared its half. */
interface Report extends JobEntry, PreparedReport {
  readonly group: number;
  readonly leaderHalf: Uint8Array;
}

/**
 * Counts what a window has received, job by job: opens the leader's halves, lets the helper open its own, and counts
 * what both found. A leader that is killed at any moment does the same job again, and the helper answers as before.
 */
export function countWithHelper(
  parts: CountingParts,
  helper: Helper,
  task: TwoServerTask,
  window: WindowRow,
  isPaused: () => boolean,
): Promise<void> {
  const sizes = jobSizesOf(task);
  const verifyKey = helper.verifyKey(window.name, window.number);
  const counter: BatchCounter<readonly Report[], "share"> = {
    kind: "share",
    largestBatch: largestJob(sizes),
    // While one job is at the helper and another in the database, the next is opened here.
    workers: parts.threads.count + 2,
    open: async (keys, reports) => {
      const sent = reports.map(({ device, group, body }) => ({
        device,
        group,
        ...decodeTwoServerReport(task.layout, task.hash, body),
      }));
      const halves = sent.map(({ device, reportId, leader }) => ({ device, report: reportId, half: leader }));
      const prepared = await parts.threads.run("prepareShares", keys, "leader", verifyKey, halves);
      return prepared.map((half, i): Report => {
        const { device, group, reportId: report, leader, helper: helperHalf } = sent[i] as (typeof sent)[number];
        const groupByte = groupByteOf(task, group);
        const halves = { half: helperHalf, leaderHalf: leader, leaderVerifier: half.verifier };
        return { device, group, groupByte, report, ...halves, prepared: half };
      });
    },
    settle: async (reports) => {
      const verifiers = await helper.verify(task, await readWindow(parts.database, window.id), reports, sizes);
      return (tally) => withReports(task, tally, reports, verifiers);
    },
  };
  return countBatches(parts, parts.database, task, window, counter, isPaused);
}

function largestJob({ half, verifier }: JobSizes): number {
  return Math.max(1, Math.min(LARGEST_JOB, Math.floor(JOB_BYTES / (half + verifier))));
}

/** The tally with these reports in it. */
async function withReports(
  task: TwoServerTask,
  tally: ShareTally,
  reports: readonly Report[],
  helperVerifiers: readonly Uint8Array[],
): Promise<ShareTally> {
  const aggregators = resumeAggregators("leader", task, tally, reports);
  for (const [i, { device, group, report, leaderHalf }] of reports.entries()) {
    await aggregators.prepare(group, device, report, leaderHalf);
    aggregators.conclude(group, device, helperVerifiers[i] as Uint8Array);
  }
  return aggregators.unfinished();
}
