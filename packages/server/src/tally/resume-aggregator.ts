import { randomnessFrom } from "@lethe/core/randomness";
import {
  type Aggregator,
  createAggregator,
  type KnownReport,
  type PreparedHalf,
  type ServerRole,
} from "@lethe/core/two-server";
import type { TwoServerTask } from "../storage/tasks.ts";
import type { ShareTally } from "./sealed-tally.ts";

/** A device's half of a report, after a thread has opened and queried it. */
export interface PreparedReport {
  readonly device: Uint8Array;
  readonly prepared: PreparedHalf;
}

const random = randomnessFrom(globalThis.crypto);
const nameOf = (device: Uint8Array): string => Buffer.from(device).toString("latin1");

/**
 * Core's aggregator, resumed from a stored tally, for reports that threads have prepared. Everything that two servers
 * do with reports happens in it. It lives as long as one transaction: a transaction that is tried again resumes another
 * one from what is stored by then.
 */
export function resumeAggregator(
  role: ServerRole,
  { layout }: TwoServerTask,
  { share }: ShareTally,
  reports: readonly PreparedReport[] = [],
  known?: (device: Uint8Array) => KnownReport | undefined,
): Aggregator {
  const prepared = new Map(reports.map((report) => [nameOf(report.device), report.prepared]));
  return createAggregator({
    role,
    statistics: layout.map(({ statistic }) => statistic),
    random,
    stored: share,
    prepare: (device) => {
      const found = prepared.get(nameOf(device));
      if (!found) throw new TypeError("this report was not prepared");
      return found;
    },
    ...(known && { known }),
  });
}
