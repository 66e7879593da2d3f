import { decodeReport, encodeReport } from "@lethe/core/message";
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
  const header = encodeReport(task.hash, []);
  return {
    // The size and the header are all that `decodeReport` checks; if they are wrong, it says what is.
    requireReport: (body) => {
      const isRight = body.length === task.reportBytes && Buffer.compare(body.subarray(0, header.length), header) === 0;
      if (!isRight) decodeReport(task.layout, task.hash, body);
    },
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
    // While a thread opens a batch, the next is fetched; one more lies ready if the database or this thread is slow.
    workers: 2 * threads.count + 1,
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
