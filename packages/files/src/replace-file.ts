import { closeSync, fsyncSync, linkSync, openSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

/** How `replaceFile` replaces a file. */
export interface ReplaceOptions {
  /** Whether the folder is synced as well. If not, a power failure may bring the old content back. */
  readonly durable: boolean;
  /**
   * Called when the new content is on disk, under the name `unfinished`, and the old content still has its own name. If
   * this throws, the old content stays.
   */
  readonly confirm?: (unfinished: string) => void;
}

/**
 * Replaces a file, or creates it; only this user may read it. All or nothing: a reader finds the old content or the new
 * one. A process that is killed at any moment leaves one of the two, and possibly `path.new`, which the next call and
 * `removeUnfinished` remove. One process at a time may call this for a path.
 *
 * The same holds after a power failure. For that the new file must be on disk before it gets its name: file systems are
 * free to write the rename first (ext4 avoids that by default, others need not), and an empty file would replace a good
 * one. So the file is always synced; `durable` syncs the folder, too.
 */
export function replaceFile(path: string, content: string | Uint8Array, { durable, confirm }: ReplaceOptions): void {
  const unfinished = unfinishedOf(path);
  try {
    writeNew(unfinished, content);
    confirm?.(unfinished);
    renameSync(unfinished, path);
  } catch (error) {
    removeIfPossible(unfinished);
    throw error;
  }
  if (durable) syncFolder(dirname(path));
}

/**
 * Creates a file with all of its content, synced, or leaves none; only this user may read it. Throws `EEXIST` if there
 * is one already, and leaves it as it is.
 */
export function createFile(path: string, content: string | Uint8Array): void {
  const unfinished = unfinishedOf(path);
  try {
    writeNew(unfinished, content);
    // Unlike a rename, a link never replaces a file.
    linkSync(unfinished, path);
  } finally {
    removeIfPossible(unfinished);
  }
  syncFolder(dirname(path));
}

/** Removes what a process that was killed in `replaceFile` or `createFile` left beside a file. */
export function removeUnfinished(path: string): void {
  rmSync(unfinishedOf(path), { force: true });
}

/** Waits until the disk has the names in a folder. Windows cannot sync a folder; NTFS keeps a journal of names. */
export function syncFolder(path: string): void {
  if (process.platform === "win32") return;
  const folder = openSync(path, "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

/** The same name every time, so that the next call finds and removes what a killed process left. */
const unfinishedOf = (path: string): string => `${path}.new`;

function writeNew(path: string, content: string | Uint8Array): void {
  rmSync(path, { force: true });
  const file = openSync(path, "wx", 0o600);
  try {
    // `writeSync` may write a part and return how much; this writes everything or throws.
    writeFileSync(file, content);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** Half a file must not fill up a full disk. If it stays, the next call removes it. */
function removeIfPossible(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // The caller gets the error that came first.
  }
}
