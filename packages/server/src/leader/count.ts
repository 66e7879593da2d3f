import { decodeTwoServerReport, halfBytes, verifierBytes, WRAPPING_BYTES } from "@lethe/core/two-server";
import type { JobEntry, JobSizes } from "../between/messages.ts";
import type { TwoServerTask } from "../storage/tasks.ts";
import { readWindow, type WindowRow } from "../storage/windows.ts";
import { type BatchCounter, type CountingParts, countBatches } from "../tally/batches.ts";
import { type PreparedReport, resumeAggregator } from "../tally/resume-aggregator.ts";
import type { ShareTally } from "../tally/sealed-tally.ts";
import type { Helper } from "./client.ts";

/** A job's bytes stay far below what a helper accepts. */
const JOB_BYTES = 2_000_000;
const LARGEST_JOB = 512;

/** A report of a job, after the leader has prepared its half. */
interface Report extends JobEntry, PreparedReport {
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
  const statistics = task.layout.map(({ statistic }) => statistic);
  const sizes = { half: halfBytes(task.layout, "helper") + WRAPPING_BYTES, verifier: verifierBytes(statistics) };
  const verifyKey = helper.verifyKey(window.name, window.number);
  const counter: BatchCounter<readonly Report[], "share"> = {
    kind: "share",
    largestBatch: largestJob(sizes),
    // While one job is at the helper the next is opened here.
    workers: parts.threads.count + 1,
    open: async (keys, reports) => {
      const sent = reports.map(({ device, body }) => ({
        device,
        ...decodeTwoServerReport(task.layout, task.hash, body),
      }));
      const halves = sent.map(({ device, reportId, leader }) => ({ device, report: reportId, half: leader }));
      const prepared = await parts.threads.run("prepareShares", keys, "leader", verifyKey, halves);
      return prepared.map((half, i): Report => {
        const { device, reportId: report, leader, helper: helperHalf } = sent[i] as (typeof sent)[number];
        return { device, report, half: helperHalf, leaderHalf: leader, prepared: half, leaderVerifier: half.verifier };
      });
    },
    settle: async (reports) => {
      const verifiers = await helper.verify(task, await readWindow(parts.database, window.id), reports, sizes);
      return (tally) => withReports(task, tally, reports, verifiers);
    },
  };
  return countBatches(parts, task, window, counter, isPaused);
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
  const aggregator = resumeAggregator("leader", task, tally, reports);
  let { invalid } = tally;
  for (const [i, { device, report, leaderHalf }] of reports.entries()) {
    await aggregator.prepare(device, report, leaderHalf);
    if (!aggregator.conclude(device, helperVerifiers[i] as Uint8Array)) invalid++;
  }
  return { kind: "share", share: aggregator.unfinished(), invalid };
}
