import { existsSync, realpathSync } from "node:fs";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { failure } from "../system/failure.ts";

export interface KeyFileOptions {
  readonly data: string;
  readonly keyFile?: string;
}

/** Where a service has its secrets; with an embedded database, not where its data is. */
export function keyFileOf({ data, keyFile }: KeyFileOptions, databaseUrl: string | undefined): string {
  const folder = resolve(data);
  const file = resolve(keyFile ?? `${folder}.keys`);
  if (databaseUrl === undefined && isInside(folder, file)) {
    throw failure(`the key file ${file} lies inside the data folder, whose backups must hold no secret: move it out`);
  }
  return file;
}

/** Before a database is made for keys that could not be stored. Making the data folder makes the folders above it. */
export function requireKeyFolder(file: string, data: string): void {
  const folder = dirname(file);
  if (existsSync(folder) || isInside(folder, data)) return;
  throw failure(`the key file ${file} cannot be made: there is no such folder`);
}

function isInside(folder: string, file: string): boolean {
  const way = relative(realPath(folder), realPath(file));
  return !(way === ".." || way.startsWith(`..${sep}`) || isAbsolute(way));
}

/** Of what may not be there yet: as far as it is. */
function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(realPath(parent), basename(path));
  }
}
