import { createHash } from "node:crypto";
import { LetheError } from "@lethe/core/error";
import { halfBytes, isValidReport, type PreparedHalf, verifierBytes, WRAPPING_BYTES } from "@lethe/core/two-server";
import { addSharedReports, findSharedReports, type SharedReport } from "../storage/shared-reports.ts";
import { lockTally, saveTally } from "../storage/tallies.ts";
import { lockWindow } from "../storage/windows.ts";
import { openTally, sealTally } from "../tally/sealed-tally.ts";
import { aggregateIn, tallyOf } from "../tally/share-tally.ts";
import { secretOf, windowKeysOf } from "../tally/windows.ts";
import type { HelperParts } from "./helper.ts";
import { findAgreedWindow, MOST_AT_ONCE, unlessOver, versionOf, windowClosed } from "./helper-window.ts";
import { decodeJobEntries, decodeJobHead, digestOf, encodeVerifiers, type JobEntry } from "./messages.ts";
import { commitToVerifyKey, verifyKeyOf } from "./verify-key.ts";

const leaderDigestOf = (verifier: Uint8Array): Uint8Array => createHash("sha256").update(verifier).digest();

/**
 * Opens the helper's halves and tells what it found, each once: the same report again gets the same answer, and another of the same device refuses the whole
 * job. What is told is counted, in the same transaction.
 */
export async function verifyReports(
  parts: HelperParts,
  name: string,
  window: number,
  payload: Uint8Array,
): Promise<Uint8Array> {
  const { database, keyFile, threads, metrics, peer } = parts;
  const { manifestHash, helperCommitment, verifyKey, rest } = decodeJobHead(payload);
  const task = await versionOf(parts, name, window, manifestHash);
  const ownKey = verifyKeyOf(peer.secret, name, window);
  if (Buffer.compare(commitToVerifyKey(ownKey), verifyKey) !== 0) {
    throw new LetheError(
      "verify-key-differs",
      `the servers have different verify keys for window ${window} of ${name}`,
    );
  }
  const statistics = task.shared.map(({ statistic }) => statistic);
  const half = halfBytes(task.shared, "helper") + WRAPPING_BYTES;
  const entries = decodeJobEntries(rest, { half, verifier: verifierBytes(statistics) });
  if (entries.length > MOST_AT_ONCE) throw new LetheError("bad-encoding", "a job has too many reports");
  if (new Set(entries.map(({ device }) => Buffer.from(device).toString("hex"))).size !== entries.length) {
    throw new LetheError("report-differs", "a job has two reports of one device");
  }
  const row = await findAgreedWindow(parts, task, window, helperCommitment);
  const windowSecret = row && (await secretOf(database, keyFile, row));
  if (!row || !windowSecret) throw windowClosed(name, window);
  const known = await findSharedReports(database, row.id, devicesOf(entries));
  const fresh = entries.filter((_, i) => !known.has(i));
  const keys = windowKeysOf(task, row, windowSecret);
  const prepared = new Map<JobEntry, PreparedHalf>();
  const found = await unlessOver(database, row, threads.run("prepareShares", keys, "helper", ownKey, fresh));
  for (const [i, each] of found.entries()) prepared.set(fresh[i] as JobEntry, each);

  const answer = await database.transaction(async (transaction) => {
    const locked = await lockWindow(transaction, row.id);
    if (locked.state !== "collecting") throw windowClosed(name, window);
    // Another job may have been quicker.
    const stored = await findSharedReports(transaction, row.id, devicesOf(entries));
    requireSame(entries, stored);
    const added = entries.flatMap((entry, i) =>
      stored.has(i) ? [] : [{ entry, half: prepared.get(entry) as PreparedHalf }],
    );
    const tally = await lockTally(transaction, row.id);
    if (!tally) throw windowClosed(name, window);
    const opened = openTally(windowSecret, tally.sealed);
    const aggregate = aggregateIn(opened, statistics);
    let invalid = 0;
    for (const { entry, half: own } of added) {
      if (isValidReport(statistics, entry.leaderVerifier, own.verifier)) aggregate.add(own.outShare);
      else invalid++;
    }
    await addSharedReports(
      transaction,
      row.id,
      added.map(({ entry, half: own }) => ({
        device: entry.device,
        digest: digestOf(entry.device, entry.report, entry.half),
        leaderDigest: leaderDigestOf(entry.leaderVerifier),
        verifier: own.verifier,
      })),
    );
    await saveTally(transaction, row.id, {
      counted: tally.counted + added.length,
      sealed: sealTally(windowSecret, tallyOf(aggregate, opened.invalid + invalid)),
    });
    const verifiers = entries.map((entry, i) => stored.get(i)?.verifier ?? prepared.get(entry)?.verifier);
    return { verifiers: verifiers as Uint8Array[], counted: added.length };
  });
  metrics.counted(answer.counted);
  return encodeVerifiers(answer.verifiers);
}

const devicesOf = (entries: readonly JobEntry[]): Uint8Array[] => entries.map(({ device }) => device);

/** A sharing that is asked about at two points tells its bit: what was told about is never told about in another form. */
function requireSame(entries: readonly JobEntry[], stored: ReadonlyMap<number, SharedReport>): void {
  for (const [i, { device, report, half, leaderVerifier }] of entries.entries()) {
    const known = stored.get(i);
    if (!known) continue;
    const isSame =
      Buffer.compare(known.digest, digestOf(device, report, half)) === 0 &&
      Buffer.compare(known.leaderDigest, leaderDigestOf(leaderVerifier)) === 0;
    if (!isSame) throw new LetheError("report-differs", "the helper has counted another report of this device");
  }
}
