import { createPrivateKey, createPublicKey, type KeyObject, randomBytes } from "node:crypto";
import { type Secret, secret, stepWindowRatchet, WINDOW_SECRET_BYTES } from "@lethe/core/encryption";
import { LetheError } from "@lethe/core/error";
import { decodeBase64urlOf, encodeOperatorKey } from "@lethe/core/message";
import { type Lock, takeLock } from "@lethe/files";
import { whySystemRefused } from "../storage/disk-error.ts";
import { type Content, isKeyFileThere, load, missing, save, versionOf } from "./key-file-content.ts";

/**
 * All secrets of a tally, outside of the database and its backups: the operator's signing key, the ratchet, and the
 * secrets of windows that are not released yet. Processes on one PostgreSQL database share it; a process that changes
 * it holds the database's lock (`lockKeyFile` in storage/locks.ts).
 */
export interface KeyFile {
  readonly signingKey: KeyObject;
  /** The public key, as devices pin it. */
  readonly operatorKey: string;
  /** Undefined if it was never made, or is destroyed. */
  windowSecret(task: string, window: number): Secret<Uint8Array> | undefined;
  /** The id of the database that it belongs to; undefined before it was used with one. */
  database(): string | undefined;
  /** Notes the id of the database that it belongs to from now on; it is on disk when this returns. */
  belongTo(database: string): void;
  /** The windows of which it holds secrets. */
  windows(): readonly { readonly task: string; readonly window: number }[];
  /** Takes over what other processes changed; secrets that they destroyed are wiped here, too. */
  refresh(): void;
  /** The secret of a window, made by one step of the ratchet if there is none; it is on disk when this returns. */
  openWindow(task: string, window: number): Secret<Uint8Array>;
  /** Afterwards nothing that was encrypted for this window can be opened. */
  destroyWindow(task: string, window: number): void;
  /** Lets another process use the file. */
  close(): void;
}

const fresh = (): Uint8Array => new Uint8Array(randomBytes(WINDOW_SECRET_BYTES));
const nameOf = (task: string, window: number): string => `${task}/${window}`;

/**
 * Opens a key file for this process alone, or for `severalProcesses` that all open it this way. A missing file is
 * created unless `create` is false.
 */
export function openKeyFile(
  path: string,
  { severalProcesses = false, create = true }: { readonly severalProcesses?: boolean; readonly create?: boolean } = {},
): KeyFile {
  const lock = lockFor(path);
  try {
    if (!isKeyFileThere(path)) {
      if (!create) throw missing(path);
      const content = { operator: secret(fresh()), chain: secret(fresh()), database: undefined, windows: new Map() };
      named(path, () => save(path, content));
    }
    const keyFile = keyFileOf(path, severalProcesses ? undefined : lock);
    if (severalProcesses) lock.release();
    return keyFile;
  } catch (error) {
    lock.release();
    throw error;
  }
}

/**
 * The operator key of a key file, which is created if it is missing and `create` is true. A service may be using the
 * file.
 */
export function operatorKeyOf(path: string, { create }: { readonly create: boolean }): string {
  if (!isKeyFileThere(path)) openKeyFile(path, { create }).close();
  return publicHalf(load(path).operator).operatorKey;
}

/**
 * Whether a key file was used with a database, so that it must not be used with a new one. A service may be using the
 * file.
 */
export function belongsToDatabase(path: string): boolean {
  if (!isKeyFileThere(path)) return false;
  const { database, windows } = load(path);
  return database !== undefined || windows.size > 0;
}

function publicHalf(operator: Secret<Uint8Array>): Pick<KeyFile, "signingKey" | "operatorKey"> {
  const signingKey = ed25519(operator);
  const encoded = createPublicKey(signingKey).export({ format: "jwk" }).x as string;
  return {
    signingKey,
    operatorKey: encodeOperatorKey(decodeBase64urlOf("a public key", 32, encoded)),
  };
}

