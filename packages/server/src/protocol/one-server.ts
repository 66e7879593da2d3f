import { decodeReport } from "@lethe/core/message";
import { publishRelease } from "../release/publish.ts";
import type { OneServerTask } from "../storage/tasks.ts";
import { type BatchCounter, countBatches } from "../tally/batches.ts";
import type { BatchSums } from "../tally/opening.ts";
import { addUp } from "../tally/sealed-tally.ts";
import type { Threads } from "../tally/threads.ts";
import { windowKeysOf } from "../tally/window-keys.ts";
import type { ServerProtocol } from "./protocol.ts";

const LARGEST_BATCH = 256;

/** A task whose reports one server opens: it adds up their answers, and publishes the release itself. */
export function oneServer(task: OneServerTask): ServerProtocol {
  return {
    requireReport: (body) => void decodeReport(task.layout, task.hash, body),
    keysOf: ({ publicKeys, signature }) => [{ role: "tally", publicKeys, signature }],
    issueKeys: ({ threads, keyFile }, window, windowSecret, count, place) =>
      threads.run("issue", windowKeysOf(task, window, windowSecret), count, keyFile.signingKey, place),
    count: (parts, database, window, isPaused) =>
      countBatches(parts, database, task, window, sumsIn(parts.threads), isPaused),
    finish: (parts, windowId, at) => publishRelease(parts, task, windowId, at),
    isLost: async () => false,
  };
}

/** Threads open the reports and add up the answers of a batch; the tally gets their sums. */
function sumsIn(threads: Threads): BatchCounter<BatchSums, "sums"> {
  return {
    kind: "sums",
    largestBatch: LARGEST_BATCH,
    // While one batch is opened the next is fetched.
    workers: 2 * threads.count,
    open: (keys, reports) => threads.run("open", keys, reports),
    settle:
      async ({ sums, received, invalid }) =>
      async (tally) => ({
        kind: "sums",
        sums: sums.map((each, i) => addUp(each, tally.sums[i])),
        received: addUp(received, tally.received),
        invalid: tally.invalid + invalid,
      }),
  };
}
