import { createPublicKey, type KeyObject, randomBytes, verify } from "node:crypto";
import { LetheError } from "@lethe/core/error";
import { decodeOperatorKey, encodeBase64url, type SignedManifest } from "@lethe/core/message";
import type { Database } from "../storage/database.ts";
import { lockKeyFile } from "../storage/locks.ts";
import { claimDatabaseId, claimForOperator, findOperator } from "../storage/operator.ts";
import { findWindow, isUnreleased } from "../storage/windows.ts";
import { type KeyFile, openKeyFile } from "./key-file.ts";

/** Opens the key file, which must belong to this database, or to none: then it belongs to this one from now on. */
export async function openKeys(
  database: Database,
  path: string,
  options: {
    /** Whether other processes use the key file, too: those on the same PostgreSQL database. */
    readonly severalProcesses: boolean;
    /** The database of this key file is lost, and this empty one takes its place. */
    readonly isNewDatabase: boolean;
  },
): Promise<KeyFile> {
  const { keyFile, id } = await claim(database, path, options);
  try {
    // After the commit: a key file that knows an id refuses every empty database, this one too if it were not
    // committed.
    if (keyFile.database() !== id) {
      await database.transaction(async (transaction) => {
        await lockKeyFile(transaction);
        keyFile.belongTo(id);
      });
    }
    return keyFile;
  } catch (error) {
    keyFile.close();
    throw error;
  }
}

const ID_BYTES = 16;

/** Opens the key file, and finds or makes the id of the database, in one transaction. */
function claim(
  database: Database,
  path: string,
  { severalProcesses, isNewDatabase }: { readonly severalProcesses: boolean; readonly isNewDatabase: boolean },
): Promise<{ readonly keyFile: KeyFile; readonly id: string }> {
  return database.transaction(async (transaction) => {
    await lockKeyFile(transaction);
    const isFirst = (await findOperator(transaction)) === undefined;
    if (isNewDatabase && !isFirst) {
      throw new LetheError("bad-database", "this database is in use already: start without --new-database");
    }
    const opened = openKeyFile(path, { severalProcesses, create: isFirst });
    try {
      if (isNewDatabase) for (const { task, window } of opened.windows()) opened.destroyWindow(task, window);
      else if (isFirst) requireUnused(opened, path);
      if ((await claimForOperator(transaction, opened.operatorKey)) !== opened.operatorKey) {
        throw new LetheError(
          "bad-key-file",
          `the key file ${path} is not the one that this database was used with: restore that, or use another database`,
        );
      }
      const fresh = encodeBase64url(randomBytes(ID_BYTES));
      const id = await claimDatabaseId(transaction, (isNewDatabase ? undefined : opened.database()) ?? fresh);
      if (!isNewDatabase && opened.database() !== undefined && opened.database() !== id) throw belongsElsewhere(path);
      // A copy that was restored may hold secrets of windows that are released.
      for (const { task, window } of opened.windows()) {
        const row = await findWindow(transaction, task, window);
        if (row && !isUnreleased(row)) opened.destroyWindow(task, window);
      }
      return { keyFile: opened, id };
    } catch (error) {
      opened.close();
      throw error;
    }
  });
}

/** An empty database instead of the one that a key file belongs to: a volume is not mounted, or an address is wrong. */
function requireUnused(keyFile: KeyFile, path: string): void {
  if (keyFile.database() === undefined && keyFile.windows().length === 0) return;
  throw new LetheError(
    "bad-key-file",
    `this database is empty, but the key file ${path} belongs to another: is the volume mounted, and is DATABASE_URL right? ` +
      "Restore that database; or, if it is lost, begin a new one with --new-database",
  );
}

function belongsElsewhere(path: string): LetheError {
  return new LetheError(
    "bad-key-file",
    `the key file ${path} belongs to another database than this one: use the two together that belong together; a key ` +
      "file serves one database only",
  );
}

/** A check of the tasks in the database, because somebody else may have written them. */
export function requireSignedBy(operatorKey: string): (task: SignedManifest) => void {
  return (signed) => {
    if (isSignedBy(operatorKey, signed)) return;
    throw new LetheError("bad-signature", "the database holds a task that this operator has not signed");
  };
}

/** Whether this operator has signed a manifest. */
export function isSignedBy(operatorKey: string, { manifest, signature }: SignedManifest): boolean {
  return verify(null, Buffer.from(manifest), publicKeyOf(operatorKey), signature);
}

/** The public key in an operator key. */
function publicKeyOf(operatorKey: string): KeyObject {
  const x = Buffer.from(decodeOperatorKey(operatorKey)).toString("base64url");
  return createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" });
}
