import { LetheError } from "@lethe/core/error";
import { parseManifest, parseSignedManifest } from "@lethe/core/message";
import { findAgreement } from "../storage/agreements.ts";
import { lockKeyFile } from "../storage/locks.ts";
import { addTask, findManifest, removeUnusedTask } from "../storage/tasks.ts";
import { nextUnusedWindow } from "../storage/windows.ts";
import { isSignedBy } from "../tally/open-keys.ts";
import { requireAgreed } from "./agreed-task.ts";
import type { HelperParts } from "./helper.ts";

/**
 * Takes a task that this operator has agreed to, as the leader signed it. It replaces a manifest of the same version
 * that was never used.
 */
export async function takeTask(
  { database, tasks, keyFile, otherServer, isDevelopment }: HelperParts,
  name: string,
  version: number,
  payload: Uint8Array,
): Promise<Uint8Array> {
  const signed = parseSignedManifest(Buffer.from(payload).toString("utf8"));
  if (!isSignedBy(otherServer.operatorKey, signed)) {
    throw new LetheError(
      "bad-signature",
      `the task is not signed by ${otherServer.operatorKey}, which the helper's --peer-key says is the leader's: compare it with what ` +
        "lethe key prints at the leader",
    );
  }
  const { fromWindow, servers, ...task } = parseManifest(signed.manifest);
  const refuse = (what: string): never => {
    throw new LetheError("task-differs", what);
  };
  if (task.task !== name || task.version !== version) refuse("the manifest is of another task");
  const [leader, helper] = servers;
  if (helper?.key !== keyFile.operatorKey) {
    refuse(
      `the leader's --peer-key, ${helper?.key}, is not this helper's operator key: compare it with what lethe key prints ` +
        "at the helper",
    );
  }
  if (leader?.key !== otherServer.operatorKey) refuse("the manifest names another leader's operator key");
  await database.transaction(async (transaction) => {
    await lockKeyFile(transaction);
    const agreement = await findAgreement(transaction, name, version);
    if (agreement === undefined) {
      return refuse(
        `the helper has not agreed to version ${version} of ${name}: its operator says so with npx lethe task agree`,
      );
    }
    requireAgreed(agreement, task, isDevelopment);
    await removeUnusedTask(transaction, name, version, signed.manifest);
    const isAdded = await addTask(transaction, { name, version, fromWindow, ...signed });
    if (isAdded) {
      // Windows for which devices have keys stay under the version that they began with.
      if ((await nextUnusedWindow(transaction, name)) <= fromWindow) return;
      refuse(`the helper has later windows of ${name} than version ${version} begins with: was the leader restored?`);
    }
    if ((await findManifest(transaction, name, version)) !== signed.manifest) {
      refuse(`version ${version} of ${name} has another manifest at the helper: was one of the servers restored?`);
    }
  });
  await tasks.refresh();
  return new Uint8Array();
}
