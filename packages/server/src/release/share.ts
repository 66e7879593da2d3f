import { sign } from "node:crypto";
import { timesOf } from "@lethe/core/message";
import { encodeSignedShare, encodeWindowShare, type ServerRole } from "@lethe/core/two-server";
import type { Queryable } from "../storage/database.ts";
import { addDocument, addRelease } from "../storage/releases.ts";
import { lockTally } from "../storage/tallies.ts";
import type { TwoServerTask } from "../storage/tasks.ts";
import { endWindow, refusalsOf, type WindowRow } from "../storage/windows.ts";
import type { KeyFile } from "../tally/key-file.ts";
import { resumeAggregator } from "../tally/resume-aggregator.ts";
import { openTally } from "../tally/sealed-tally.ts";
import { secretOf } from "../tally/window-keys.ts";
import { type Published, withhold } from "./release.ts";

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
  const withheld = withhold({ task, window, refused, at });
  if (withheld) await addRelease(transaction, withheld);
  else {
    const document = await documentOf(transaction, keyFile, counted);
    const signature = new Uint8Array(sign(null, Buffer.from(document), keyFile.signingKey));
    const signed = encodeSignedShare({ status: "shared", document, signature });
    await addDocument(transaction, window.name, window.number, signed);
  }
  const outcome = withheld ? "not-enough" : "released";
  await endWindow(transaction, window.id, outcome);
  return outcome;
}

/**
 * The document to sign. The aggregator adds this server's noise here and nowhere else, in the transaction that
 * publishes the result.
 */
async function documentOf(
  transaction: Queryable,
  keyFile: KeyFile,
  { task, window, role, reports, at }: CountedWindow,
): Promise<string> {
  const stored = await lockTally(transaction, window.id);
  const windowSecret = await secretOf(transaction, keyFile, window);
  if (!stored || !windowSecret) throw new TypeError("a window that is open has a tally and a secret");
  const tally = openTally(windowSecret, stored.sealed, "share");
  const { name, number, received, enrolled } = window;
  const { from, to } = timesOf(task.manifest, number);
  return encodeWindowShare({
    role,
    task: name,
    version: task.manifest.version,
    window: number,
    from,
    to,
    at,
    manifestHash: task.hash,
    ...(role === "leader" && { enrolled, invalid: tally.invalid }),
    received,
    reports,
    share: resumeAggregator(role, task, tally).close(),
  });
}
