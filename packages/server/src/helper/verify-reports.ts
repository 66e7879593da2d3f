import { createHash } from "node:crypto";
import type { Secret } from "@lethe/core/encryption";
import { LetheError } from "@lethe/core/error";
import {
  decodeJobEntries,
  decodeJobHead,
  digestOf,
  encodeVerifiers,
  type JobEntry,
  jobSizesOf,
} from "../between/messages.ts";
import { commitToVerifyKey, verifyKeyOf } from "../between/verify-key.ts";
import type { Queryable } from "../storage/database.ts";
import { addHelperReports, findHelperReports, type HelperReport } from "../storage/helper-reports.ts";
import { FIRST_SHARD, lockTally, saveTally } from "../storage/tallies.ts";
import type { TwoServerTask } from "../storage/tasks.ts";
import { lockWindow, type WindowRow } from "../storage/windows.ts";
import { type PreparedReport, resumeAggregators } from "../tally/resume-aggregator.ts";
import { groupsIn, openTally, sealTally } from "../tally/sealed-tally.ts";
import { secretOf, windowKeysOf } from "../tally/window-keys.ts";
import { findAgreedWindow, MOST_AT_ONCE, unlessOver, versionOf, windowClosed } from "./agreed-window.ts";
import type { HelperParts } from "./helper.ts";

/**
 * Opens the helper's halves and answers with its verifiers, one answer per report: the same report again gets the same
 * answer, and another report of the same device refuses the whole job. Every answer is counted in the transaction that
 * stores it, before it is sent.
 */
export async function verifyReports(
  parts: HelperParts,
  name: string,
  window: number,
  payload: Uint8Array,
): Promise<Uint8Array> {
  const { database, keyFile, threads, metrics } = parts;
  const { manifestHash, helperCommitment, verifyKey: commitment, rest } = decodeJobHead(payload);
  const task = await versionOf(parts, name, window, manifestHash);
  const verifyKey = requireSameVerifyKey(parts, name, window, commitment);
  const entries = entriesIn(task, rest);
  const row = await findAgreedWindow(parts, task, window, helperCommitment);
  const windowSecret = row && (await secretOf(database, keyFile, row));
  if (!row || !windowSecret) throw windowClosed(name, window);
  const known = await findHelperReports(database, row.id, devicesOf(entries));
  const fresh = entries.filter((_, i) => !known.has(i));
  const keys = windowKeysOf(task, row, windowSecret);
  const halves = await unlessOver(database, row, threads.run("prepareShares", keys, "helper", verifyKey, fresh));
  const job: Job = {
    task,
    row,
    windowSecret,
    entries,
    prepared: halves.map((prepared, i) => ({ device: (fresh[i] as JobEntry).device, prepared })),
  };
  const { verifiers, counted } = await database.transaction((transaction) => countJob(transaction, job));
  metrics.counted(counted);
  return encodeVerifiers(verifiers);
}

/** A job whose new halves are prepared. */
interface Job {
  readonly task: TwoServerTask;
  readonly row: WindowRow;
  readonly windowSecret: Secret<Uint8Array>;
  readonly entries: readonly JobEntry[];
  readonly prepared: readonly PreparedReport[];
}

/** Counts those reports of a job that are new, stores the answers about them, and returns the answers about all. */
async function countJob(
  transaction: Queryable,
  { task, row, windowSecret, entries, prepared }: Job,
): Promise<{ readonly verifiers: Uint8Array[]; readonly counted: number }> {
  const { state, name, number } = await lockWindow(transaction, row.id);
  if (state !== "collecting") throw windowClosed(name, number);
  // Another job may have been quicker.
  const stored = await findHelperReports(transaction, row.id, devicesOf(entries));
  const tally = await lockTally(transaction, row.id, FIRST_SHARD);
  if (!tally) throw windowClosed(name, number);
  const before = openTally(windowSecret, tally.sealed, "share");
  const knownBy = new Map([...stored.values()].map((report) => [hexOf(report.device), report]));
  const groupBytes = new Map(entries.map(({ device, groupByte }) => [hexOf(device), groupByte]));
  const aggregators = resumeAggregators("helper", task, before, prepared, (device) => {
    const known = knownBy.get(hexOf(device));
    const groupByte = groupBytes.get(hexOf(device)) as Uint8Array;
    const isKnown = (report: Uint8Array, half: Uint8Array): boolean =>
      known !== undefined && isSame(known.digest, digestOf({ device, groupByte, report, half }));
    return known && { verifier: known.verifier, isSame: isKnown };
  });
  const verifiers: Uint8Array[] = [];
  const added: HelperReport[] = [];
  for (const [i, entry] of entries.entries()) {
    const {
      device,
      groupByte: [group = 0],
      report,
      half,
      leaderVerifier,
    } = entry;
    const verifier = await aggregators.prepare(group, device, report, half);
    verifiers.push(verifier);
    const leaderDigest = createHash("sha256").update(leaderVerifier).digest();
    const known = stored.get(i);
    if (known) requireSameVerifier(known, leaderDigest);
    else {
      aggregators.conclude(group, device, leaderVerifier);
      added.push({ device, digest: digestOf(entry), leaderDigest, verifier });
    }
  }
  await addHelperReports(transaction, row.id, added);
  const sealed = sealTally(windowSecret, aggregators.unfinished());
  await saveTally(transaction, row.id, FIRST_SHARD, { counted: tally.counted + added.length, sealed });
  return { verifiers, counted: added.length };
}

const isSame = (a: Uint8Array, b: Uint8Array): boolean => Buffer.compare(a, b) === 0;
const hexOf = (device: Uint8Array): string => Buffer.from(device).toString("hex");
const devicesOf = (entries: readonly JobEntry[]): Uint8Array[] => entries.map(({ device }) => device);

/** A report was counted by what the leader found then: a leader that finds something else about it is refused. */
function requireSameVerifier({ leaderDigest }: HelperReport, found: Uint8Array): void {
  if (isSame(leaderDigest, found)) return;
  throw new LetheError("report-differs", "the helper has counted this report with another verifier of the leader");
}

/** The helper's verify key for a window, to which the leader's must be equal. */
function requireSameVerifyKey(
  { otherServer }: HelperParts,
  name: string,
  window: number,
  commitment: Uint8Array,
): Uint8Array {
  const own = verifyKeyOf(otherServer.secret, name, window);
  if (isSame(commitToVerifyKey(own), commitment)) return own;
  throw new LetheError("verify-key-differs", `the servers have different verify keys for window ${window} of ${name}`);
}

/** The reports of a job: not too many, and one per device. */
function entriesIn(task: TwoServerTask, rest: Uint8Array): JobEntry[] {
  const entries = decodeJobEntries(rest, jobSizesOf(task));
  const groups = groupsIn(task.manifest).length;
  if (entries.some(({ groupByte: [group = 0] }) => group >= groups)) {
    throw new LetheError("bad-encoding", "a job has a report of a group that the task does not have");
  }
  if (entries.length > MOST_AT_ONCE) throw new LetheError("bad-encoding", "a job has too many reports");
  if (new Set(devicesOf(entries).map(hexOf)).size !== entries.length) {
    throw new LetheError("report-differs", "a job has two reports of one device");
  }
  return entries;
}
