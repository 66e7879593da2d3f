import { sign } from "node:crypto";
import { type GroupCounts, timesOf } from "@lethe/core/message";
import { encodeSignedShare, encodeWindowShare, type ServerRole } from "@lethe/core/two-server";
import type { Queryable } from "../storage/database.ts";
import { addDocument, addRelease } from "../storage/releases.ts";
import { readTallies } from "../storage/tallies.ts";
import type { TwoServerTask } from "../storage/tasks.ts";
import { endWindow, refusalsOf, type WindowRow } from "../storage/windows.ts";
import type { KeyFile } from "../tally/key-file.ts";
import { closedShare } from "../tally/resume-aggregator.ts";
import { mergeTallies, openTally, type ShareTally } from "../tally/sealed-tally.ts";
import { secretOf } from "../tally/window-keys.ts";
import { countGroups, type Published, withhold } from "./release.ts";

/** A window in which this server has counted exactly the reports that the other server has. */
export interface CountedWindow {
  readonly task: TwoServerTask;
  readonly window: WindowRow;
  readonly role: ServerRole;
  /** A hash over these reports. */
  readonly reports: Uint8Array;
  readonly at: number;
}

/**
 * Publishes this server's share of a window, with its noise, once; or that too few devices reported. The caller has
 * locked the window.
 */
export async function publishShare(
  transaction: Queryable,
  keyFile: KeyFile,
  counted: CountedWindow,
): Promise<Published> {
  const { task, window, at } = counted;
  const refused = await refusalsOf(transaction, window.id);
  const tally = await openCounted(transaction, keyFile, window);
  const groups = await countGroups(transaction, task, window, tally);
  const withheld = withhold({ task, window, groups, refused, at });
  if (withheld) await addRelease(transaction, withheld);
  else {
    const document = documentOf(counted, tally, groups);
    const signature = new Uint8Array(sign(null, Buffer.from(document), keyFile.signingKey));
    const signed = encodeSignedShare({ status: "shared", document, signature });
    await addDocument(transaction, window.name, window.number, signed);
  }
  const outcome = withheld ? "not-enough" : "released";
  await endWindow(transaction, window, outcome);
  return outcome;
}

async function openCounted(transaction: Queryable, keyFile: KeyFile, window: WindowRow): Promise<ShareTally> {
  const shards = await readTallies(transaction, window.id);
  const windowSecret = await secretOf(transaction, keyFile, window);
  if (shards.length === 0 || !windowSecret) throw new TypeError("a window that is open has a tally and a secret");
  return mergeTallies(
    "share",
    shards.map(({ sealed }) => openTally(windowSecret, sealed, "share")),
  );
}

/**
 * The document to sign. The aggregators add this server's noise here and nowhere else, in the transaction that
 * publishes the result. Nothing of a group that is not released is in it: the other server's half would open that.
 */
function documentOf(
  { task, window, role, reports, at }: CountedWindow,
  tally: ShareTally,
  groups: readonly GroupCounts[] | undefined,
): string {
  const { name, number, received, enrolled } = window;
  const { from, to } = timesOf(task.manifest, number);
  const released = tally.shares.filter((_, i) => !groups || (groups[i]?.received ?? 0) >= task.manifest.minimumDevices);
  const isLeader = role === "leader";
  return encodeWindowShare({
    role,
    task: name,
    version: task.manifest.version,
    window: number,
    from,
    to,
    at,
    manifestHash: task.hash,
    ...(isLeader && { enrolled, invalid: tally.invalid }),
    received,
    reports,
    ...(groups && {
      groups: groups.map((group, i) => ({
        group: task.manifest.groups?.[i] as string,
        ...(isLeader && { enrolled: group.enrolled }),
        received: group.received,
      })),
    }),
    share: Buffer.concat(released.map((share) => closedShare(role, task, share))),
  });
}
