import { existsSync, realpathSync } from "node:fs";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { failure } from "../system/failure.ts";

/** The options that say where the key file is. */
export interface KeyFileOptions {
  readonly data: string;
  readonly keyFile?: string;
}

/** The path of the key file. With an embedded database, it must be outside the data folder. */
export function keyFileOf({ data, keyFile }: KeyFileOptions, databaseUrl: string | undefined): string {
  const folder = resolve(data);
  const file = resolve(keyFile ?? `${folder}.keys`);
  if (databaseUrl === undefined && isInside(folder, file)) {
    throw failure(
      `the key file ${file} lies inside the data folder, whose backups must not contain secrets: move it out`,
    );
  }
  return file;
}

/**
 * Checks that the key file can be created, before a database is. Creating the data folder creates the folders above it.
 */
export function requireKeyFolder(file: string, data: string): void {
  const folder = dirname(file);
  if (existsSync(folder) || isInside(folder, data)) return;
  throw failure(`the key file ${file} cannot be created: there is no such folder`);
}

function isInside(folder: string, file: string): boolean {
  const way = relative(realPath(folder), realPath(file));
  return !(way === ".." || way.startsWith(`..${sep}`) || isAbsolute(way));
}

/** The real path of a file that may not exist yet: the existing part is resolved. */
function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(realPath(parent), basename(path));
  }
}
