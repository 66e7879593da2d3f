import { sign } from "node:crypto";
import { timesOf } from "@lethe/core/message";
import { randomnessFrom } from "@lethe/core/randomness";
import { encodeSignedShare, encodeWindowShare, type ServerRole, serverNoiseIn } from "@lethe/core/two-server";
import type { Queryable } from "../storage/database.ts";
import { addDocument, addRelease } from "../storage/releases.ts";
import { lockTally } from "../storage/tallies.ts";
import type { TaskVersion } from "../storage/tasks.ts";
import { refusalsOf, type WindowRow } from "../storage/windows.ts";
import type { KeyFile } from "../tally/key-file.ts";
import { openTally } from "../tally/sealed-tally.ts";
import { aggregateIn } from "../tally/share-tally.ts";
import { secretOf } from "../tally/windows.ts";
import { withhold } from "./release.ts";

/** A window in which this server has counted everything that the other has. */
export interface CountedWindow {
  readonly task: TaskVersion;
  readonly window: WindowRow;
  readonly role: ServerRole;
  /** A hash of which reports they were. */
  readonly reports: Uint8Array;
  readonly at: number;
}

const random = randomnessFrom(globalThis.crypto);

/** Makes this server's share of a window, with its noise, once; or says that too few reported. The window is locked. */
export async function shareWindow(
  transaction: Queryable,
  keyFile: KeyFile,
  { task, window, role, reports, at }: CountedWindow,
): Promise<"released" | "not-enough"> {
  const { name, number, received } = window;
  const refused = await refusalsOf(transaction, window.id);
  const withheld = withhold({ task, window, refused, at });
  if (withheld) await addRelease(transaction, withheld);
  else {
    const { manifest, hash } = task;
    const { version } = manifest;
    const { from, to } = timesOf(manifest, number);
    const { share, invalid } = await noisedShare(transaction, keyFile, task, window);
    const document = encodeWindowShare({
      role,
      task: name,
      version,
      window: number,
      from,
      to,
      at,
      manifestHash: hash,
      ...(role === "leader" && { enrolled: window.enrolled, invalid }),
      received,
      reports,
      share,
    });
    const signature = new Uint8Array(sign(null, Buffer.from(document), keyFile.signingKey));
    await addDocument(transaction, name, number, encodeSignedShare({ status: "shared", document, signature }));
  }
  const state = withheld ? "not-enough" : "released";
  await transaction.query("UPDATE windows SET state = $2 WHERE id = $1", [window.id, state]);
  return state;
}

/** This server's noise is added here and nowhere else: what is made of it is told for ever. */
async function noisedShare(
  transaction: Queryable,
  keyFile: KeyFile,
  { shared = [] }: TaskVersion,
  window: WindowRow,
): Promise<{ share: Uint8Array; invalid: number }> {
  const stored = await lockTally(transaction, window.id);
  const windowSecret = await secretOf(transaction, keyFile, window);
  if (!stored || !windowSecret) throw new TypeError("a window that is open has a tally and a secret");
  const tally = openTally(windowSecret, stored.sealed);
  const statistics = shared.map(({ statistic }) => statistic);
  const aggregate = aggregateIn(tally, statistics);
  aggregate.addNoise(serverNoiseIn(statistics), random);
  return { share: aggregate.encode(), invalid: tally.invalid };
}
