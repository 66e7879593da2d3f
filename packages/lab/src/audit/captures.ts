import { lstatSync, readdirSync, readFileSync, type Stats } from "node:fs";
import { join } from "node:path";

/** What was captured of one device: versions of its storage, in order. */
export interface Capture {
  readonly versions: readonly Uint8Array[];
  /** When each was last changed, by the file system, in whole seconds: finer times come from copying. */
  readonly times: readonly number[];
}

const MEGABYTE = 2 ** 20;
/** All versions of a device together, which are in memory at the same time. */
const MOST_BYTES = 256 * MEGABYTE;
const MOST_FILES = 10_000;
const MOST_DEVICES = 2000;

/**
 * Every entry of a folder is one device: a file, or a folder with a file for each version, in the order of their paths.
 * Entries whose name begins with a dot, such as `.DS_Store`, are not devices.
 */
export function deviceEntries(folder: string): string[] {
  const stats = attempt(folder, () => lstatSync(folder));
  // The folder itself may be a link: the operator who names it knows where it leads.
  if (!stats.isDirectory() && !stats.isSymbolicLink()) throw new RangeError(`${folder} is not a folder`);
  const names = namesIn(folder).filter((name) => !name.startsWith("."));
  if (names.length > MOST_DEVICES) {
    throw new RangeError(`${folder} has ${names.length} devices, and ${MOST_DEVICES} are as many as can be compared`);
  }
  return names.map((name) => join(folder, name));
}

/** Reads one device. Throws a `RangeError` if it is empty, too large, or has anything but files and folders. */
export function readCapture(path: string): Capture {
  const files = filesIn(path);
  if (files.length === 0) throw new RangeError(`${path} is empty: a device has one version at least`);
  const bytes = files.reduce((sum, { stats }) => sum + stats.size, 0);
  if (files.length > MOST_FILES || bytes > MOST_BYTES) {
    throw new RangeError(
      `${path} has ${files.length} files of ${Math.ceil(bytes / MEGABYTE)} MiB together; a device has at most ${MOST_FILES} files and ${MOST_BYTES / MEGABYTE} MiB`,
    );
  }
  return {
    versions: files.map((file) => new Uint8Array(attempt(file.path, () => readFileSync(file.path)))),
    times: files.map(({ stats }) => Math.round(stats.mtimeMs / 1000)),
  };
}

interface Found {
  readonly path: string;
  readonly stats: Stats;
}

function filesIn(path: string): Found[] {
  const stats = attempt(path, () => lstatSync(path));
  if (stats.isFile()) return [{ path, stats }];
  if (stats.isDirectory()) {
    return namesIn(path).flatMap((name) => filesIn(join(path, name)));
  }
  if (stats.isSymbolicLink()) throw new RangeError(`${path} is a link: copy what it leads to`);
  throw new RangeError(`${path} is neither a file nor a folder`);
}

const UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const COLLATOR = new Intl.Collator("en", { numeric: true });

/** The names in a folder, in the order in which people number things: 1, 2, 10. */
function namesIn(folder: string): string[] {
  const names = attempt(folder, () => readdirSync(folder, { encoding: "buffer" })).map((bytes) => {
    try {
      return UTF8.decode(bytes);
    } catch {
      throw new RangeError(`${folder} has a file whose name is not UTF-8 (${bytes.toString("latin1")}): rename it`);
    }
  });
  // The collator takes 1 and 01 for equal.
  return names.toSorted((a, b) => COLLATOR.compare(a, b) || (a < b ? -1 : 1));
}

function attempt<T>(path: string, act: () => T): T {
  try {
    return act();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") throw new RangeError(`there is no ${path}`);
    if (code === "EACCES" || code === "EPERM") throw new RangeError(`${path} may not be read`);
    if (code === "ENOTDIR") throw new RangeError(`${path} is not a folder`);
    throw new RangeError(`${path} cannot be read: ${code ?? String(error)}`);
  }
}
