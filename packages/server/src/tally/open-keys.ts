import { createPublicKey, type KeyObject, verify } from "node:crypto";
import { LetheError } from "@lethe/core/error";
import { decodeOperatorKey, type SignedManifest } from "@lethe/core/message";
import { giveUpWindow } from "../release/finish.ts";
import type { Database } from "../storage/database.ts";
import { lockKeyFile } from "../storage/locks.ts";
import { claimForOperator, findOperator } from "../storage/operator.ts";
import type { TaskRegistry } from "../storage/tasks.ts";
import { findWindow, isUnreleased, unfinishedWindows } from "../storage/windows.ts";
import { type KeyFile, openKeyFile } from "./key-file.ts";
import { findSecret, secretOf } from "./windows.ts";

/** The key file, which must belong to the database. */
export function openKeys(database: Database, path: string, shared: boolean): Promise<KeyFile> {
  return database.transaction(async (transaction) => {
    await lockKeyFile(transaction);
    const isFirst = (await findOperator(transaction)) === undefined;
    const opened = openKeyFile(path, { shared, create: isFirst });
    try {
      if ((await claimForOperator(transaction, opened.operatorKey)) !== opened.operatorKey) {
        throw new LetheError(
          "bad-key-file",
          `the key file ${path} is not the one that this database was used with: restore that, or use another database`,
        );
      }
      // A copy that was restored may hold secrets of windows that are released.
      for (const { task, window } of opened.windows()) {
        const row = await findWindow(transaction, task, window);
        if (row && !isUnreleased(row)) opened.destroyWindow(task, window);
      }
      return opened;
    } catch (error) {
      opened.close();
      throw error;
    }
  });
}

/** Windows that cannot be opened are given up, if that is wanted; else they keep the service from starting. */
export async function requireSecrets(
  { database, tasks, now }: { readonly database: Database; readonly tasks: TaskRegistry; readonly now: () => number },
  keyFile: KeyFile,
  abandonLostWindows: boolean,
): Promise<void> {
  for (const window of await unfinishedWindows(database)) {
    if (!isUnreleased(window)) continue;
    const task = tasks.byId(window.taskId);
    if (task && abandonLostWindows && !findSecret(keyFile, window)) {
      await giveUpWindow(database, task, window, Math.floor(now()));
    } else await secretOf(database, keyFile, window);
  }
}

/** What is in the database may come from whoever can write to it. */
export function requireSignedBy(operatorKey: string): (task: SignedManifest) => void {
  return (signed) => {
    if (isSignedBy(operatorKey, signed)) return;
    throw new LetheError("bad-signature", "the database holds a task that this operator has not signed");
  };
}

export function isSignedBy(operatorKey: string, { manifest, signature }: SignedManifest): boolean {
  return verify(null, Buffer.from(manifest), publicKeyOf(operatorKey), signature);
}

/** The key that an operator key stands for. */
function publicKeyOf(operatorKey: string): KeyObject {
  const x = Buffer.from(decodeOperatorKey(operatorKey)).toString("base64url");
  return createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" });
}
