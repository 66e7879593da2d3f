import type { Secret } from "@lethe/core/encryption";
import { LetheError } from "@lethe/core/error";
import { type HelperKeys, packHelperKeys } from "../between/messages.ts";
import type { TwoServerTask } from "../storage/tasks.ts";
import { noteHelperCommitment, type WindowRow } from "../storage/windows.ts";
import type { CountingParts } from "../tally/batches.ts";
import type { IssuedKeys } from "../tally/opening.ts";
import { windowKeysOf } from "../tally/window-keys.ts";
import type { Helper } from "./client.ts";

/** Keys for devices to come: the leader's, and after them the helper's with its signature. Devices get both. */
export async function issueKeysOfBoth(
  { database, threads, keyFile }: Pick<CountingParts, "database" | "threads" | "keyFile">,
  helper: Helper,
  task: TwoServerTask,
  window: WindowRow,
  windowSecret: Secret<Uint8Array>,
  count: number,
): Promise<IssuedKeys[]> {
  const keys = windowKeysOf(task, window, windowSecret);
  const issued = await threads.run("issueShares", keys, "leader", count, keyFile.signingKey);
  const devices = issued.map(({ device }) => device);
  const { helperCommitment, keys: theirs } = await helper.issueKeys(task, window, devices);
  const noted = window.helperCommitment ?? (await noteHelperCommitment(database, window.id, helperCommitment));
  if (!noted || Buffer.compare(noted, helperCommitment) !== 0) {
    throw new LetheError(
      "reports-differ",
      `the helper has replaced its secret for window ${window.number} of ${window.name}: the window is lost`,
    );
  }
  return issued.map(({ device, publicKeys, signature }, i) => {
    return { device, publicKeys: packHelperKeys(publicKeys, theirs[i] as HelperKeys), signature };
  });
}
