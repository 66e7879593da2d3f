import { LetheError } from "@lethe/core/error";
import { windowAt } from "@lethe/core/message";
import { decodeKeysRequest, encodeKeys } from "../between/messages.ts";
import { MOST_SECONDS_APART } from "../clock/anchor.ts";
import { makeWindow, secretOf, windowKeysOf } from "../tally/window-keys.ts";
import { findAgreedWindow, MOST_AT_ONCE, unlessOver, versionOf, windowClosed } from "./agreed-window.ts";
import type { HelperParts } from "./helper.ts";

/** The helper's signed keys for devices. The first request for a window makes the window. */
export async function issueKeys(
  parts: HelperParts,
  name: string,
  window: number,
  payload: Uint8Array,
): Promise<Uint8Array> {
  const { database, keyFile, threads, now } = parts;
  const { manifestHash, helperCommitment, devices } = decodeKeysRequest(payload);
  if (devices.length > MOST_AT_ONCE)
    throw new LetheError("bad-encoding", "the request is for the keys of too many devices");
  const task = await versionOf(parts, name, window, manifestHash);
  const found = await findAgreedWindow(parts, task, window, helperCommitment);
  const running = (apart: number): number => windowAt(task.manifest, now() + apart);
  // The leader's clock may be a little behind or ahead, and its running window another.
  if (!found && (window < running(-MOST_SECONDS_APART) || window > running(MOST_SECONDS_APART) + 1)) {
    throw new LetheError(
      "clocks-apart",
      `window ${window} of ${name} is neither the running one, ${running(0)}, nor the next by the helper's clock`,
    );
  }
  const row = found ?? (await makeWindow(database, keyFile, task, window, () => 0));
  const windowSecret = row?.state === "collecting" ? await secretOf(database, keyFile, row) : undefined;
  if (!row || !windowSecret) throw windowClosed(name, window);
  const keys = windowKeysOf(task, row, windowSecret);
  const issued = threads.run("issueShares", keys, "helper", devices, keyFile.signingKey);
  return encodeKeys({ helperCommitment: row.commitment, keys: await unlessOver(database, row, issued) });
}