function keyFileOf(path: string, lock: Lock | undefined): KeyFile {
  let version = versionOf(path);
  let content = load(path);
  /**
   * The file may have been replaced although the disk does not have that for good: at the start, because the process
   * before may have been killed in between, and after a write that failed.
   */
  let isUnsure = true;
  /** Writes to disk first: if that fails, nothing has changed in memory either. */
  const replace = (next: Content): void => {
    isUnsure = true;
    named(path, () => save(path, next, version));
    isUnsure = false;
    version = versionOf(path);
    content = next;
  };
  const reload = (): void => {
    const before = content;
    const seen = versionOf(path);
    const loaded = load(path);
    if (Buffer.compare(loaded.operator.reveal(), before.operator.reveal()) !== 0) {
      throw new LetheError("bad-key-file", `the key file ${path} is another operator's now: restore it, or restart`);
    }
    content = keepingKnown(loaded, before);
    version = seen;
    before.chain.reveal().fill(0);
    for (const [name, known] of before.windows) if (content.windows.get(name) !== known) known.reveal().fill(0);
  };
  const refresh = (): void => {
    if (versionOf(path) !== version) reload();
  };
  /** What is there is on disk when this returns: a secret that is found must outlive a power failure as a new one does. */
  const reloadToChange = (): void => {
    reload();
    if (isUnsure) replace(content);
  };

  return {
    ...publicHalf(content.operator),
    windowSecret: (task, window) => {
      if (!content.windows.has(nameOf(task, window))) refresh();
      return content.windows.get(nameOf(task, window));
    },
    database: () => content.database,
    belongTo: (database) => {
      reloadToChange();
      if (content.database !== database) replace({ ...content, database });
    },
    windows: () =>
      [...content.windows.keys()].map((name) => {
        const [task = "", window] = name.split("/");
        return { task, window: Number(window) };
      }),
    refresh,
    openWindow: (task, window) => {
      reloadToChange();
      const known = content.windows.get(nameOf(task, window));
      if (known) return known;
      const { chain: before, windows } = content;
      const { windowSecret, chain } = stepWindowRatchet(before, fresh());
      replace({ ...content, chain, windows: new Map([...windows, [nameOf(task, window), windowSecret]]) });
      before.reveal().fill(0);
      return windowSecret;
    },
    destroyWindow: (task, window) => {
      reloadToChange();
      const known = content.windows.get(nameOf(task, window));
      if (!known) return;
      const rest = [...content.windows].filter(([name]) => name !== nameOf(task, window));
      replace({ ...content, windows: new Map(rest) });
      known.reveal().fill(0);
    },
    close: () => lock?.release(),
  };
}

/** Keeps every secret in memory once, so that wiping it leaves no copy. */
function keepingKnown(loaded: Content, { operator, windows: known }: Content): Content {
  loaded.operator.reveal().fill(0);
  const keep = ([name, read]: [string, Secret<Uint8Array>]): [string, Secret<Uint8Array>] => {
    const before = known.get(name);
    if (!before || Buffer.compare(before.reveal(), read.reveal()) !== 0) return [name, read];
    read.reveal().fill(0);
    return [name, before];
  };
  return { ...loaded, operator, windows: new Map([...loaded.windows].map(keep)) };
}

function lockFor(path: string): Lock {
  try {
    const lock = takeLock(`${path}.lock`);
    if (!("heldBy" in lock)) return lock;
    throw new LetheError("bad-key-file", `the key file ${path} is in use by ${lock.heldBy}: use another one`);
  } catch (error) {
    if (error instanceof LetheError) throw error;
    throw unwritable(path, error);
  }
}

/** If the system refuses, the error names the file and says why in one line. */
function named(path: string, write: () => void): void {
  try {
    write();
  } catch (error) {
    throw whySystemRefused(error) === undefined ? error : unwritable(path, error);
  }
}

/** The error for a file that cannot be written. The cause is not kept, because it may quote the content. */
function unwritable(path: string, error: unknown): LetheError {
  const reason = whySystemRefused(error) ?? "is there such a folder, and is it yours?";
  return new LetheError("bad-key-file", `the key file ${path} cannot be made or changed: ${reason}`);
}

/** DER of a PKCS #8 private key (RFC 8410 §7), but for the seed. */
const ED25519_PREFIX = Buffer.from("302e020100300506032b657004220420", "hex");

function ed25519(seed: Secret<Uint8Array>): KeyObject {
  const der = Buffer.concat([ED25519_PREFIX, seed.reveal()]);
  const key = createPrivateKey({ key: der, format: "der", type: "pkcs8" });
  der.fill(0);
  return key;
}
