import { statSync } from "node:fs";

/** The system's error codes for a file that cannot be created, read or written, in words for an operator. */
const REASONS: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EDQUOT: "the disk quota is used up",
  EFBIG: "a file would exceed the size that this process may write",
  EIO: "the disk failed",
  EISDIR: "a folder is in the way",
  EMFILE: "too many files are open",
  ENOENT: "there is no such folder",
  ENOSPC: "no space is left on the disk",
  ENOTDIR: "a file is in the way",
  EPERM: "permission denied",
  EROFS: "the file system is read-only",
};

/** Why the system refused, in a few words that end with its code; undefined if the error is not one of the system. */
export function whySystemRefused(error: unknown): string | undefined {
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (code === undefined || syscall === undefined) return undefined;
  const reason = REASONS[code];
  return reason === undefined ? code : `${reason} (${code})`;
}

/**
 * Whether a file or a folder is there. Unlike `existsSync` it does not take a disk that fails for a file that is missing:
 * then it throws the system's error.
 */
export function isThere(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}
