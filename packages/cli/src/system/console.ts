import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * The files of the console as a service delivers them, by their paths, such as `/index.html`. All are read at once: no
 * request decides what is read from the disk.
 */
export function readConsole(): ReadonlyMap<string, Uint8Array> {
  const folder = dirname(fileURLToPath(import.meta.resolve("@lethe/console/index.html")));
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return new Map(
    files.map(({ parentPath, name }) => {
      const path = join(parentPath, name);
      return [path.slice(folder.length).replaceAll("\\", "/"), readFileSync(path)];
    }),
  );
}
