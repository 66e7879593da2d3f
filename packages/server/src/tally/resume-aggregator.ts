import { randomnessFrom } from "@lethe/core/randomness";
import {
  type Aggregator,
  createAggregator,
  type KnownReport,
  type PreparedHalf,
  type ServerRole,
} from "@lethe/core/two-server";
import type { TwoServerTask } from "../storage/tasks.ts";
import { groupsIn, type ShareTally } from "./sealed-tally.ts";

/** A device's half of a report, after a thread has opened and queried it. */
export interface PreparedReport {
  readonly device: Uint8Array;
  readonly prepared: PreparedHalf;
}

/** Core's aggregators, one per group of the task. A group is given by its place among them. */
export interface Aggregators {
  /** As that of core's `Aggregator`. */
  prepare(group: number, device: Uint8Array, report: Uint8Array, wrapped: Uint8Array): Promise<Uint8Array>;
  /** Counts a report in its group. */
  conclude(group: number, device: Uint8Array, otherVerifier: Uint8Array): void;
  /** The tally with everything in it that was counted. */
  unfinished(): ShareTally;
}

const random = randomnessFrom(globalThis.crypto);
const nameOf = (device: Uint8Array): string => Buffer.from(device).toString("latin1");

/**
 * The aggregators, resumed from a stored tally, for reports that threads have prepared. Everything that two servers do
 * with reports happens in them. They live as long as one transaction: a transaction that is tried again resumes others
 * from what is stored by then. `known` finds the report of a device that was counted before.
 */
export function resumeAggregators(
  role: ServerRole,
  task: TwoServerTask,
  tally: ShareTally,
  reports: readonly PreparedReport[],
  known?: (device: Uint8Array) => KnownReport | undefined,
): Aggregators {
  const prepared = new Map(reports.map((report) => [nameOf(report.device), report.prepared]));
  const resumed = new Map<number, Aggregator>();
  const received = groupsIn(task.manifest).map((_, group) => tally.received[group] ?? 0);
  let { invalid } = tally;
  const aggregatorOf = (group: number): Aggregator => {
    const aggregator = resumed.get(group) ?? resume(role, task, tally.shares[group], prepareOnce, known);
    resumed.set(group, aggregator);
    return aggregator;
  };
  const prepareOnce = (device: Uint8Array): PreparedHalf => {
    const half = prepared.get(nameOf(device));
    if (!half) throw new TypeError("this report was not prepared");
    return half;
  };
  return {
    prepare: (group, device, report, wrapped) => aggregatorOf(group).prepare(device, report, wrapped),
    conclude: (group, device, otherVerifier) => {
      if (!aggregatorOf(group).conclude(device, otherVerifier)) invalid++;
      received[group] = (received[group] as number) + 1;
    },
    unfinished: () => ({
      kind: "share",
      shares: received.map((_, group) => resumed.get(group)?.unfinished() ?? tally.shares[group]),
      received,
      invalid,
    }),
  };
}

/** A server's share of the sums of one group, with its noise, which is drawn here: only for publishing, and once. */
export function closedShare(role: ServerRole, task: TwoServerTask, stored: Uint8Array | undefined): Uint8Array {
  const nothing = (): never => {
    throw new TypeError("a closed window counts nothing more");
  };
  return resume(role, task, stored, nothing).close();
}

function resume(
  role: ServerRole,
  { layout }: TwoServerTask,
  stored: Uint8Array | undefined,
  prepare: (device: Uint8Array) => PreparedHalf,
  known?: (device: Uint8Array) => KnownReport | undefined,
): Aggregator {
  const statistics = layout.map(({ statistic }) => statistic);
  return createAggregator({ role, statistics, random, stored, prepare, ...(known && { known }) });
}
