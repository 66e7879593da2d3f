import { LetheError } from "@lethe/core/error";
import { windowAt } from "@lethe/core/message";
import { parseSignedShare, parseWindowShare } from "@lethe/core/two-server";
import { decodeFinish } from "../between/messages.ts";
import { MOST_SECONDS_APART } from "../clock/anchor.ts";
import { giveUpWindow } from "../release/give-up.ts";
import type { Published } from "../release/release.ts";
import { publishShare } from "../release/share.ts";
import { hashOfHelperReports } from "../storage/helper-reports.ts";
import { findRelease } from "../storage/releases.ts";
import { lockWindow } from "../storage/windows.ts";
import { makeWindow } from "../tally/window-keys.ts";
import { findAgreedWindow, versionOf } from "./agreed-window.ts";
import type { HelperParts } from "./helper.ts";

/**
 * Publishes the helper's share, if both servers have counted the same reports; otherwise the window is lost at both.
 */
export async function finishWindow(
  parts: HelperParts,
  name: string,
  window: number,
  payload: Uint8Array,
): Promise<Uint8Array> {
  const { database, keyFile, log, metrics, now } = parts;
  const { manifestHash, helperCommitment, ...told } = decodeFinish(payload);
  const task = await versionOf(parts, name, window, manifestHash);
  const found = await findAgreedWindow(parts, task, window, helperCommitment);
  if (!found && window > windowAt(task.manifest, now() + MOST_SECONDS_APART) + 1) {
    throw new LetheError("clocks-apart", `window ${window} of ${name} is in the future by the helper's clock`);
  }
  const row = found ?? (await makeWindow(database, keyFile, task, window, () => 0));
  if (!row)
    throw new LetheError("task-differs", `window ${window} of ${name} runs under another version at the helper`);
  let outcome: Published | undefined;
  const agrees = await database.transaction(async (transaction) => {
    const locked = await lockWindow(transaction, row.id);
    if (locked.received !== told.received || locked.state === "lost") return false;
    const published = locked.state === "collecting" ? undefined : await findRelease(transaction, name, window);
    const reports = published ? reportsIn(published) : await hashOfHelperReports(transaction, row.id);
    if (reports && Buffer.compare(reports, told.reports) !== 0) return false;
    if (published === undefined && reports) {
      const at = Math.floor(now());
      outcome = await publishShare(transaction, keyFile, { task, window: locked, role: "helper", reports, at });
    }
    return true;
  });
  if (!agrees) {
    await giveUpWindow(database, task, row, Math.floor(now()));
    const detail = `leader and helper have counted different reports in window ${window} of ${name}: it is lost. Was one of them restored from a backup?`;
    log.error({ task: name, window, code: "reports-differ", outcome: "lost" }, detail);
    throw new LetheError("reports-differ", detail);
  }
  if (outcome) {
    metrics.finished(outcome);
    log.info({ task: name, window, outcome }, "window finished");
  }
  await database.persist();
  return new Uint8Array();
}

/** The hash in a published share; undefined if none was published, because too few devices reported. */
function reportsIn(document: string): Uint8Array | undefined {
  const { status } = JSON.parse(document) as { status: string };
  return status === "shared" ? parseWindowShare(parseSignedShare(document).document).reports : undefined;
}
