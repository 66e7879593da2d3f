import { closeSync, fstatSync, fsyncSync, openSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { type Secret, secret, WINDOW_SECRET_BYTES } from "@lethe/core/encryption";
import { LetheError } from "@lethe/core/error";
import { decodeBase64urlOf, encodeBase64url } from "@lethe/core/message";
import { replaceFile } from "@lethe/files";
import { z } from "zod";
import { isThere, whySystemRefused } from "../storage/disk-error.ts";

const CONTENT = z.strictObject({
  version: z.literal(1),
  operator: z.string(),
  chain: z.string(),
  database: z.string().optional(),
  windows: z.record(z.string(), z.string()),
});

/** What a key file holds. Windows are named by task and number. */
export interface Content {
  readonly operator: Secret<Uint8Array>;
  readonly chain: Secret<Uint8Array>;
  readonly database: string | undefined;
  readonly windows: ReadonlyMap<string, Secret<Uint8Array>>;
}

/** A text that changes when the file is replaced, as far as the file system's clock shows. */
export function versionOf(path: string): string {
  try {
    const { ino, mtimeNs, size } = statSync(path, { bigint: true });
    return `${ino} ${mtimeNs} ${size}`;
  } catch (error) {
    throw unreadable(path, error);
  }
}

/** The error for a file that should be there. */
export function missing(path: string): LetheError {
  return new LetheError(
    "bad-key-file",
    `the key file ${path} is missing: restore it, without it open windows are lost`,
  );
}

/** Whether there is a key file; throws `bad-key-file` if the system cannot say. */
export function isKeyFileThere(path: string): boolean {
  try {
    return isThere(path);
  } catch (error) {
    throw unreadable(path, error);
  }
}

/** Reads a key file; throws `bad-key-file` if others may read it, if it is damaged, or if the disk fails. */
export function load(path: string): Content {
  const text = textOf(path);
  try {
    const { operator, chain, database, windows } = CONTENT.parse(JSON.parse(text));
    const read = (text: string): Secret<Uint8Array> => secret(decodeBase64urlOf("a secret", WINDOW_SECRET_BYTES, text));
    return {
      operator: read(operator),
      chain: read(chain),
      database,
      windows: new Map(Object.entries(windows).map(([name, text]) => [name, read(text)])),
    };
  } catch {
    // The cause would quote what is in the file.
    throw new LetheError(
      "bad-key-file",
      `the key file ${path} cannot be read: it is damaged or of another version; restore it, without it open windows are lost`,
    );
  }
}

function textOf(path: string): string {
  try {
    if ((statSync(path).mode & 0o077) !== 0) {
      throw new LetheError("bad-key-file", `others may read the key file ${path}: chmod 600 ${path}`);
    }
    return readWhole(path);
  } catch (error) {
    throw error instanceof LetheError ? error : unreadable(path, error);
  }
}

/** A file on a disk that fails may be whole: nobody should restore an older one over it. */
function unreadable(path: string, error: unknown): LetheError {
  if ((error as NodeJS.ErrnoException).code === "ENOENT") return missing(path);
  const reason = whySystemRefused(error) ?? "the system does not say why";
  return new LetheError("bad-key-file", `the key file ${path} cannot be read: ${reason}`);
}

/**
 * Reads the file. A process that replaces it overwrites the old one, so the text counts only if the file still has this
 * name afterwards.
 */
function readWhole(path: string): string {
  for (;;) {
    const file = openSync(path, "r");
    try {
      const text = readFileSync(file, "utf8");
      if (statSync(path, { bigint: true }).ino === fstatSync(file, { bigint: true }).ino) return text;
    } finally {
      closeSync(file);
    }
  }
}

/**
 * Writes a key file. The new content is whole and on disk before it replaces the old, which is then overwritten as far
 * as the disk allows. Throws if the file is not the `replaced` version any more.
 */
export function save(path: string, { operator, chain, database, windows }: Content, replaced?: string): void {
  const write = (value: Secret<Uint8Array>): string => encodeBase64url(value.reveal());
  const text = JSON.stringify({
    version: 1,
    operator: write(operator),
    chain: write(chain),
    ...(database !== undefined && { database }),
    windows: Object.fromEntries([...windows].map(([name, value]) => [name, write(value)])),
  } satisfies z.infer<typeof CONTENT>);
  /** A process that stood still until another took its lock must not undo what that one did. */
  const confirm = (unfinished: string): void => {
    if (readFileSync(unfinished, "utf8") !== text)
      throw new LetheError("bad-key-file", `the disk did not keep ${path}`);
    if (replaced !== undefined && versionOf(path) !== replaced) {
      throw new LetheError("bad-key-file", `another process changed the key file ${path} at the same time`);
    }
  };
  const old = isThere(path) ? openSync(path, "r+") : undefined;
  try {
    replaceFile(path, text, { durable: true, confirm });
    if (old !== undefined) overwrite(old, " ".repeat(fstatSync(old).size));
  } finally {
    if (old !== undefined) closeSync(old);
  }
}

/** `writeSync` may write a part and return how much; this writes everything or throws. */
function overwrite(file: number, text: string): void {
  writeFileSync(file, text);
  fsyncSync(file);
}
